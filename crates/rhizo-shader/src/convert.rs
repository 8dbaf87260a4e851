//! naga's words in ours.

use naga::StorageFormat as N;
use rhizo_rhi::Format;
use rhizo_rhi::{ScalarClass, ShaderStage, ViewDimension};

/// The stage, if it is one whose interface can be stated.
pub(crate) const fn stage(stage: naga::ShaderStage) -> Option<ShaderStage> {
    match stage {
        naga::ShaderStage::Vertex => Some(ShaderStage::Vertex),
        naga::ShaderStage::Fragment => Some(ShaderStage::Fragment),
        naga::ShaderStage::Compute => Some(ShaderStage::Compute),
        naga::ShaderStage::Task
        | naga::ShaderStage::Mesh
        | naga::ShaderStage::RayGeneration
        | naga::ShaderStage::Miss
        | naga::ShaderStage::AnyHit
        | naga::ShaderStage::ClosestHit => None,
    }
}

pub(crate) fn naga_stage(stage: ShaderStage) -> Option<naga::ShaderStage> {
    match stage {
        ShaderStage::Vertex => Some(naga::ShaderStage::Vertex),
        ShaderStage::Fragment => Some(naga::ShaderStage::Fragment),
        ShaderStage::Compute => Some(naga::ShaderStage::Compute),
        // `ShaderStage` is open to new stages; none of them can be parsed here.
        _ => None,
    }
}

/// The scalar class; `None` for what cannot cross a stage boundary.
pub(crate) const fn scalar_class(kind: naga::ScalarKind) -> Option<ScalarClass> {
    match kind {
        naga::ScalarKind::Float => Some(ScalarClass::Float),
        naga::ScalarKind::Sint => Some(ScalarClass::Sint),
        naga::ScalarKind::Uint => Some(ScalarClass::Uint),
        naga::ScalarKind::Bool | naga::ScalarKind::AbstractInt | naga::ScalarKind::AbstractFloat => None,
    }
}

/// The view dimension; `None` for arrays of 1D and 3D textures, which no API but one has.
pub(crate) const fn dimension(dim: naga::ImageDimension, arrayed: bool) -> Option<ViewDimension> {
    match (dim, arrayed) {
        (naga::ImageDimension::D1, false) => Some(ViewDimension::D1),
        (naga::ImageDimension::D2, false) => Some(ViewDimension::D2),
        (naga::ImageDimension::D2, true) => Some(ViewDimension::D2Array),
        (naga::ImageDimension::D3, false) => Some(ViewDimension::D3),
        (naga::ImageDimension::Cube, false) => Some(ViewDimension::Cube),
        (naga::ImageDimension::Cube, true) => Some(ViewDimension::CubeArray),
        (naga::ImageDimension::D1 | naga::ImageDimension::D3, true) => None,
    }
}

/// The texture format of a naga storage format; `None` only for `r64uint`, which is no [`Format`].
pub(crate) const fn storage_format(format: N) -> Option<Format> {
    Some(match format {
        N::R8Unorm => Format::R8Unorm,
        N::R8Snorm => Format::R8Snorm,
        N::R8Uint => Format::R8Uint,
        N::R8Sint => Format::R8Sint,
        N::R16Uint => Format::R16Uint,
        N::R16Sint => Format::R16Sint,
        N::R16Float => Format::R16Float,
        N::Rg8Unorm => Format::Rg8Unorm,
        N::Rg8Snorm => Format::Rg8Snorm,
        N::Rg8Uint => Format::Rg8Uint,
        N::Rg8Sint => Format::Rg8Sint,
        N::R32Uint => Format::R32Uint,
        N::R32Sint => Format::R32Sint,
        N::R32Float => Format::R32Float,
        N::Rg16Uint => Format::Rg16Uint,
        N::Rg16Sint => Format::Rg16Sint,
        N::Rg16Float => Format::Rg16Float,
        N::Rgba8Unorm => Format::Rgba8Unorm,
        N::Rgba8Snorm => Format::Rgba8Snorm,
        N::Rgba8Uint => Format::Rgba8Uint,
        N::Rgba8Sint => Format::Rgba8Sint,
        N::Bgra8Unorm => Format::Bgra8Unorm,
        N::Rgb10a2Uint => Format::Rgb10a2Uint,
        N::Rgb10a2Unorm => Format::Rgb10a2Unorm,
        N::Rg11b10Ufloat => Format::Rg11b10Float,
        N::R64Uint => return None,
        N::Rg32Uint => Format::Rg32Uint,
        N::Rg32Sint => Format::Rg32Sint,
        N::Rg32Float => Format::Rg32Float,
        N::Rgba16Uint => Format::Rgba16Uint,
        N::Rgba16Sint => Format::Rgba16Sint,
        N::Rgba16Float => Format::Rgba16Float,
        N::Rgba32Uint => Format::Rgba32Uint,
        N::Rgba32Sint => Format::Rgba32Sint,
        N::Rgba32Float => Format::Rgba32Float,
        N::R16Unorm => Format::R16Unorm,
        N::R16Snorm => Format::R16Snorm,
        N::Rg16Unorm => Format::Rg16Unorm,
        N::Rg16Snorm => Format::Rg16Snorm,
        N::Rgba16Unorm => Format::Rgba16Unorm,
        N::Rgba16Snorm => Format::Rgba16Snorm,
    })
}

/// Every naga storage format, in naga's order.
#[rustfmt::skip]
const ALL: &[N] = &[
    N::R8Unorm, N::R8Snorm, N::R8Uint, N::R8Sint, N::R16Uint, N::R16Sint, N::R16Float, N::Rg8Unorm, N::Rg8Snorm,
    N::Rg8Uint, N::Rg8Sint, N::R32Uint, N::R32Sint, N::R32Float, N::Rg16Uint, N::Rg16Sint, N::Rg16Float,
    N::Rgba8Unorm, N::Rgba8Snorm, N::Rgba8Uint, N::Rgba8Sint, N::Bgra8Unorm, N::Rgb10a2Uint, N::Rgb10a2Unorm,
    N::Rg11b10Ufloat, N::R64Uint, N::Rg32Uint, N::Rg32Sint, N::Rg32Float, N::Rgba16Uint, N::Rgba16Sint,
    N::Rgba16Float, N::Rgba32Uint, N::Rgba32Sint, N::Rgba32Float, N::R16Unorm, N::R16Snorm, N::Rg16Unorm,
    N::Rg16Snorm, N::Rgba16Unorm, N::Rgba16Snorm,
];

/// The naga storage format of a texture format; `None` if shaders cannot name it as a storage texture's format
/// (sRGB, depth, stencil, compressed, shared exponent).
fn naga_storage_format(format: Format) -> Option<N> {
    ALL.iter().copied().find(|n| storage_format(*n) == Some(format))
}

/// Whether a shader can name this format as a storage texture's format: true for all but sRGB, depth, stencil,
/// block-compressed and shared-exponent formats. What a *device* supports is another question.
#[must_use]
pub fn is_shader_storage_format(format: Format) -> bool {
    naga_storage_format(format).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_formats_map_both_ways() {
        for (i, n) in ALL.iter().enumerate() {
            assert_eq!(*n as usize, i, "the list is in naga's order and complete so far");
            match storage_format(*n) {
                Some(f) => assert_eq!(naga_storage_format(f), Some(*n), "{n:?} shares its format"),
                None => assert_eq!(*n, N::R64Uint),
            }
        }
        assert_eq!(N::Rgba16Snorm as usize + 1, ALL.len(), "the last one is naga's last");
    }

    #[test]
    fn names_are_the_ones_wgsl_uses() {
        let formats: String = ALL
            .iter()
            .filter_map(|n| storage_format(*n))
            .filter(|f| *f != Format::Rg11b10Float)
            .enumerate()
            .map(|(i, f)| format!("@group(0) @binding({i}) var t{i}: texture_storage_2d<{}, write>;\n", f.name()))
            .collect();
        let module = naga::front::wgsl::parse_str(&formats).expect("naga knows these names");
        assert_eq!(module.global_variables.len(), ALL.len() - 2);
    }

    #[test]
    fn formats_that_shaders_cannot_store_to_have_no_mapping() {
        for row in Format::all() {
            let odd = row.srgb || row.format.is_depth_stencil() || row.format.is_compressed();
            if odd || row.format == Format::Rgb9e5Float {
                assert_eq!(naga_storage_format(row.format), None, "{}", row.name);
            } else {
                assert!(is_shader_storage_format(row.format), "{}", row.name);
            }
        }
    }
}
