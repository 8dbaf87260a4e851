//! Plan and profile files: written, read back, the same each time.

use std::path::Path;

use rhizo_graph::file::{GraphFile, PlanFile, parse_profile, profile_json};
use rhizo_graph::profile::{MemoryNeed, TextureSizes};
use rhizo_graph::{OrderPolicy, Policy, Profile, ResourceDesc, TextureDesc, compile};
use rhizo_rhi::Format;

use crate::{corpus, random};

#[test]
fn plans_survive_the_round_trip() {
    let mut texts: Vec<String> = (0..40).map(|seed| random::graph(seed, 8, 4).to_string()).collect();
    texts.extend(corpus::files().into_iter().flatten().map(|(_, text)| text));
    let mut count = 0;
    for text in texts {
        let graph = GraphFile::parse(&text).unwrap().graph;
        let Ok(plan) = compile(&graph, &Profile::portable(), &Policy::default()) else { continue };
        let file = PlanFile::new(&graph, &plan);
        let json = file.to_json();
        assert_eq!(PlanFile::parse(&json).unwrap(), file);
        let again = compile(&graph, &Profile::portable(), &Policy::default()).unwrap();
        assert_eq!(PlanFile::new(&graph, &again).to_json(), json, "not deterministic");
        count += 1;
    }
    assert!(count >= 20);
}

#[test]
fn plans_of_other_authors_are_checked() {
    let compiled = (0..).find_map(|seed| {
        let text = random::graph(seed, 8, 4).to_string();
        let compiled = crate::compile_text(&text, &Profile::single_queue(), OrderPolicy::Declaration).ok()?;
        (compiled.plan.batch_count() > 1).then_some(compiled)
    });
    let good = compiled.expect("one of the seeds compiles").json;
    let mut extra = good.clone();
    extra["from-the-future"] = serde_json::json!({"a": 1});
    assert!(PlanFile::parse(&extra.to_string()).is_ok());
    let mut wrong = good.clone();
    wrong["submissions"][0]["steps"][0] = serde_json::json!({"pass": "p", "signal": 1});
    let error = PlanFile::parse(&serde_json::to_string_pretty(&wrong).unwrap()).unwrap_err();
    assert_eq!(error.field, "submissions[0].steps[0]");
    assert!(error.line > 1);
    let mut wrong = good;
    wrong["policy"] = serde_json::json!("random:x");
    assert_eq!(PlanFile::parse(&wrong.to_string()).unwrap_err().field, "policy");
}

/// The files of the tree are the built-in profiles.
#[test]
fn profile_files_are_the_built_in_profiles() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../profiles");
    for name in ["portable", "single-queue"] {
        let text = std::fs::read_to_string(folder.join(format!("{name}.json"))).unwrap();
        let built_in = Profile::built_in(name).unwrap();
        assert_eq!(parse_profile(&text).unwrap(), built_in);
        assert_eq!(text, profile_json(&built_in), "profiles/{name}.json");
    }
}

#[test]
fn tables_of_sizes_are_used() {
    let desc = TextureDesc::d2(Format::Rgba8Unorm, 10, 10);
    let mut profile = Profile::single_queue();
    let need = MemoryNeed { bytes: 4096, alignment: 256 };
    profile.texture_sizes = TextureSizes::Table([(ResourceDesc::Texture(desc), need)].into());
    assert_eq!(parse_profile(&profile_json(&profile)).unwrap(), profile);
    let mut graph = rhizo_graph::Graph::new("sizes");
    let texture = graph.texture("t", desc);
    graph.pass("p", rhizo_graph::PassKind::Compute).side_effect().uses(
        texture,
        rhizo_graph::AccessKind::StorageWrite,
        rhizo_rhi::Stages::empty(),
    );
    assert_eq!(compile(&graph, &profile, &Policy::default()).unwrap().memory.used, 4096);
}

#[test]
fn policies_have_names() {
    for policy in [OrderPolicy::Declaration, OrderPolicy::Overlap, OrderPolicy::Memory, OrderPolicy::Random(7)] {
        assert_eq!(policy.to_string().parse(), Ok(policy));
    }
    assert!("fastest".parse::<OrderPolicy>().is_err());
}
