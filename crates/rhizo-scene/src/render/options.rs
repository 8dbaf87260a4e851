//! What a picture is asked for with.

use std::str::FromStr;

use glam::Vec3;

use super::error::RenderError;

/// How linear radiance becomes a displayable colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ToneMapping {
    /// Clamped to 0..1, as the reference pictures are.
    Clamp,
    /// Khronos PBR Neutral: base colours survive, highlights are compressed.
    #[default]
    Neutral,
    /// Narkowicz's fit of the ACES reference transform: filmic contrast.
    Aces,
}

impl ToneMapping {
    /// The number the shader knows it by.
    pub(super) const fn code(self) -> u32 {
        match self {
            Self::Clamp => 0,
            Self::Neutral => 1,
            Self::Aces => 2,
        }
    }
}

/// What is seen where nothing is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Background {
    /// The environment.
    #[default]
    Environment,
    /// A constant linear colour.
    Constant(Vec3),
}

/// Which punctual lights shine.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Lights {
    /// The scene's own.
    #[default]
    Scene,
    /// None.
    Off,
    /// One white directional light, whatever the scene has.
    Directional {
        /// From the surface towards the light; need not be a unit vector.
        direction: Vec3,
        /// Irradiance of a surface that faces it.
        irradiance: f32,
    },
}

/// Directional light of the reference pictures: from the surface towards it.
pub const REFERENCE_LIGHT: Vec3 = Vec3::new(0.4, 0.8, 0.45);
/// Linear background of the reference pictures.
pub const REFERENCE_BACKGROUND: f32 = 0.18;
/// Radiance from everywhere in the set-up with a directional light.
pub const REFERENCE_AMBIENT: f32 = 0.25;

/// The renderer that made the reference pictures reads a split-sum table of 16 x 16 texels at `(roughness, N.V)`, so
/// roughness 1 reads the centre of the last texel, which holds roughness 31/32. The reference presets do the same, so
/// that a comparison shows other differences; without it rough white metals are 7 % darker, as they should be.
pub const REFERENCE_SPLIT_SUM_MARGIN: f32 = 1.0 / 32.0;

/// A whole set-up by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Preset {
    /// The scene's lights with shadows, the environment visible, tone mapping.
    #[default]
    Default,
    /// One directional light of irradiance pi and a uniform environment of radiance 0.25; no shadows; clamped.
    ReferenceLit,
    /// An environment alone; clamped.
    ReferenceEnv,
}

impl Preset {
    /// Name on command lines.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::ReferenceLit => "reference-lit",
            Self::ReferenceEnv => "reference-env",
        }
    }

    /// The options it stands for, for a picture of 512 x 512.
    #[must_use]
    pub fn options(self) -> RenderOptions {
        let base = RenderOptions::default();
        let reference = RenderOptions {
            tone_mapping: ToneMapping::Clamp,
            background: Background::Constant(Vec3::splat(REFERENCE_BACKGROUND)),
            lights: Lights::Off,
            shadow_size: 0,
            split_sum_margin: REFERENCE_SPLIT_SUM_MARGIN,
            ..base
        };
        match self {
            Self::Default => base,
            Self::ReferenceEnv => reference,
            Self::ReferenceLit => RenderOptions {
                lights: Lights::Directional { direction: REFERENCE_LIGHT, irradiance: std::f32::consts::PI },
                ..reference
            },
        }
    }
}

impl FromStr for Preset {
    type Err = RenderError;

    fn from_str(text: &str) -> Result<Self, RenderError> {
        let all = [Self::Default, Self::ReferenceLit, Self::ReferenceEnv];
        all.into_iter().find(|preset| preset.name() == text).ok_or_else(|| RenderError::Option {
            option: "preset",
            value: text.to_owned(),
            reason: format!("one of {}", all.map(Self::name).join(", ")),
        })
    }
}

/// How a scene is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RenderOptions {
    /// Texels per row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Samples per texel of the colour and depth targets: 1, 2, 4 or 8.
    pub samples: u32,
    /// Multiplies linear radiance before tone mapping.
    pub exposure: f32,
    /// Tone mapping.
    pub tone_mapping: ToneMapping,
    /// Background.
    pub background: Background,
    /// Punctual lights.
    pub lights: Lights,
    /// Multiplies the environment's light.
    pub environment_intensity: f32,
    /// Texels along the shadow map; 0 turns shadows off.
    pub shadow_size: u32,
    /// How far lookups into the split-sum table stay away from its edges, 0..=0.5; 0 is exact.
    /// See [`REFERENCE_SPLIT_SUM_MARGIN`].
    pub split_sum_margin: f32,
}

impl Default for RenderOptions {
    fn default() -> Self {
        Self {
            width: 512,
            height: 512,
            samples: 4,
            exposure: 1.0,
            tone_mapping: ToneMapping::default(),
            background: Background::default(),
            lights: Lights::default(),
            environment_intensity: 1.0,
            shadow_size: 2048,
            split_sum_margin: 0.0,
        }
    }
}

impl RenderOptions {
    /// Checks what no device could do.
    ///
    /// # Errors
    /// [`RenderError::Option`] naming the first option out of range.
    pub fn check(&self) -> Result<(), RenderError> {
        let bad =
            |option, value: String, reason: &str| Err(RenderError::Option { option, value, reason: reason.to_owned() });
        if self.width == 0 || self.height == 0 {
            return bad("size", format!("{}x{}", self.width, self.height), "both at least 1");
        }
        if !matches!(self.samples, 1 | 2 | 4 | 8) {
            return bad("samples", self.samples.to_string(), "1, 2, 4 or 8");
        }
        for (option, value) in [("exposure", self.exposure), ("environment intensity", self.environment_intensity)] {
            if !value.is_finite() || value < 0.0 {
                return bad(option, value.to_string(), "a finite number, not negative");
            }
        }
        if !(0.0..=0.5).contains(&self.split_sum_margin) {
            return bad("split-sum margin", self.split_sum_margin.to_string(), "0 to 0.5");
        }
        if let Lights::Directional { direction, irradiance } = self.lights {
            let sane = direction.is_finite() && direction.length_squared() > 0.0 && irradiance >= 0.0;
            if !sane || !irradiance.is_finite() {
                return bad("light", format!("{irradiance} from {direction}"), "a direction and an irradiance >= 0");
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_have_names_that_parse() {
        for preset in [Preset::Default, Preset::ReferenceLit, Preset::ReferenceEnv] {
            assert_eq!(preset.name().parse::<Preset>().unwrap(), preset);
            preset.options().check().unwrap();
        }
        let error = "lit".parse::<Preset>().unwrap_err().to_string();
        assert!(error.contains("reference-lit"), "{error}");
    }

    #[test]
    fn options_out_of_range_are_named() {
        let base = RenderOptions::default();
        let bad = [
            (RenderOptions { width: 0, ..base }, "size"),
            (RenderOptions { samples: 3, ..base }, "samples"),
            (RenderOptions { exposure: f32::NAN, ..base }, "exposure"),
            (RenderOptions { environment_intensity: -1.0, ..base }, "environment intensity"),
            (RenderOptions { lights: Lights::Directional { direction: Vec3::ZERO, irradiance: 1.0 }, ..base }, "light"),
        ];
        for (options, name) in bad {
            let error = options.check().unwrap_err().to_string();
            assert!(error.starts_with(name), "{error}");
        }
    }
}
