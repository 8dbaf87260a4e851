//! Graph, plan and profile files, version 1: public JSON formats (`docs/graph.md`, `docs/schemas`).
//!
//! Reading is bounded and total: a malformed file of any author is a [`FileError`] with line and field. Unknown fields
//! of graph and profile files are refused, because a misspelt one would silently change what is compiled; unknown
//! fields of plan files are ignored.

mod graph;
mod locate;
mod names;
mod plan;
mod profile;

use std::fmt;

use serde::de::DeserializeOwned;

pub use graph::GraphFile;
pub use plan::{
    AllocationFile, BarrierFile, CulledFile, HeapFile, MemoryFile, Operation, PassFile, PlanFile, QueueFile,
    ResourceFile, SideFile, StatsFile, StepFile, SubmissionFile, WaitFile,
};
pub use profile::{parse_profile, profile_json};

/// Files larger than this many bytes are refused unread.
pub const MAX_FILE_BYTES: usize = 64 << 20;

/// What is wrong with a file, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct FileError {
    /// Line, from 1; 0 when the file as a whole is meant.
    pub line: usize,
    /// Column, from 1; 0 when not known.
    pub column: usize,
    /// Path of the field, such as `passes[3].accesses[0].mips`; empty for the file itself.
    pub field: String,
    /// In words.
    pub message: String,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}", self.line)?;
            if self.column > 0 {
                write!(f, ", column {}", self.column)?;
            }
            f.write_str(": ")?;
        }
        if !self.field.is_empty() {
            write!(f, "{}: ", self.field)?;
        }
        f.write_str(&self.message)
    }
}

/// Parses JSON into `T`; errors say line, column and field.
fn parse<T: DeserializeOwned>(text: &str) -> Result<T, FileError> {
    if text.len() > MAX_FILE_BYTES {
        let message = format!("the file has {} bytes (limit {MAX_FILE_BYTES})", text.len());
        return Err(FileError { line: 0, column: 0, field: String::new(), message });
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        let field = if path == "." { String::new() } else { path };
        json_error(error.inner(), field)
    })?;
    reader.end().map_err(|error| json_error(&error, String::new()))?;
    Ok(value)
}

fn json_error(error: &serde_json::Error, field: String) -> FileError {
    let (line, column) = (error.line(), error.column());
    // The place is given by fields of its own.
    let suffix = format!(" at line {line} column {column}");
    let text = error.to_string();
    let message = text.strip_suffix(&suffix).unwrap_or(&text).to_owned();
    FileError { line, column, field, message }
}

/// An error about a field of a file that parsed.
fn field_error(text: &str, field: String, message: impl Into<String>) -> FileError {
    let line = locate::line_of(text, &field).unwrap_or(0);
    FileError { line, column: 0, field, message: message.into() }
}

/// Reads and checks a version field.
fn check_version(text: &str, version: u64) -> Result<(), FileError> {
    if version == 1 {
        return Ok(());
    }
    Err(field_error(text, "version".to_owned(), format!("version {version} is not known; this reads version 1")))
}
