//! The pipeline cache: export and import of bytes that are never trusted.

use crate::backend::{ObjectKind, ObjectRef};
use crate::error::Result;
use crate::handle::{DeviceKey, DeviceShared, Keep, Owned};
use sha2::{Digest, Sha256};
use std::sync::Arc;

const MAGIC: &[u8; 8] = b"RHZCACHE";
const VERSION: u32 = 1;
const HASH_BYTES: usize = 32;

/// What became of imported bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CacheImport {
    /// Given to the driver.
    Imported {
        /// Bytes of driver data.
        bytes: usize,
    },
    /// Not used; the cache starts empty.
    Skipped {
        /// Why.
        reason: String,
    },
}

/// Compiled pipelines of one driver, device and version.
#[derive(Clone, Debug)]
pub struct PipelineCache {
    pub(crate) raw: ObjectRef,
    pub(crate) key: DeviceKey,
    pub(crate) owned: Keep,
}

impl PipelineCache {
    #[track_caller]
    pub(crate) fn create(device: &Arc<DeviceShared>, label: &str, bytes: &[u8]) -> Result<(Self, CacheImport)> {
        device.check_alive()?;
        let (data, import): (&[u8], _) = match open(bytes, &device.backend.pipeline_cache_key()) {
            Ok(data) => (data, CacheImport::Imported { bytes: data.len() }),
            Err(reason) => (&[], CacheImport::Skipped { reason }),
        };
        let native = device.create(|backend| backend.create_pipeline_cache(data))?;
        let owned = Owned::new(device, ObjectKind::PipelineCache, label, native, Vec::new());
        let raw = ObjectRef { word: native.word, aux: native.aux, id: owned.id };
        Ok((Self { raw, key: device.key, owned }, import))
    }

    /// The cache as bytes: a header, the key of driver and device, the driver's data and a hash over all of it.
    ///
    /// # Errors
    /// Native failures; `DEVICE_LOST`.
    pub fn export(&self) -> Result<Vec<u8>> {
        let device = &self.owned.device;
        device.check_alive()?;
        let data = device.backend.pipeline_cache_data(self.raw)?;
        Ok(seal(&device.backend.pipeline_cache_key(), &data))
    }
}

fn seal(key: &[u8], data: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(20 + key.len() + data.len() + HASH_BYTES);
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&VERSION.to_le_bytes());
    out.extend_from_slice(&(key.len() as u32).to_le_bytes());
    out.extend_from_slice(key);
    out.extend_from_slice(data);
    let hash = Sha256::digest(&out);
    out.extend_from_slice(&hash);
    out
}

fn open<'a>(bytes: &'a [u8], key: &[u8]) -> Result<&'a [u8], String> {
    if bytes.is_empty() {
        return Err("empty".into());
    }
    let body = bytes.len().checked_sub(HASH_BYTES).filter(|n| *n >= 16).ok_or("truncated")?;
    let (body, hash) = bytes.split_at(body);
    if &body[..8] != MAGIC {
        return Err("not a pipeline cache".into());
    }
    if body[8..12] != VERSION.to_le_bytes() {
        return Err("another version of the file format".into());
    }
    if Sha256::digest(body)[..] != *hash {
        return Err("corrupt: the hash does not match".into());
    }
    let length = u32::from_le_bytes([body[12], body[13], body[14], body[15]]) as usize;
    let end =
        length.checked_add(16).filter(|end| *end <= body.len()).ok_or("corrupt: the key is longer than the file")?;
    if &body[16..end] != key {
        return Err("made by another driver, driver version or device".into());
    }
    Ok(&body[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_caches_of_the_same_key_open() {
        let sealed = seal(b"driver", b"data");
        assert_eq!(open(&sealed, b"driver"), Ok(&b"data"[..]));
        assert!(open(&sealed, b"other").is_err_and(|r| r.contains("another driver")));
        for cut in 0..sealed.len() {
            assert!(open(&sealed[..cut], b"driver").is_err(), "cut at {cut}");
        }
        for at in 0..sealed.len() {
            let mut bad = sealed.clone();
            bad[at] ^= 0x40;
            assert!(open(&bad, b"driver").is_err(), "byte {at} changed");
        }
    }
}
