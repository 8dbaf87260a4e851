//! The renderer's WGSL, put together from parts, compiled for a device.

use rhizo_rhi::{Device, Function, ShaderTarget};
use rhizo_shader::{Module, Source};

use super::error::RenderError;

const BRDF: &str = include_str!("../shaders/brdf.wgsl");
const CUBE: &str = include_str!("../shaders/cube.wgsl");
const FRAME: &str = include_str!("../shaders/frame.wgsl");
const MATERIAL: &str = include_str!("../shaders/material.wgsl");

/// A WGSL module of the renderer: its name, and the parts it is joined from.
struct Parts {
    label: &'static str,
    parts: &'static [&'static str],
}

const PBR: Parts = Parts { label: "pbr", parts: &[BRDF, FRAME, MATERIAL, include_str!("../shaders/pbr.wgsl")] };
const SHADOW: Parts = Parts { label: "shadow", parts: &[FRAME, MATERIAL, include_str!("../shaders/shadow.wgsl")] };
const SKY: Parts = Parts { label: "sky", parts: &[FRAME, include_str!("../shaders/sky.wgsl")] };
const POST: Parts = Parts { label: "post", parts: &[include_str!("../shaders/post.wgsl")] };
const EQUIRECT: Parts = Parts { label: "equirect", parts: &[BRDF, CUBE, include_str!("../shaders/equirect.wgsl")] };
const IRRADIANCE: Parts =
    Parts { label: "irradiance", parts: &[BRDF, CUBE, include_str!("../shaders/irradiance.wgsl")] };
const PREFILTER: Parts = Parts { label: "prefilter", parts: &[BRDF, CUBE, include_str!("../shaders/prefilter.wgsl")] };
const SPLIT_SUM: Parts = Parts { label: "split-sum", parts: &[BRDF, include_str!("../shaders/split_sum.wgsl")] };

impl Parts {
    /// Compiles entry points for a device, in order.
    fn functions<const N: usize>(&self, device: &Device, entries: [&str; N]) -> Result<[Function; N], RenderError> {
        let artifacts = self.artifacts(device.shader_target(), entries)?;
        let functions: Result<Vec<Function>, rhizo_rhi::Error> =
            artifacts.iter().map(|artifact| device.create_function(artifact)).collect();
        Ok(functions?.try_into().expect("one function per entry point"))
    }

    fn artifacts<const N: usize>(
        &self,
        target: ShaderTarget,
        entries: [&str; N],
    ) -> Result<Vec<rhizo_rhi::ShaderArtifact>, RenderError> {
        let text = self.parts.join("\n");
        let module = Module::parse(&Source::wgsl(self.label, &text))?;
        entries.iter().map(|entry| Ok(module.compile(*entry, target)?)).collect()
    }
}

/// The functions that draw.
pub(super) struct DrawShaders {
    pub(super) vertex: Function,
    pub(super) fragment: Function,
    pub(super) shadow_vertex: Function,
    pub(super) shadow_mask: Function,
    pub(super) sky_vertex: Function,
    pub(super) sky_fragment: Function,
    pub(super) post_vertex: Function,
    pub(super) post_fragment: Function,
}

impl DrawShaders {
    pub(super) fn new(device: &Device) -> Result<Self, RenderError> {
        let [vertex, fragment] = PBR.functions(device, ["vertex", "fragment"])?;
        let [shadow_vertex, shadow_mask] = SHADOW.functions(device, ["shadow_vertex", "shadow_mask"])?;
        let [sky_vertex, sky_fragment] = SKY.functions(device, ["sky_vertex", "sky_fragment"])?;
        let [post_vertex, post_fragment] = POST.functions(device, ["post_vertex", "post_fragment"])?;
        Ok(Self { vertex, fragment, shadow_vertex, shadow_mask, sky_vertex, sky_fragment, post_vertex, post_fragment })
    }
}

/// The functions that make environments.
pub(super) struct EnvironmentShaders {
    pub(super) to_cube: Function,
    pub(super) moments: Function,
    pub(super) irradiance: Function,
    pub(super) prefilter: Function,
    pub(super) split_sum: Function,
}

impl EnvironmentShaders {
    pub(super) fn new(device: &Device) -> Result<Self, RenderError> {
        let [to_cube] = EQUIRECT.functions(device, ["equirect_to_cube"])?;
        let [moments, irradiance] = IRRADIANCE.functions(device, ["moments", "irradiance"])?;
        let [prefilter] = PREFILTER.functions(device, ["prefilter"])?;
        let [split_sum] = SPLIT_SUM.functions(device, ["integrate_split_sum"])?;
        Ok(Self { to_cube, moments, irradiance, prefilter, split_sum })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [(&Parts, &[&str]); 8] = [
        (&PBR, &["vertex", "fragment"]),
        (&SHADOW, &["shadow_vertex", "shadow_mask"]),
        (&SKY, &["sky_vertex", "sky_fragment"]),
        (&POST, &["post_vertex", "post_fragment"]),
        (&EQUIRECT, &["equirect_to_cube"]),
        (&IRRADIANCE, &["moments", "irradiance"]),
        (&PREFILTER, &["prefilter"]),
        (&SPLIT_SUM, &["integrate_split_sum"]),
    ];

    #[test]
    fn every_shader_is_valid_and_compiles_to_spirv_and_wgsl() {
        for (parts, entries) in ALL {
            for target in [ShaderTarget::Spirv { version: (1, 5) }, ShaderTarget::Wgsl] {
                for entry in entries {
                    let artifacts = parts.artifacts(target, [entry]).unwrap_or_else(|e| panic!("{}: {e}", parts.label));
                    assert_eq!(artifacts.len(), 1);
                }
            }
        }
    }

    #[test]
    fn push_constants_and_tables_fit_every_device() {
        for (parts, entries) in ALL {
            for entry in entries {
                let artifacts = parts.artifacts(ShaderTarget::Spirv { version: (1, 5) }, [entry]).unwrap();
                let interface = artifacts[0].interface();
                assert!(interface.push_constant_size <= 128, "{entry}: {}", interface.push_constant_size);
                assert!(
                    interface.bindings.iter().all(|b| b.group == 1 || b.group == 2),
                    "{entry}: spaces 1 and 2 only"
                );
                let textures =
                    interface.bindings.iter().filter(|b| matches!(b.kind, rhizo_rhi::BindingKind::Texture { .. }));
                assert!(textures.count() <= 16, "{entry}: sampled textures");
            }
        }
    }
}
