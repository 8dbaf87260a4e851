//! Installing with `apt-get`, with Mesa from `bookworm-backports` on Debian 12.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::needs::{MESA, on_path};

/// Mesa before this major version lacks what the tests need (mesh shaders, ray tracing, sparse, Vulkan 1.4).
const MESA_MAJOR: u32 = 25;
const SOURCES: &str = "/etc/apt/sources.list.d";
const BACKPORTS: &str = "bookworm-backports";
const APT_OPTIONS: [&str; 4] = ["-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300"];

/// Installs the packages; those that this release does not offer are named and left out.
///
/// # Errors
/// Why nothing may be installed here, or which command failed.
pub fn install(packages: &[&'static str]) -> Result<(), String> {
    let privilege = Privilege::find()?;
    // One unreachable third-party source must not stop the rest: the install decides.
    if let Err(error) = privilege.run("apt-get", &["update", "-q"]) {
        println!("setup: warning: {error}; going on");
    }
    let backports = prepare_backports(&privilege, packages)?;
    let (offered, unknown): (Vec<_>, Vec<_>) = packages.iter().copied().partition(|name| offers(name));
    for name in unknown {
        println!("setup: this release offers no package {name}");
    }
    let (mesa, plain): (Vec<_>, Vec<_>) = offered.into_iter().partition(|name| MESA.contains(name));
    // The plain ones first: Mesa from backports would bring newer libraries along that they don't fit.
    install_plain(&privilege, &plain);
    if mesa.is_empty() {
        return Ok(());
    }
    let suite: &[&str] = if backports { &["-t", BACKPORTS] } else { &[] };
    privilege.run("apt-get", &[&["install"], &APT_OPTIONS[..], suite, &mesa].concat())
}

/// Installs all packages, or as many as possible: one that fails must not cost the others. What is then missing is probed
/// for again.
fn install_plain(privilege: &Privilege, packages: &[&str]) {
    let install = |more: &[&str]| privilege.run("apt-get", &[&["install"], &APT_OPTIONS[..], more].concat());
    if packages.is_empty() || install(packages).is_ok() {
        return;
    }
    for name in packages {
        // Where backports are in use already, a package may fit only with its libraries from there.
        let outcome = install(&[name])
            .or_else(|error| if has_backports() { install(&["-t", BACKPORTS, name]) } else { Err(error) });
        if let Err(error) = outcome {
            println!("setup: warning: {error}");
        }
    }
}

/// The same as [`install`] in words, for a person to type.
pub fn commands_by_hand(packages: &[&'static str]) -> String {
    let (mesa, plain): (Vec<_>, Vec<_>) = packages.iter().copied().partition(|name| MESA.contains(name));
    let mut lines = vec!["  sudo apt-get update".to_owned()];
    if !mesa.is_empty() {
        if is_bookworm() {
            lines.push(format!("  # Debian 12: add the suite {BACKPORTS} to your package sources first, then"));
            lines.push(format!("  sudo apt-get install -t {BACKPORTS} {}", mesa.join(" ")));
        } else {
            lines.push(format!("  sudo apt-get install {}   # Mesa {MESA_MAJOR} or newer", mesa.join(" ")));
        }
    }
    if !plain.is_empty() {
        lines.push(format!("  sudo apt-get install {}", plain.join(" ")));
    }
    lines.join("\n")
}

/// How commands become root.
enum Privilege {
    Root,
    Sudo,
}

impl Privilege {
    fn find() -> Result<Privilege, String> {
        if on_path("apt-get").is_none() {
            return Err("there is no apt-get here: setup installs only on Debian and Ubuntu".into());
        }
        if output_of("id", &["-u"]).is_some_and(|text| text.trim() == "0") {
            return Ok(Privilege::Root);
        }
        if on_path("sudo").is_some() && output_of("sudo", &["-n", "true"]).is_some() {
            return Ok(Privilege::Sudo);
        }
        Err("setup may not install here: not root, and sudo asks for a password".into())
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Result<(), String> {
        let mut command = match self {
            Privilege::Root => Command::new("env"),
            Privilege::Sudo => {
                let mut command = Command::new("sudo");
                command.args(["-n", "env"]);
                command
            }
        };
        command.args(["DEBIAN_FRONTEND=noninteractive", program]).args(arguments).stdin(Stdio::null());
        println!("setup: {program} {}", arguments.join(" "));
        let status = command.status().map_err(|error| format!("{program}: {error}"))?;
        if status.success() { Ok(()) } else { Err(format!("{program} {} failed: {status}", arguments.join(" "))) }
    }
}

/// Adds `bookworm-backports` when Mesa is wanted, this is Debian 12 and its own Mesa is too old. Says whether the
/// suite is to be used.
fn prepare_backports(privilege: &Privilege, packages: &[&str]) -> Result<bool, String> {
    if !packages.iter().any(|name| MESA.contains(name)) {
        return Ok(false);
    }
    let version = candidate("mesa-vulkan-drivers");
    if version.as_deref().and_then(major).is_some_and(|version| version >= MESA_MAJOR) {
        return Ok(false);
    }
    if !is_bookworm() {
        let have = version.unwrap_or_else(|| "none".into());
        return Err(format!("this release offers Mesa {have}; Rhizo's tests need Mesa {MESA_MAJOR} or newer"));
    }
    if has_backports() {
        return Ok(true);
    }
    let (name, text) = backports_entry(&source_files())?;
    let draft = std::env::temp_dir().join(format!("rhizo-backports-{}", std::process::id()));
    fs::write(&draft, text).map_err(|error| format!("{}: {error}", draft.display()))?;
    let target = format!("{SOURCES}/{name}");
    let placed = privilege.run("install", &["-m", "644", &draft.display().to_string(), &target]);
    fs::remove_file(&draft).map_err(|error| format!("{}: {error}", draft.display()))?;
    placed?;
    privilege.run("apt-get", &["update", "-q"])?;
    Ok(true)
}

fn has_backports() -> bool {
    output_of("apt-cache", &["policy"]).is_some_and(|text| text.contains(&format!("n={BACKPORTS}")))
}

/// The machine's package sources: path and text of each file.
fn source_files() -> Vec<(PathBuf, String)> {
    let mut paths = vec![PathBuf::from("/etc/apt/sources.list")];
    if let Ok(entries) = fs::read_dir(SOURCES) {
        paths.extend(entries.filter_map(|entry| Some(entry.ok()?.path())));
    }
    paths.sort();
    paths.into_iter().filter_map(|path| Some((path.clone(), fs::read_to_string(path).ok()?))).collect()
}

/// File name and text of a source entry for backports: the machine's own `bookworm` entry, mirror, key and all, with
/// another suite.
fn backports_entry(files: &[(PathBuf, String)]) -> Result<(&'static str, String), String> {
    for (path, text) in files {
        let entry = match path.extension().and_then(|extension| extension.to_str()) {
            Some("sources") => deb822_entry(text).map(|entry| ("rhizo-backports.sources", entry)),
            Some("list") => one_line_entry(text).map(|entry| ("rhizo-backports.list", entry)),
            _ => None,
        };
        if let Some(found) = entry {
            return Ok(found);
        }
    }
    Err("found no package source of the suite bookworm to copy for backports".into())
}

fn deb822_entry(text: &str) -> Option<String> {
    text.split("\n\n").find_map(|stanza| {
        let field = |line: &str, name: &str| line.strip_prefix(name).map(|rest| rest.trim().to_owned());
        let suites = stanza.lines().find_map(|line| field(line, "Suites:"))?;
        let types = stanza.lines().find_map(|line| field(line, "Types:"))?;
        let wanted = suites.split_whitespace().any(|suite| suite == "bookworm");
        if !wanted || !types.split_whitespace().any(|kind| kind == "deb") || stanza.contains("Enabled: no") {
            return None;
        }
        let lines = stanza.lines().filter(|line| !line.starts_with('#')).map(|line| match line {
            line if line.starts_with("Suites:") => format!("Suites: {BACKPORTS}"),
            line if line.starts_with("Types:") => "Types: deb".to_owned(),
            line => line.to_owned(),
        });
        Some(lines.collect::<Vec<_>>().join("\n") + "\n")
    })
}

fn one_line_entry(text: &str) -> Option<String> {
    let line =
        text.lines().find(|line| line.starts_with("deb ") && line.split_whitespace().any(|word| word == "bookworm"))?;
    let words = line.split_whitespace().map(|word| if word == "bookworm" { BACKPORTS } else { word });
    Some(words.collect::<Vec<_>>().join(" ") + "\n")
}

fn is_bookworm() -> bool {
    fs::read_to_string(Path::new("/etc/os-release"))
        .is_ok_and(|text| text.lines().any(|line| line == "VERSION_CODENAME=bookworm"))
}

/// The version `apt` would install, `None` when the release has no such package.
fn candidate(package: &str) -> Option<String> {
    let text = output_of("apt-cache", &["policy", package])?;
    let version = text.lines().find_map(|line| line.trim().strip_prefix("Candidate:"))?.trim();
    (version != "(none)").then(|| version.to_owned())
}

/// Whether the release has the package. Ubuntu's `chromium` is a snap in disguise, which servers and containers cannot
/// install.
fn offers(package: &str) -> bool {
    candidate(package).is_some_and(|version| !version.contains("snap"))
}

/// Major number of a Debian version (`1:25.0.7-2` is 25).
fn major(version: &str) -> Option<u32> {
    let upstream = version.split_once(':').map_or(version, |(_, rest)| rest);
    upstream.split('.').next()?.parse().ok()
}

fn output_of(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).env("LC_ALL", "C").stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEB822: &str = "Types: deb deb-src\nURIs: http://mirror.test/debian\nSuites: bookworm bookworm-updates\n\
        Components: main\nSigned-By: /k.gpg\n\nTypes: deb\nURIs: http://mirror.test/s\nSuites: bookworm-security\n";

    #[test]
    fn backports_copy_the_machines_own_mirror_and_key() {
        let (name, text) = backports_entry(&[("a/debian.sources".into(), DEB822.into())]).unwrap();
        assert_eq!(name, "rhizo-backports.sources");
        let want = "Types: deb\nURIs: http://mirror.test/debian\nSuites: bookworm-backports\n\
            Components: main\nSigned-By: /k.gpg\n";
        assert_eq!(text, want);
    }

    #[test]
    fn backports_copy_a_one_line_source() {
        let list = "# comment\ndeb [signed-by=/k.gpg] http://mirror.test/debian bookworm main contrib\n";
        let (name, text) = backports_entry(&[("sources.list".into(), list.into())]).unwrap();
        assert_eq!(name, "rhizo-backports.list");
        assert_eq!(text, "deb [signed-by=/k.gpg] http://mirror.test/debian bookworm-backports main contrib\n");
    }

    #[test]
    fn other_suites_are_no_source_for_backports() {
        let files = [("a.list".into(), "deb http://mirror.test/d bookworm-security main\n".into())];
        assert!(backports_entry(&files).is_err());
    }

    #[test]
    fn versions() {
        assert_eq!(major("25.0.7-2~bpo12+1"), Some(25));
        assert_eq!(major("1:22.3.6-1"), Some(22));
        assert_eq!(major("nonsense"), None);
    }
}
