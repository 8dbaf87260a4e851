//! Decoding PNG, JPEG and plain KTX2 to RGBA8, with sizes checked before anything is allocated.

use std::io::{Cursor, Read};

use image::{ImageFormat, ImageReader};
use ktx2::{Format, Header, LevelIndex, SupercompressionScheme};

use super::error::{Fault, Reason, Result};
use super::limits::Budget;
use crate::scene::Image;

const KTX2_MAGIC: &[u8] = b"\xABKTX 20\xBB\r\n\x1A\n";

/// An encoded image and how to talk about it.
pub(super) struct Encoded<'a> {
    pub bytes: &'a [u8],
    pub name: &'a str,
    pub path: &'a str,
}

impl Encoded<'_> {
    fn bad(&self, message: impl Into<String>) -> Fault {
        Fault::new(self.path, Reason::Image { name: self.name.to_owned(), message: message.into() })
    }
}

/// Decodes by content; the declared media type is not trusted.
pub(super) fn decode(source: &Encoded, budget: &mut Budget) -> Result<Image> {
    if source.bytes.starts_with(KTX2_MAGIC) {
        return decode_ktx2(source, budget);
    }
    let format = match image::guess_format(source.bytes) {
        Ok(format @ (ImageFormat::Png | ImageFormat::Jpeg)) => format,
        _ => return Err(source.bad("it is neither PNG, JPEG nor KTX2")),
    };
    let failed = |e: image::ImageError| source.bad(e.to_string());
    let dimensions = ImageReader::with_format(Cursor::new(source.bytes), format).into_dimensions().map_err(failed)?;
    let rgba_bytes = check_size(source, dimensions, budget)?;
    let mut reader = ImageReader::with_format(Cursor::new(source.bytes), format);
    let mut limits = image::Limits::default();
    limits.max_image_width = Some(budget.limits.max_image_edge);
    limits.max_image_height = Some(budget.limits.max_image_edge);
    // Room for 16-bit RGBA beside the decoder's own buffers.
    limits.max_alloc = Some(rgba_bytes.saturating_mul(4).saturating_add(1 << 20));
    reader.limits(limits);
    let rgba = reader.decode().map_err(failed)?.into_rgba8();
    let (width, height) = rgba.dimensions();
    Ok(image_of(source, width, height, rgba.into_raw(), true))
}

fn image_of(source: &Encoded, width: u32, height: u32, rgba8: Vec<u8>, generate_mips: bool) -> Image {
    let name = source.name.to_owned();
    Image { name, width, height, rgba8, generate_mips, used_as_srgb: false, used_as_linear: false }
}

/// Charges a decoded image; returns its RGBA8 bytes.
fn check_size(source: &Encoded, (width, height): (u32, u32), budget: &mut Budget) -> Result<u64> {
    let limit = |what, wanted, limit| Fault::new(source.path, Reason::Limit { what, wanted, limit });
    if width == 0 || height == 0 {
        return Err(source.bad("it has no texels"));
    }
    let edge = u64::from(width.max(height));
    let max_edge = u64::from(budget.limits.max_image_edge);
    if edge > max_edge {
        return Err(limit("the edge of an image", edge, max_edge));
    }
    let pixels = u64::from(width) * u64::from(height);
    if pixels > budget.limits.max_image_pixels {
        return Err(limit("the texels of an image", pixels, budget.limits.max_image_pixels));
    }
    budget.bytes(pixels * 4, source.path)?;
    Ok(pixels * 4)
}

/// Reads level 0 of a two-dimensional, 8-bit, uncompressed or zstd-compressed KTX2 file.
///
/// Only the header and the first entry of the level index are read: which colour space applies is the material's
/// matter, so the data format descriptor, which `ktx2::Reader` insists on parsing, has nothing to add.
fn decode_ktx2(source: &Encoded, budget: &mut Budget) -> Result<Image> {
    let header = source.bytes.first_chunk().ok_or_else(|| source.bad("the KTX2 header is cut off"))?;
    let header = Header::from_bytes(header).map_err(|e| source.bad(e.to_string()))?;
    let channels = match header.format {
        Some(Format::R8_UNORM | Format::R8_SRGB) => 1,
        Some(Format::R8G8_UNORM | Format::R8G8_SRGB) => 2,
        Some(Format::R8G8B8_UNORM | Format::R8G8B8_SRGB) => 3,
        Some(Format::R8G8B8A8_UNORM | Format::R8G8B8A8_SRGB) => 4,
        Some(other) => return Err(source.bad(format!("KTX2 format {other:?} is not supported"))),
        None => return Err(source.bad("Basis-compressed KTX2 is not supported")),
    };
    if header.pixel_depth > 1 || header.layer_count > 1 || header.face_count != 1 {
        return Err(source.bad("only two-dimensional KTX2 images are supported"));
    }
    let (width, height) = (header.pixel_width, header.pixel_height);
    let pixels = check_size(source, (width, height), budget)? / 4;
    let wanted = usize::try_from(pixels).unwrap_or(usize::MAX).saturating_mul(channels);
    let data = ktx2_level0(source, &header, wanted, budget)?;
    let mut rgba8 = Vec::with_capacity(data.len() / channels * 4);
    for texel in data.chunks_exact(channels) {
        rgba8.extend_from_slice(&match *texel {
            [r] => [r, 0, 0, 255],
            [r, g] => [r, g, 0, 255],
            [r, g, b] => [r, g, b, 255],
            [r, g, b, a] => [r, g, b, a],
            _ => unreachable!("chunks of 1 to 4 bytes"),
        });
    }
    Ok(image_of(source, width, height, rgba8, header.level_count != 1))
}

/// Exactly `wanted` bytes of the largest level.
fn ktx2_level0(source: &Encoded, header: &Header, wanted: usize, budget: &mut Budget) -> Result<Vec<u8>> {
    let index = source.bytes.get(Header::LENGTH..).and_then(|b| b.first_chunk());
    let level = LevelIndex::from_bytes(index.ok_or_else(|| source.bad("the KTX2 level index is cut off"))?);
    let start = usize::try_from(level.byte_offset).ok();
    let end = level.byte_offset.checked_add(level.byte_length).and_then(|end| usize::try_from(end).ok());
    let stored = start.zip(end).and_then(|(start, end)| source.bytes.get(start..end));
    let stored = stored.ok_or_else(|| source.bad("level 0 lies outside of the file"))?;
    budget.bytes(wanted as u64, source.path)?;
    let data = match header.supercompression_scheme {
        None => stored.get(..wanted).map(<[u8]>::to_vec).unwrap_or_default(),
        Some(SupercompressionScheme::Zstandard) => {
            let decoder = ruzstd::decoding::StreamingDecoder::new(stored).map_err(|e| source.bad(e.to_string()))?;
            let mut out = Vec::new();
            decoder.take(wanted as u64).read_to_end(&mut out).map_err(|e| source.bad(e.to_string()))?;
            out
        }
        Some(other) => return Err(source.bad(format!("KTX2 supercompression {other:?} is not supported"))),
    };
    if data.len() == wanted { Ok(data) } else { Err(source.bad("level 0 holds too few bytes")) }
}
