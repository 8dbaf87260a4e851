//! Pictures: of the example against a golden file and across backends, of the demo against golden files, and of the
//! shared assets beside those of an independent renderer.
//!
//! Differences are in `out/flip/index.html`. `RHIZO_BLESS=1` writes the golden files anew: look at what changed.

mod demo;
pub(crate) mod hello;
mod reference;

use image::{RgbImage, RgbaImage};
use std::path::PathBuf;

/// A golden picture or text of this package.
pub(crate) fn golden_file(name: &str) -> PathBuf {
    rhizo_testkit::paths::workspace_dir().join("tests/golden/images").join(name)
}

/// Whether golden files are to be written.
fn blessing() -> bool {
    std::env::var_os(rhizo_testkit::flip::BLESS_VARIABLE).is_some_and(|value| value == "1")
}

/// RGBA rows as the comparison wants them. All our pictures are opaque; one that is not is a fault.
pub(crate) fn opaque(width: u32, height: u32, rgba8: Vec<u8>) -> RgbImage {
    assert!(rgba8.chunks_exact(4).all(|texel| texel[3] == 255), "a texel is not opaque");
    let picture = RgbaImage::from_raw(width, height, rgba8).expect("width x height texels of four bytes");
    image::DynamicImage::ImageRgba8(picture).into_rgb8()
}
