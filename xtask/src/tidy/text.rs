//! Rules on the text of one file.

/// Longest function, in lines from `fn` to its closing brace.
const MAX_FUNCTION_LINES: usize = 70;
/// Longest source file, in lines.
const MAX_FILE_LINES: usize = 800;

/// Words that no source file may contain, and why. Split so that this file does not contain them.
const FORBIDDEN_IN_CODE: [(&str, &str); 4] = [
    (concat!("to", "do!("), "unfinished work goes in an issue"),
    (concat!("un", "implemented!("), "report the operation as unavailable, with a reason"),
    (concat!("d", "bg!("), "left over from debugging"),
    (concat!("#[", "ignore"), "a skipped test is loud: use rhizo_testkit::skip!"),
];

/// Beginnings of paths of one person's machine.
const FORBIDDEN_PATHS: [&str; 3] = [concat!("/ho", "me/"), concat!("/Us", "ers/"), concat!("/ro", "ot/")];

/// Checks one file; findings are `path:line: what`.
pub fn check(path: &str, text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    let is_code = path.ends_with(".rs");
    let is_prose = [".md", ".toml", ".sh", ".yml", ".wgsl", ".glsl"].iter().any(|end| path.ends_with(end));
    if !(is_code || is_prose || path == ".ci/run") || is_generated(text) {
        return findings;
    }
    for (index, line) in text.lines().enumerate() {
        let at = |what: String| format!("{path}:{}: {what}", index + 1);
        for start in FORBIDDEN_PATHS.iter().filter(|start| line.contains(**start)) {
            findings.push(at(format!("a path of one machine ({start}…)")));
        }
        if is_code {
            for (word, why) in FORBIDDEN_IN_CODE.iter().filter(|(word, _)| line.contains(word)) {
                findings.push(at(format!("`{word}`: {why}")));
            }
        }
    }
    if is_code {
        findings.extend(lengths(path, text));
    }
    findings
}

/// Whether the file says in its first lines that a program wrote it.
fn is_generated(text: &str) -> bool {
    text.lines().take(5).any(|line| line.contains("@generated"))
}

fn lengths(path: &str, text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut findings = Vec::new();
    if lines.len() > MAX_FILE_LINES {
        findings.push(format!("{path}: {} lines, at most {MAX_FILE_LINES}", lines.len()));
    }
    for (start, line) in lines.iter().enumerate() {
        let Some(name) = function_name(line) else { continue };
        let Some(length) = function_length(&lines[start..]) else { continue };
        if length > MAX_FUNCTION_LINES {
            findings.push(format!("{path}:{}: fn {name}: {length} lines, at most {MAX_FUNCTION_LINES}", start + 1));
        }
    }
    findings
}

/// Name of the function that a line begins, if it begins one.
fn function_name(line: &str) -> Option<&str> {
    let (before, after) = line.split_once("fn ")?;
    let is_qualifier = |word: &str| {
        matches!(word, "const" | "async" | "unsafe" | "extern" | "\"C\"" | "\"system\"" | "in")
            || word.starts_with("pub")
    };
    if !before.is_empty() && !before.ends_with(' ') || !before.split_whitespace().all(is_qualifier) {
        return None;
    }
    let end = after.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(after.len());
    (end > 0).then(|| &after[..end])
}

/// Lines of a function in code that rustfmt has formatted: its body ends at the first `}` that is indented like its
/// `fn`. `None` for a declaration without a body.
fn function_length(lines: &[&str]) -> Option<usize> {
    let first = lines.first()?;
    let indent = first.len() - first.trim_start().len();
    let opening = lines.iter().position(|line| {
        let line = line.trim_end();
        line.ends_with('{') || line.ends_with(';') || line.ends_with('}')
    })?;
    if lines[opening].ends_with(';') {
        return None;
    }
    if lines[opening].ends_with('}') {
        return Some(opening + 1);
    }
    let closing = format!("{}}}", &first[..indent]);
    lines.iter().position(|line| *line == closing).map(|index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(name: &str, lines: usize) -> String {
        let body = "        step();\n".repeat(lines - 2);
        format!("impl Thing {{\n    pub(crate) unsafe fn {name}(\n    ) {{\n{}    }}\n}}\n", &body[16..])
    }

    #[test]
    fn long_functions_are_found_and_long_enough_ones_are_not() {
        let long = check("a.rs", &function("long", 71));
        assert_eq!(long.len(), 1, "{long:?}");
        assert!(long[0].starts_with("a.rs:2: fn long: 71 lines"), "{long:?}");
        assert_eq!(check("a.rs", &function("fair", 70)), [""; 0]);
    }

    #[test]
    fn declarations_and_one_liners_have_no_length() {
        assert_eq!(function_length(&["    fn a(&self);", "}"]), None);
        assert_eq!(function_length(&["fn a() {}"]), Some(1));
        assert_eq!(function_name("    let x = some_fn (1);"), None);
        assert_eq!(function_name("// a fn in prose"), None);
        assert_eq!(function_name("pub const unsafe fn name<T>()"), Some("name"));
    }

    #[test]
    fn long_files_forbidden_words_and_paths_are_found() {
        assert!(check("a.rs", &"x\n".repeat(801))[0].contains("801 lines"));
        for (word, _) in FORBIDDEN_IN_CODE {
            assert_eq!(check("a.rs", word).len(), 1, "{word}");
            assert_eq!(check("a.md", word).len(), 0, "{word}");
        }
        assert_eq!(check("a.md", &format!("see {}me/x", FORBIDDEN_PATHS[0])).len(), 1);
    }

    #[test]
    fn generated_files_and_data_are_left_alone() {
        assert_eq!(check("a.rs", &format!("// @generated\n{}", "x\n".repeat(900))), [""; 0]);
        assert_eq!(check("a.gltf", FORBIDDEN_PATHS[0]), [""; 0]);
    }
}
