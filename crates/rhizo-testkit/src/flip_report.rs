//! The report folder of picture comparisons: one sub-folder per comparison and an `index.html` over all of them.
//!
//! Tests run in parallel processes, so the index is built from the sub-folders; `cargo xtask test` builds it last.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// File of one comparison's numbers, beside its pictures.
pub const RESULT_FILE: &str = "result.json";

/// Numbers of one comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct FlipResult {
    /// Folder name below the report folder.
    pub name: String,
    /// Mean FLIP error, 0 (equal) to 1.
    pub mean: f64,
    /// Largest FLIP error of a pixel, 0 to 1.
    pub max: f64,
    /// Largest mean that passes.
    pub limit: f64,
}

impl FlipResult {
    /// Whether the mean is within the limit.
    pub fn passes(&self) -> bool {
        self.mean <= self.limit
    }
}

/// Checks a comparison's name: letters, digits, `-`, `_` and `.`, not beginning with a dot, as it becomes a folder.
///
/// # Errors
/// A sentence quoting the name.
pub fn check_name(name: &str) -> Result<(), String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.starts_with('.') || !name.chars().all(allowed) {
        return Err(format!("{name:?} cannot name a comparison: use letters, digits, '-', '_' and '.'"));
    }
    Ok(())
}

/// Writes a file through a temporary one, so that nobody reads it half-written.
///
/// # Errors
/// What the file system says, with the path.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let mut draft = path.as_os_str().to_owned();
    draft.push(format!(".{}.tmp", std::process::id()));
    let draft = PathBuf::from(draft);
    fs::write(&draft, bytes)
        .and_then(|()| fs::rename(&draft, path))
        .map_err(|error| format!("{}: {error}", path.display()))
}

/// Writes one comparison's numbers.
///
/// # Errors
/// What the file system says.
pub fn write_result(folder: &Path, result: &FlipResult) -> Result<(), String> {
    let json = serde_json::json!({"mean": result.mean, "max": result.max, "limit": result.limit});
    write_whole(&folder.join(&result.name).join(RESULT_FILE), json.to_string().as_bytes())
}

/// All comparisons of a report folder, failures first, then by falling mean. A missing folder holds none.
///
/// # Errors
/// A result file that cannot be read, by name.
pub fn read_results(folder: &Path) -> Result<Vec<FlipResult>, String> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(Vec::new()) };
    let mut results = Vec::new();
    for entry in entries.flatten() {
        let path = entry.path().join(RESULT_FILE);
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let json: Value = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        let number = |key: &str| {
            json.get(key).and_then(Value::as_f64).ok_or_else(|| format!("{}: no number {key}", path.display()))
        };
        let name = entry.file_name().to_string_lossy().into_owned();
        results.push(FlipResult { name, mean: number("mean")?, max: number("max")?, limit: number("limit")? });
    }
    results.sort_by(|a, b| a.passes().cmp(&b.passes()).then(b.mean.total_cmp(&a.mean)).then(a.name.cmp(&b.name)));
    Ok(results)
}

/// Builds `index.html` over the comparisons in `folder` and returns how many there are; with none, writes nothing.
///
/// # Errors
/// What [`read_results`] or the file system says.
pub fn write_index(folder: &Path) -> Result<usize, String> {
    let results = read_results(folder)?;
    if results.is_empty() {
        return Ok(0);
    }
    write_whole(&folder.join("index.html"), index_html(&results).as_bytes())?;
    Ok(results.len())
}

fn index_html(results: &[FlipResult]) -> String {
    let failed = results.iter().filter(|result| !result.passes()).count();
    let mut html = format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<title>Picture comparisons</title>\n<style>\n\
         body {{ font: 15px sans-serif; margin: 2em }} img {{ max-width: 30vw; image-rendering: pixelated }}\n\
         td, th {{ padding: .4em; text-align: left; vertical-align: top }} .failed {{ color: #b00 }}\n</style>\n\
         <h1>Picture comparisons</h1>\n<p>{} pictures, {failed} above their limit. FLIP: 0 is equal, 1 as different as \
         can be; the difference map is black where equal.</p>\n\
         <table>\n<tr><th>Reference<th>Picture<th>Difference</tr>\n",
        results.len()
    );
    for result in results {
        let class = if result.passes() { "" } else { " class=\"failed\"" };
        let name = &result.name; // `check_name` let nothing through that HTML would read
        writeln!(
            html,
            "<tr><td colspan=3{class}><b>{name}</b>: mean {:.4} (limit {:.4}), max {:.4}</tr>",
            result.mean, result.limit, result.max
        )
        .expect("writing to a String cannot fail");
        html.push_str("<tr>");
        for file in ["reference", "picture", "difference"] {
            write!(html, "<td><a href=\"{name}/{file}.png\"><img src=\"{name}/{file}.png\" alt=\"{file}\"></a>")
                .expect("writing to a String cannot fail");
        }
        html.push_str("</tr>\n");
    }
    html + "</table>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_lists_failures_first() {
        let folder = tempfile::tempdir().unwrap();
        for (name, mean, limit) in [("good", 0.04, 0.05), ("bad", 0.02, 0.01), ("best", 0.0, 0.05)] {
            fs::create_dir(folder.path().join(name)).unwrap();
            write_result(folder.path(), &FlipResult { name: name.into(), mean, max: 0.5, limit }).unwrap();
        }
        assert_eq!(write_index(folder.path()).unwrap(), 3);
        let html = fs::read_to_string(folder.path().join("index.html")).unwrap();
        let at = |text: &str| html.find(text).unwrap();
        assert!(at("<b>bad</b>") < at("<b>good</b>") && at("<b>good</b>") < at("<b>best</b>"));
        assert!(html.contains("3 pictures, 1 above their limit"));
    }

    #[test]
    fn a_damaged_result_is_an_error_that_names_the_file() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("one")).unwrap();
        fs::write(folder.path().join("one").join(RESULT_FILE), r#"{"mean": "x"}"#).unwrap();
        let error = write_index(folder.path()).unwrap_err();
        assert!(error.contains("result.json: no number mean"), "{error}");
    }

    #[test]
    fn names_that_leave_the_folder_or_the_page_are_refused() {
        for name in ["", "..", "a/b", "<b>", "a b"] {
            assert!(check_name(name).is_err(), "{name}");
        }
        check_name("BoxTextured.lit-lavapipe_2").unwrap();
    }
}
