//! A picture of a scene in one call: preset, camera and environment put together.

use std::borrow::Cow;

use glam::Vec3;

use super::error::RenderError;
use super::options::{Lights, Preset, REFERENCE_AMBIENT, RenderOptions};
use super::renderer::{Picture, SceneRenderer};
use crate::camera::CameraChoice;
use crate::hdr::{Equirect, Sky};
use crate::scene::{LightKind, Scene};

/// Size of the sky's image, texels.
const SKY_SIZE: (u32, u32) = (1024, 512);
/// Samples along the axis of anisotropy of trilinear textures. The reference pictures have none.
const ANISOTROPY: u32 = 8;

/// What a picture is asked for with.
#[derive(Debug, Clone)]
pub struct PictureOptions {
    /// The set-up.
    pub preset: Preset,
    /// Texels per row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Samples per texel: 1, 2, 4 or 8.
    pub samples: u32,
    /// The camera; reference presets frame the scene whatever cameras it has, unless an orbit or name is given.
    pub camera: CameraChoice,
    /// The environment; `None` is the preset's own.
    pub environment: Option<Equirect>,
    /// Multiplies linear radiance before tone mapping.
    pub exposure: f32,
}

impl Default for PictureOptions {
    fn default() -> Self {
        let RenderOptions { width, height, samples, exposure, .. } = RenderOptions::default();
        let (preset, camera, environment) = (Preset::default(), CameraChoice::default(), None);
        Self { preset, width, height, samples, camera, environment, exposure }
    }
}

impl PictureOptions {
    /// How the scene is drawn. Without an environment of its own, a scene without lights gets the sky's sun.
    #[must_use]
    pub fn render_options(&self, scene: &Scene) -> RenderOptions {
        let base = self.preset.options();
        let sun = self.preset == Preset::Default && self.environment.is_none() && !has_lights(scene);
        let sky = Sky::default();
        let lights = if sun {
            Lights::Directional { direction: sky.sun_direction, irradiance: sky.sun_irradiance }
        } else {
            base.lights
        };
        let Self { width, height, samples, exposure, .. } = *self;
        RenderOptions { width, height, samples, exposure, lights, ..base }
    }

    /// The environment's image.
    ///
    /// # Errors
    /// [`RenderError::Option`]: the preset needs an image and none is given.
    pub fn environment_image(&self, scene: &Scene) -> Result<Cow<'_, Equirect>, RenderError> {
        if let Some(image) = &self.environment {
            return Ok(Cow::Borrowed(image));
        }
        match self.preset {
            Preset::Default => Ok(Cow::Owned(sky(scene).equirect(SKY_SIZE.0, SKY_SIZE.1))),
            Preset::ReferenceLit => Ok(Cow::Owned(uniform(REFERENCE_AMBIENT))),
            Preset::ReferenceEnv => Err(RenderError::Option {
                option: "environment",
                value: "none".to_owned(),
                reason: "the preset reference-env is lit by an image alone; give one".to_owned(),
            }),
        }
    }

    /// The camera, with the preset's own in place of an automatic one.
    #[must_use]
    pub fn camera_choice(&self) -> CameraChoice {
        match (self.preset, &self.camera) {
            (Preset::ReferenceLit | Preset::ReferenceEnv, CameraChoice::Auto) => CameraChoice::Framed,
            (_, camera) => camera.clone(),
        }
    }

    /// Samples along the axis of anisotropy of trilinear textures, for [`SceneRenderer::upload`].
    #[must_use]
    pub const fn anisotropy(&self) -> u32 {
        match self.preset {
            Preset::Default => ANISOTROPY,
            Preset::ReferenceLit | Preset::ReferenceEnv => 1,
        }
    }
}

impl SceneRenderer {
    /// Uploads a scene, makes its environment and draws one picture.
    ///
    /// # Errors
    /// [`RenderError`] for options that don't fit the scene or the device, and failures of the device.
    pub fn picture(&mut self, scene: &Scene, options: &PictureOptions) -> Result<Picture, RenderError> {
        let render = options.render_options(scene);
        render.check()?;
        let view = scene.view(&options.camera_choice())?;
        let image = options.environment_image(scene)?;
        let environment = self.environment(&image)?;
        let uploaded = self.upload(scene, options.anisotropy())?;
        self.render(&uploaded, &environment, &view, &render)
    }
}

fn has_lights(scene: &Scene) -> bool {
    scene.nodes.iter().any(|node| node.in_scene && node.light.is_some())
}

/// Towards the first directional light.
fn directional(scene: &Scene) -> Option<Vec3> {
    let is_directional = |i: usize| scene.lights[i].kind == LightKind::Directional;
    let node = scene.nodes.iter().find(|node| node.in_scene && node.light.is_some_and(is_directional))?;
    node.world.z_axis.truncate().try_normalize()
}

/// The sky without the sun's disc, which a directional light plays; its glow stands where that light comes from.
fn sky(scene: &Scene) -> Sky {
    let sky = Sky::default();
    Sky { sun_irradiance: 0.0, sun_direction: directional(scene).unwrap_or(sky.sun_direction), ..sky }
}

/// The same radiance from everywhere.
fn uniform(radiance: f32) -> Equirect {
    let (width, height) = (32, 16);
    Equirect { width, height, rgb: vec![[radiance; 3]; (width * height) as usize] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::procedural;

    #[test]
    fn the_sun_shines_only_where_nothing_else_does() {
        let demo = procedural::demo();
        let options = PictureOptions::default();
        assert_eq!(options.render_options(&demo).lights, Lights::Scene);
        assert!(matches!(options.render_options(&Scene::default()).lights, Lights::Directional { .. }));
        let given = PictureOptions { environment: Some(uniform(1.0)), ..options };
        assert_eq!(given.render_options(&Scene::default()).lights, Lights::Scene, "the image may have its own sun");
    }

    #[test]
    fn a_preset_that_needs_an_image_says_so() {
        let options = PictureOptions { preset: Preset::ReferenceEnv, ..PictureOptions::default() };
        let error = options.environment_image(&Scene::default()).unwrap_err().to_string();
        assert!(error.contains("reference-env"), "{error}");
        assert_eq!(options.camera_choice(), CameraChoice::Framed);
    }
}
