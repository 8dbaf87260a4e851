//! Picture comparison by FLIP, the perceptual error of Andersson et al., "FLIP: A Difference Evaluator for Alternating
//! Images" (HPG 2020), as implemented by its authors (`nv-flip`). Colours are sRGB, 8 bits a channel, no alpha.

use std::env;
use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use image::{ImageFormat, RgbImage};

use crate::flip_report::{FlipResult, check_name, write_index, write_result, write_whole};
use crate::paths;

/// Environment variable that, set to `1`, makes [`Report::check_golden`] replace references instead of comparing.
pub const BLESS_VARIABLE: &str = "RHIZO_BLESS";

/// What comparing two pictures gave.
pub struct Comparison {
    /// Mean FLIP error over all pixels, 0 (equal) to 1.
    pub mean: f32,
    /// Largest error of a pixel, 0 to 1.
    pub max: f32,
    /// The error of each pixel in the magma colour map: black is equal.
    pub difference: RgbImage,
}

/// Compares two pictures of equal size, seen at FLIP's default 67 pixels per degree.
///
/// # Errors
/// Different sizes, or an empty picture.
pub fn compare(reference: &RgbImage, picture: &RgbImage) -> Result<Comparison, String> {
    let (width, height) = reference.dimensions();
    if picture.dimensions() != (width, height) {
        let (w, h) = picture.dimensions();
        return Err(format!("sizes differ: the reference is {width}x{height}, the picture {w}x{h}"));
    }
    if width == 0 || height == 0 {
        return Err(format!("an empty picture ({width}x{height}) cannot be compared"));
    }
    let side = |image: &RgbImage| nv_flip::FlipImageRgb8::with_data(width, height, image.as_raw());
    let errors = nv_flip::flip(side(reference), side(picture), nv_flip::DEFAULT_PIXELS_PER_DEGREE);
    let mean = nv_flip::FlipPool::from_image(&errors).mean();
    let max = errors.to_vec().into_iter().fold(0.0, f32::max); // the pool's own maximum is never quite 0
    let colours = errors.apply_color_lut(&nv_flip::magma_lut()).to_vec();
    let difference = RgbImage::from_raw(width, height, colours)
        .ok_or_else(|| format!("the difference map is not {width}x{height}"))?;
    Ok(Comparison { mean, max, difference })
}

/// Reads a picture as RGB8; alpha is dropped.
///
/// # Errors
/// Unreadable or not a picture, with the path.
pub fn load_rgb8(path: &Path) -> Result<RgbImage, String> {
    image::open(path).map(|image| image.into_rgb8()).map_err(|error| format!("{}: {error}", path.display()))
}

/// Writes a PNG whole or not at all.
///
/// # Errors
/// What encoder or file system says, with the path.
pub fn save_png(path: &Path, picture: &RgbImage) -> Result<(), String> {
    let mut bytes = Cursor::new(Vec::new());
    picture.write_to(&mut bytes, ImageFormat::Png).map_err(|error| format!("{}: {error}", path.display()))?;
    write_whole(path, bytes.get_ref())
}

/// A folder that collects comparisons.
pub struct Report {
    folder: PathBuf,
}

impl Report {
    /// The workspace's report, `out/flip`.
    pub fn of_workspace() -> Report {
        Report::at(paths::out_dir().join("flip"))
    }

    /// A report in the given folder, made when the first comparison is recorded.
    pub fn at(folder: PathBuf) -> Report {
        Report { folder }
    }

    /// Compares, and leaves both pictures, their difference map and the numbers in the report.
    ///
    /// # Errors
    /// A name that [`check_name`] refuses, pictures that cannot be compared, or what the file system says. A mean above
    /// the limit is no error here: ask [`FlipResult::passes`].
    pub fn record(
        &self,
        name: &str,
        reference: &RgbImage,
        picture: &RgbImage,
        limit: f64,
    ) -> Result<FlipResult, String> {
        check_name(name)?;
        let compared = compare(reference, picture).map_err(|error| format!("{name}: {error}"))?;
        let place = self.folder.join(name);
        fs::create_dir_all(&place).map_err(|error| format!("{}: {error}", place.display()))?;
        save_png(&place.join("reference.png"), reference)?;
        save_png(&place.join("picture.png"), picture)?;
        save_png(&place.join("difference.png"), &compared.difference)?;
        let (mean, max) = (f64::from(compared.mean), f64::from(compared.max));
        let result = FlipResult { name: name.into(), mean, max, limit };
        write_result(&self.folder, &result)?;
        write_index(&self.folder)?;
        Ok(result)
    }

    /// Compares a picture with a golden file and fails above the limit. With `RHIZO_BLESS=1` the golden file is
    /// replaced by the picture instead.
    ///
    /// # Errors
    /// As [`Report::record`]; a missing golden file; a mean above the limit, with the report's place.
    pub fn check_golden(
        &self,
        name: &str,
        golden: &Path,
        picture: &RgbImage,
        limit: f64,
    ) -> Result<FlipResult, String> {
        if env::var_os(BLESS_VARIABLE).is_some_and(|value| value == "1") {
            save_png(golden, picture)?;
            eprintln!("blessed: {}", golden.display());
        }
        let reference = load_rgb8(golden)?;
        let result = self.record(name, &reference, picture, limit)?;
        if result.passes() {
            return Ok(result);
        }
        let page = self.folder.join("index.html");
        Err(format!("{name}: mean FLIP {:.4} is above {limit}; see {}", result.mean, page.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::Rgb;

    fn checkers(a: u8, b: u8) -> RgbImage {
        RgbImage::from_fn(32, 24, |x, y| Rgb([if (x / 4 + y / 4) % 2 == 0 { a } else { b }; 3]))
    }

    #[test]
    fn equal_pictures_differ_by_nothing_and_opposite_ones_by_much() {
        let same = compare(&checkers(0, 255), &checkers(0, 255)).unwrap();
        assert_eq!((same.mean, same.max), (0.0, 0.0));
        assert!(same.difference.pixels().all(|pixel| *pixel == same.difference[(0, 0)]));
        let near = compare(&checkers(0, 255), &checkers(8, 247)).unwrap();
        let far = compare(&checkers(0, 0), &checkers(255, 255)).unwrap();
        assert!(0.0 < near.mean && near.mean < far.mean / 4.0, "{} {}", near.mean, far.mean);
        assert!(far.mean > 0.5, "{}", far.mean);
    }

    #[test]
    fn other_sizes_and_empty_pictures_are_errors() {
        let error = |a: &RgbImage, b: &RgbImage| compare(a, b).err().unwrap();
        assert!(error(&checkers(0, 9), &RgbImage::new(3, 24)).contains("32x24, the picture 3x24"));
        assert!(error(&RgbImage::new(0, 0), &RgbImage::new(0, 0)).contains("empty"));
    }

    #[test]
    fn the_report_holds_pictures_numbers_and_page_and_golden_checks_fail_above_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let report = Report::at(folder.path().join("flip"));
        let golden = folder.path().join("golden.png");
        assert!(report.check_golden("one", &golden, &checkers(0, 255), 0.01).unwrap_err().contains("golden.png"));
        save_png(&golden, &checkers(0, 255)).unwrap();
        assert!(report.check_golden("one", &golden, &checkers(0, 255), 0.01).unwrap().passes());
        let error = report.check_golden("two", &golden, &checkers(255, 0), 0.01).unwrap_err();
        assert!(error.contains("is above 0.01"), "{error}");
        for file in ["one/reference.png", "two/picture.png", "two/difference.png", "index.html"] {
            assert!(folder.path().join("flip").join(file).is_file(), "{file}");
        }
    }
}
