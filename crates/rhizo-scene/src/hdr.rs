//! Environments as equirectangular images of linear radiance: Radiance files, or an analytic sky.
//!
//! A unit direction d and image coordinates belong together as
//! `u = 0.5 + atan2(d.z, d.x) / 2 pi`, `v = 0.5 - asin(d.y) / pi`, u to the right, v down from the top row:
//! the centre of the image is +X, the top row +Y.

use std::f32::consts::{PI, TAU};
use std::fs::File;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use glam::{Vec2, Vec3};
use image::ImageDecoder;
use image::codecs::hdr::HdrDecoder;

/// Linear RGB radiance from all directions.
#[derive(Debug, Clone, PartialEq)]
pub struct Equirect {
    /// Texels per row, the full circle.
    pub width: u32,
    /// Rows, from +Y down to -Y.
    pub height: u32,
    /// Rows from the top: `width * height` texels; Rec. 709 primaries.
    pub rgb: Vec<[f32; 3]>,
}

impl Equirect {
    /// The direction of a texel's centre.
    #[must_use]
    pub fn direction(&self, x: u32, y: u32) -> Vec3 {
        direction_of(Vec2::new((x as f32 + 0.5) / self.width as f32, (y as f32 + 0.5) / self.height as f32))
    }

    /// The solid angle of a texel in row `y`, steradians; over all texels they add up to 4 pi.
    #[must_use]
    pub fn solid_angle(&self, y: u32) -> f32 {
        let edge = |row: u32| (PI * row as f32 / self.height as f32).cos();
        (edge(y) - edge(y + 1)) * TAU / self.width as f32
    }

    /// The texel a direction falls into.
    #[must_use]
    pub fn texel(&self, direction: Vec3) -> [f32; 3] {
        let uv = uv_of(direction);
        let x = ((uv.x * self.width as f32) as u32).min(self.width - 1);
        let y = ((uv.y * self.height as f32) as u32).min(self.height - 1);
        self.rgb[y as usize * self.width as usize + x as usize]
    }
}

/// Image coordinates (0..1) to a unit direction.
#[must_use]
pub fn direction_of(uv: Vec2) -> Vec3 {
    let (sin_lon, cos_lon) = ((uv.x - 0.5) * TAU).sin_cos();
    let (sin_lat, cos_lat) = ((0.5 - uv.y) * PI).sin_cos();
    Vec3::new(cos_lat * cos_lon, sin_lat, cos_lat * sin_lon)
}

/// A direction (need not be a unit vector) to image coordinates (0..1).
#[must_use]
pub fn uv_of(direction: Vec3) -> Vec2 {
    let d = direction.normalize_or(Vec3::X);
    Vec2::new(0.5 + d.z.atan2(d.x) / TAU, 0.5 - d.y.clamp(-1.0, 1.0).asin() / PI)
}

/// An environment that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {reason}", file.display())]
pub struct EnvironmentError {
    /// The file.
    pub file: PathBuf,
    /// Why.
    pub reason: EnvironmentReason,
}

/// Why an environment could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EnvironmentReason {
    /// The file could not be read.
    #[error("cannot be read: {0}")]
    Io(String),
    /// The file is no valid Radiance picture.
    #[error("not a valid Radiance HDR picture: {0}")]
    Damaged(String),
    /// The file or picture is larger than allowed.
    #[error("{what} is {found}, over the limit of {limit}")]
    Limit {
        /// What is limited.
        what: &'static str,
        /// What the file has.
        found: u64,
        /// The limit.
        limit: u64,
    },
}

/// Largest file that is read, bytes.
pub const MAX_FILE_BYTES: u64 = 1 << 30;
/// Largest picture that is decoded, texels (16384 x 8192).
pub const MAX_TEXELS: u64 = 1 << 27;

/// Loads a Radiance `.hdr` picture. Values are taken as stored (1.0 is radiance 1.0); EXPOSURE, GAMMA and PRIMARIES
/// lines are ignored.
///
/// # Errors
/// [`EnvironmentError`] for what cannot be read, is damaged or too large; sizes are checked before allocation.
pub fn load(file: &Path) -> Result<Equirect, EnvironmentError> {
    read(file).and_then(|bytes| decode(&bytes)).map_err(|reason| EnvironmentError { file: file.to_owned(), reason })
}

fn read(file: &Path) -> Result<Vec<u8>, EnvironmentReason> {
    let io = |e: std::io::Error| EnvironmentReason::Io(e.to_string());
    let metadata = std::fs::metadata(file).map_err(io)?;
    if !metadata.is_file() {
        return Err(EnvironmentReason::Io("not a regular file".to_owned()));
    }
    if metadata.len() > MAX_FILE_BYTES {
        return Err(EnvironmentReason::Limit { what: "the file", found: metadata.len(), limit: MAX_FILE_BYTES });
    }
    let mut bytes = Vec::new();
    File::open(file).and_then(|f| f.take(MAX_FILE_BYTES).read_to_end(&mut bytes)).map_err(io)?;
    Ok(bytes)
}

/// Decodes a Radiance picture from memory.
///
/// # Errors
/// As [`load`].
pub fn decode(bytes: &[u8]) -> Result<Equirect, EnvironmentReason> {
    let damaged = |e: image::ImageError| EnvironmentReason::Damaged(e.to_string());
    let decoder = HdrDecoder::new(Cursor::new(bytes)).map_err(damaged)?;
    let (width, height) = decoder.dimensions();
    let texels = u64::from(width) * u64::from(height);
    if texels > MAX_TEXELS {
        return Err(EnvironmentReason::Limit { what: "the number of texels", found: texels, limit: MAX_TEXELS });
    }
    if texels == 0 {
        return Err(EnvironmentReason::Damaged("it has no texels".to_owned()));
    }
    // Run-length coding stores at least 4 bytes for 127 texels, so a larger claim than this is a lie.
    if texels > (bytes.len() as u64).saturating_mul(128) {
        return Err(EnvironmentReason::Damaged(format!(
            "{width} x {height} texels cannot be in {} bytes",
            bytes.len()
        )));
    }
    let mut raw = vec![0u8; texels as usize * 12];
    decoder.read_image(&mut raw).map_err(damaged)?;
    let float = |b: &[u8; 4]| f32::from_ne_bytes(*b);
    let texel = |t: &[u8; 12]| {
        let channels = t.as_chunks::<4>().0;
        [float(&channels[0]), float(&channels[1]), float(&channels[2])]
    };
    let rgb: Vec<[f32; 3]> = raw.as_chunks::<12>().0.iter().map(texel).collect();
    if rgb.iter().flatten().any(|v| !v.is_finite()) {
        return Err(EnvironmentReason::Damaged("a texel is not finite".to_owned()));
    }
    Ok(Equirect { width, height, rgb })
}

/// A clear sky from a few numbers: no physical model, but smooth, bright above and cheap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sky {
    /// Radiance straight up.
    pub zenith: Vec3,
    /// Radiance at the horizon.
    pub horizon: Vec3,
    /// Radiance from the ground.
    pub ground: Vec3,
    /// Towards the sun; need not be a unit vector.
    pub sun_direction: Vec3,
    /// Colour of the sun and of the glow around it.
    pub sun_color: Vec3,
    /// Irradiance of the disc on a surface facing it. Zero when a directional light plays the sun.
    pub sun_irradiance: f32,
    /// Angular radius of the disc, radians. Larger than the real 0.0047, so that a small image can hold it.
    pub sun_radius: f32,
    /// Radiance of the glow next to the disc.
    pub glow: f32,
}

impl Default for Sky {
    /// A late morning.
    fn default() -> Self {
        Self {
            zenith: Vec3::new(0.10, 0.24, 0.58),
            horizon: Vec3::new(0.62, 0.74, 0.88),
            ground: Vec3::new(0.27, 0.31, 0.37),
            sun_direction: Vec3::new(0.4, 0.8, 0.45),
            sun_color: Vec3::new(1.0, 0.93, 0.82),
            sun_irradiance: PI,
            sun_radius: 0.03,
            glow: 0.9,
        }
    }
}

impl Sky {
    /// Radiance from a unit direction, without the disc.
    #[must_use]
    pub fn radiance(&self, direction: Vec3) -> Vec3 {
        let up = direction.y;
        // The square root gathers the gradient at the horizon, where the air is thick.
        let sky = self.horizon.lerp(self.zenith, up.max(0.0).sqrt());
        let ground = self.ground.lerp(self.horizon * 0.6, (1.0 + up.min(0.0)).powi(24));
        let above = smoothstep(-0.02, 0.02, up);
        let toward_sun = direction.dot(self.sun_direction.normalize_or(Vec3::Y)).max(0.0);
        let glow = self.sun_color * self.glow * (toward_sun.powi(8) * 0.15 + toward_sun.powi(256)) * above;
        ground.lerp(sky, above) + glow
    }

    /// The sky as an image. The disc's irradiance is exact at any resolution: it is spread over the texels it meets.
    #[must_use]
    pub fn equirect(&self, width: u32, height: u32) -> Equirect {
        let (width, height) = (width.max(1), height.max(1));
        let mut out = Equirect { width, height, rgb: Vec::with_capacity(width as usize * height as usize) };
        let sun = self.sun_direction.normalize_or(Vec3::Y);
        let mut disc = Vec::new();
        let mut disc_area = 0.0;
        let radius = self.sun_radius.max(PI / height as f32);
        for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
            let direction = out.direction(x, y);
            let angle = direction.angle_between(sun);
            let weight = 1.0 - smoothstep(radius * 0.8, radius * 1.2, angle);
            if weight > 0.0 && self.sun_irradiance > 0.0 {
                disc.push((out.rgb.len(), weight));
                disc_area += weight * out.solid_angle(y) * direction.dot(sun).max(0.0);
            }
            out.rgb.push(self.radiance(direction).to_array());
        }
        for (at, weight) in disc {
            let radiance = self.sun_color * (self.sun_irradiance * weight / disc_area);
            out.rgb[at] = (Vec3::from(out.rgb[at]) + radiance).to_array();
        }
        out
    }
}

fn smoothstep(low: f32, high: f32, x: f32) -> f32 {
    let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_and_coordinates_are_inverse() {
        let centre = |x: f32, y: f32| direction_of(Vec2::new(x, y));
        assert!(centre(0.5, 0.5).abs_diff_eq(Vec3::X, 1e-6));
        assert!(centre(0.75, 0.5).abs_diff_eq(Vec3::Z, 1e-6));
        assert!(centre(0.25, 0.5).abs_diff_eq(-Vec3::Z, 1e-6));
        assert!(centre(0.3, 0.0).abs_diff_eq(Vec3::Y, 1e-6));
        for d in [Vec3::new(0.3, -0.5, 0.8), Vec3::new(-0.9, 0.1, -0.2)] {
            assert!(direction_of(uv_of(d)).abs_diff_eq(d.normalize(), 1e-6));
        }
    }

    #[test]
    fn the_sun_keeps_its_irradiance_at_any_size() {
        let sky = Sky { zenith: Vec3::ZERO, horizon: Vec3::ZERO, ground: Vec3::ZERO, glow: 0.0, ..Sky::default() };
        let sun = sky.sun_direction.normalize();
        for (width, height) in [(16, 8), (128, 64), (1024, 512)] {
            let image = sky.equirect(width, height);
            let mut irradiance = 0.0;
            for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
                let red = image.rgb[(y * width + x) as usize][0];
                irradiance += red * image.solid_angle(y) * image.direction(x, y).dot(sun).max(0.0);
            }
            assert!((irradiance - PI).abs() < 1e-3, "{width}: {irradiance}");
        }
    }

    #[test]
    fn solid_angles_cover_the_sphere() {
        let image = Sky::default().equirect(64, 32);
        let total: f32 = (0..32).map(|y| image.solid_angle(y) * 64.0).sum();
        assert!((total - 4.0 * PI).abs() < 1e-4, "{total}");
    }

    #[test]
    fn damaged_pictures_are_typed_errors() {
        assert!(matches!(decode(b""), Err(EnvironmentReason::Damaged(_))));
        assert!(matches!(decode(b"#?RADIANCE\n\n-Y 2 +X 2\n"), Err(EnvironmentReason::Damaged(_))));
        let huge = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 60000 +X 60000\n";
        assert!(matches!(decode(huge), Err(EnvironmentReason::Limit { .. })), "{:?}", decode(huge));
        let lie = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 8000 +X 8000\n";
        assert!(matches!(decode(lie), Err(EnvironmentReason::Damaged(_))));
        let missing = load(Path::new("/nonexistent/sky.hdr")).unwrap_err();
        assert!(matches!(missing.reason, EnvironmentReason::Io(_)), "{missing}");
    }
}
