//! `rhizo info`: words for people, stable JSON for programs, and help where there is no adapter.

use crate::{NO_DRIVER, command, has_driver, keys, names, rhizo, run};
use rhizo_testkit::drivers::{TestDriver, installed_drivers};
use serde_json::Value;

/// Every backend but the null one, in the order of the contract.
const BACKENDS: [&str; 5] = ["vulkan", "d3d12", "metal", "webgpu", "gles"];

fn list<'a>(value: &'a Value, key: &str) -> &'a Vec<Value> {
    value[key].as_array().unwrap_or_else(|| panic!("no list {key} in {value}"))
}

#[test]
fn json_has_stable_keys() {
    let folder = tempfile::tempdir().unwrap();
    let info = rhizo(folder.path(), &["info", "--json"]);
    assert_eq!((info.code, info.stderr.as_str()), (0, ""));
    let json = info.json();
    assert_eq!(keys(&json), ["backends", "version"]);
    assert_eq!(json["version"], 1);
    let backends = list(&json, "backends");
    let found: Vec<&str> = backends.iter().map(|b| b["backend"].as_str().unwrap()).collect();
    assert_eq!(found, BACKENDS);
    for backend in backends {
        if backend["available"].as_bool().unwrap() {
            assert_eq!(keys(backend), ["adapters", "available", "backend"]);
            list(backend, "adapters").iter().for_each(check_adapter);
        } else {
            assert_eq!(keys(backend), ["available", "backend", "reason"]);
            assert!(backend["reason"].as_str().unwrap().len() > 10, "{backend}");
        }
    }
}

fn check_adapter(adapter: &Value) {
    let expected =
        ["api", "capabilities", "device", "driver", "kind", "luid", "name", "queues", "unusable", "uuid", "vendor"];
    assert_eq!(keys(adapter), expected);
    assert_eq!(keys(&adapter["vendor"]), ["id", "name"]);
    list(adapter, "queues").iter().for_each(|queue| assert_eq!(keys(queue), ["count", "kind"]));
    let caps = &adapter["capabilities"];
    assert_eq!(keys(caps), ["domains", "facts", "feature_level", "limits", "native_feature_level"]);
    let domains = list(caps, "domains");
    assert_eq!(domains.len(), 14);
    domains.iter().for_each(|domain| assert_eq!(keys(domain), ["domain", "native_tier", "tier"]));
    let (facts, limits) = (list(caps, "facts"), list(caps, "limits"));
    assert!(facts.len() > 100 && limits.len() > 14, "{} facts, {} limits", facts.len(), limits.len());
    for fact in facts {
        let expected = [
            "domain",
            "fact",
            "lowered",
            "meaning",
            "native",
            "provenance",
            "qualified",
            "reason",
            "source",
            "strategy",
        ];
        assert_eq!(keys(fact), expected);
        // What cannot be done has a reason.
        let usable = fact["native"] == true && fact["lowered"] != "no";
        assert!(usable || fact["reason"].as_str().is_some_and(|r| !r.is_empty()), "{fact}");
    }
    limits.iter().for_each(|limit| assert_eq!(keys(limit), ["limit", "unit", "value"]));
}

#[test]
fn both_drivers_are_listed_in_words() {
    let test = "rhizo_tool::cli::info::both_drivers_are_listed_in_words";
    let folder = tempfile::tempdir().unwrap();
    let info = rhizo(folder.path(), &["info", "--backend", "vulkan"]);
    assert_eq!((info.code, info.stderr.as_str()), (0, ""));
    for state in installed_drivers().into_iter().filter(|state| TestDriver::SOFTWARE.contains(&state.driver)) {
        match state.manifest {
            Ok(_) => assert!(info.stdout.contains(state.driver.adapter_name_contains().unwrap()), "{}", info.stdout),
            Err(reason) => rhizo_testkit::skips::report_partial_skip(test, &state.driver.to_string(), &reason),
        }
    }
    if has_driver(test) {
        assert!(info.stdout.contains("Vulkan 1.") && info.stdout.contains("queues"), "{}", info.stdout);
    }
}

#[test]
fn filters_leave_the_rest_out() {
    let folder = tempfile::tempdir().unwrap();
    let one = rhizo(folder.path(), &["info", "--backend", "gles", "--json"]).json();
    let found: Vec<_> = list(&one, "backends").iter().map(|backend| &backend["backend"]).collect();
    assert_eq!(found, ["gles"]);
    let nobody = rhizo(folder.path(), &["info", "--backend", "vulkan", "--adapter", "no such adapter"]);
    assert_eq!(nobody.code, 0);
    assert!(nobody.stdout.contains("vulkan: no"), "{}", nobody.stdout);
}

/// Without a driver `info` still answers, and what needs an adapter says what was tried and what to install.
#[test]
fn without_an_adapter_it_says_what_to_install() {
    let folder = tempfile::tempdir().unwrap();
    let without = |arguments: &[&str]| {
        let mut command = command(folder.path(), arguments);
        command.envs(["VK_DRIVER_FILES", "VK_ICD_FILENAMES"].map(|name| (name, NO_DRIVER)));
        run(command)
    };
    let info = without(&["info", "--backend", "vulkan"]);
    assert_eq!(info.code, 0, "{}", info.stderr);
    assert!(info.stdout.starts_with("vulkan: not available: "), "{}", info.stdout);
    assert!(info.stdout.contains("mesa-vulkan-drivers"), "{}", info.stdout);
    let json = without(&["info", "--backend", "vulkan", "--json"]).json();
    assert_eq!(json["backends"][0]["available"], false);

    for arguments in [&["demo", "-o", "out.png", "-q"][..], &["demo", "-o", "out.png", "--backend", "vulkan", "-q"]] {
        let demo = without(arguments);
        assert_eq!((demo.code, demo.stdout.as_str()), (1, ""), "{}", demo.stderr);
        assert!(demo.stderr.starts_with("error: no adapter to render with\n"), "{}", demo.stderr);
        assert!(demo.stderr.contains("apt-get install mesa-vulkan-drivers"), "{}", demo.stderr);
        for backend in BACKENDS {
            assert!(demo.stderr.contains(&format!("\n  {backend}: ")), "{backend} was not tried:\n{}", demo.stderr);
        }
        assert!(names(folder.path()).is_empty());
    }
}

#[test]
fn an_adapter_that_is_not_there_is_named_with_those_that_are() {
    if !has_driver("rhizo_tool::cli::info::an_adapter_that_is_not_there_is_named_with_those_that_are") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let demo = rhizo(folder.path(), &["demo", "-o", "out.png", "-q", "--backend", "vulkan", "--adapter", "voodoo"]);
    assert_eq!(demo.code, 1);
    assert!(demo.stderr.contains("voodoo") && demo.stderr.contains("found: "), "{}", demo.stderr);
    assert!(names(folder.path()).is_empty());
}
