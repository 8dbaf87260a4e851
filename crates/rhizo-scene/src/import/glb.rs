//! The GLB container (glTF 2.0, section 4.4).

use super::error::{Fault, Reason, Result};

const JSON_CHUNK: u32 = 0x4E4F_534A;
const BIN_CHUNK: u32 = 0x004E_4942;
const HEADER_BYTES: usize = 12;

/// The chunks of a GLB file.
pub(super) struct Glb<'a> {
    pub json: &'a [u8],
    pub bin: Option<&'a [u8]>,
}

fn damaged(message: impl Into<String>) -> Fault {
    Fault::new("", Reason::Glb(message.into()))
}

fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    bytes.get(offset..)?.first_chunk().map(|b| u32::from_le_bytes(*b))
}

/// Splits a GLB file. Bytes after the declared length are ignored, as the format allows.
pub(super) fn split(bytes: &[u8]) -> Result<Glb<'_>> {
    let (Some(magic), Some(version), Some(length)) = (u32_at(bytes, 0), u32_at(bytes, 4), u32_at(bytes, 8)) else {
        return Err(damaged("the file ends inside the 12-byte header"));
    };
    if magic != u32::from_le_bytes(*b"glTF") {
        return Err(damaged("the file does not begin with \"glTF\""));
    }
    if version != 2 {
        return Err(damaged(format!("version {version}; only version 2 is known")));
    }
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    if length <= HEADER_BYTES || length > bytes.len() {
        return Err(damaged(format!("declared length {length}, but the file has {} bytes", bytes.len())));
    }
    chunks(&bytes[..length])
}

fn chunks(bytes: &[u8]) -> Result<Glb<'_>> {
    let mut json = None;
    let mut bin = None;
    let mut offset = HEADER_BYTES;
    let mut number = 0;
    while offset < bytes.len() {
        let (Some(length), Some(kind)) = (u32_at(bytes, offset), u32_at(bytes, offset + 4)) else {
            return Err(damaged(format!("chunk {number} ends inside its header")));
        };
        if length % 4 != 0 {
            return Err(damaged(format!("chunk {number} has a length of {length}, not a multiple of 4")));
        }
        let start = offset + 8;
        let end = start.checked_add(length as usize).filter(|end| *end <= bytes.len());
        let end = end.ok_or_else(|| damaged(format!("chunk {number} ends behind the end of the file")))?;
        let data = &bytes[start..end];
        match (number, kind) {
            (0, JSON_CHUNK) if data.is_empty() => return Err(damaged("the JSON chunk is empty")),
            (0, JSON_CHUNK) => json = Some(data),
            (0, _) => return Err(damaged("the first chunk is not the JSON chunk")),
            (_, JSON_CHUNK) => return Err(damaged("there is a second JSON chunk")),
            (1, BIN_CHUNK) => bin = Some(data),
            (_, BIN_CHUNK) if bin.is_some() => return Err(damaged("there is a second BIN chunk")),
            (_, BIN_CHUNK) => return Err(damaged("the BIN chunk is not the second chunk")),
            _ => {} // Extensions may add chunks; readers skip the ones they do not know.
        }
        offset = end;
        number += 1;
    }
    let json = json.ok_or_else(|| damaged("there is no JSON chunk"))?;
    Ok(Glb { json, bin })
}
