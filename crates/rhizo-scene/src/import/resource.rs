//! Fetching what URIs name: data URIs and files below the glTF file's own folder, never anything else.

use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::error::{Fault, Reason, Result};
use super::limits::Budget;

/// Some writers leave the padding out.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// URIs quoted in messages are cut here: a data URI can be megabytes long.
const QUOTED_CHARS: usize = 80;

/// A fetched resource.
pub(super) struct Resource {
    pub bytes: Vec<u8>,
    /// For messages: the file name, or "data URI".
    pub name: String,
}

/// What a URI turned out to be.
pub(super) enum Fetched {
    Data(Resource),
    /// An absolute URI (`http:` and the like), which is legal and which we never follow.
    Remote,
}

pub(super) fn refused(path: &str, uri: &str, why: &'static str) -> Fault {
    let mut short: String = uri.chars().take(QUOTED_CHARS).collect();
    if short.len() < uri.len() {
        short.push('…');
    }
    Fault::new(path, Reason::Uri { uri: short, why })
}

/// Fetches `uri`, found at JSON pointer `path`, relative to `folder` (`None`: the document is not a file, so only
/// data URIs work). Charges the bytes to the budget before they are allocated.
pub(super) fn fetch(uri: &str, path: &str, folder: Option<&Path>, budget: &mut Budget) -> Result<Fetched> {
    if let Some(rest) = strip_scheme(uri, "data") {
        return decode_data_uri(uri, rest, path, budget).map(Fetched::Data);
    }
    if has_scheme(uri) {
        return Ok(Fetched::Remote);
    }
    let relative = relative_path(uri, path)?;
    let folder = folder.ok_or_else(|| refused(path, uri, "the document was not read from a folder"))?;
    let bytes = read_file(&folder.join(&relative), &relative.display().to_string(), path, budget)?;
    Ok(Fetched::Data(Resource { bytes, name: relative.display().to_string() }))
}

/// RFC 3986 scheme: a letter, then letters, digits, `+`, `-`, `.`, then a colon.
fn has_scheme(uri: &str) -> bool {
    uri.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    })
}

fn strip_scheme<'u>(uri: &'u str, scheme: &str) -> Option<&'u str> {
    let (found, rest) = uri.split_once(':')?;
    found.eq_ignore_ascii_case(scheme).then_some(rest)
}

fn decode_data_uri(uri: &str, rest: &str, path: &str, budget: &mut Budget) -> Result<Resource> {
    let (head, payload) = rest.split_once(',').ok_or_else(|| refused(path, uri, "a data URI needs a comma"))?;
    if head.split(';').skip(1).any(str::is_empty) {
        return Err(refused(path, uri, "a parameter of the media type is empty"));
    }
    budget.bytes(payload.len() as u64, path)?;
    let bytes = if head.to_ascii_lowercase().ends_with(";base64") {
        BASE64.decode(payload).map_err(|_| refused(path, uri, "the data is not valid base64"))?
    } else {
        percent_encoding::percent_decode_str(payload).collect()
    };
    Ok(Resource { bytes, name: "data URI".to_owned() })
}

/// Turns a relative URI into a path that cannot leave the folder it is joined to.
fn relative_path(uri: &str, path: &str) -> Result<PathBuf> {
    let decoded = percent_encoding::percent_decode_str(uri).decode_utf8();
    let decoded = decoded.map_err(|_| refused(path, uri, "the file name is not UTF-8"))?;
    if decoded.contains(['\0', '\\', ':']) {
        return Err(refused(path, uri, "NUL, backslash and colon are not allowed in file names"));
    }
    let mut out = PathBuf::new();
    for component in Path::new(decoded.as_ref()).components() {
        match component {
            Component::Normal(part) => out.push(part),
            Component::CurDir => {}
            Component::ParentDir if out.pop() => {}
            Component::ParentDir => return Err(refused(path, uri, "it leads out of the file's folder")),
            Component::RootDir | Component::Prefix(_) => {
                return Err(refused(path, uri, "only paths relative to the file are followed"));
            }
        }
    }
    if out.as_os_str().is_empty() {
        return Err(refused(path, uri, "it names no file"));
    }
    Ok(out)
}

/// Reads a whole regular file, charging its size first.
pub(super) fn read_file(file: &Path, name: &str, path: &str, budget: &mut Budget) -> Result<Vec<u8>> {
    let io = |e: std::io::Error| Fault::new(path, Reason::Io { name: name.to_owned(), message: e.to_string() });
    // Opening a pipe or device could block for ever, so look first.
    let metadata = std::fs::metadata(file).map_err(io)?;
    if !metadata.is_file() {
        return Err(io(std::io::Error::other("not a regular file")));
    }
    budget.bytes(metadata.len(), path)?;
    let mut bytes = Vec::new();
    // The file may grow between the two calls; never read more than was charged.
    File::open(file).and_then(|f| f.take(metadata.len()).read_to_end(&mut bytes)).map_err(io)?;
    Ok(bytes)
}
