//! What goes in.

use crate::features::ShaderFeatures;
use rhizo_rhi::ShaderStage;

/// A shader module's source.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Name for messages, e.g. the file's name.
    pub label: &'a str,
    /// The code.
    pub code: Code<'a>,
    /// What the shader may use beyond the core language. The device must offer all of it.
    pub features: ShaderFeatures,
}

/// Code in one of the accepted languages.
#[derive(Clone, Copy, Debug)]
pub enum Code<'a> {
    /// WGSL, any number of entry points.
    Wgsl(&'a str),
    /// Vulkan GLSL 450 or 460 as naga reads it: separate textures and samplers, one entry point called `main`.
    /// GLSL ES and other versions are refused.
    Glsl {
        /// Text with its `#version` line.
        text: &'a str,
        /// The stage; GLSL does not say it itself.
        stage: ShaderStage,
        /// Macros defined before the first line, as (name, value).
        defines: &'a [(&'a str, &'a str)],
    },
    /// SPIR-V words. They are read into naga, validated, and written anew, so that the result is as safe as WGSL.
    /// For binaries naga cannot read see [`crate::from_spirv_unchecked`].
    Spirv(&'a [u32]),
}

impl<'a> Source<'a> {
    /// WGSL with the portable features.
    #[must_use]
    pub const fn wgsl(label: &'a str, text: &'a str) -> Self {
        Self { label, code: Code::Wgsl(text), features: ShaderFeatures::PORTABLE }
    }

    /// Vulkan GLSL with the portable features and no macros.
    #[must_use]
    pub const fn glsl(label: &'a str, stage: ShaderStage, text: &'a str) -> Self {
        Self { label, code: Code::Glsl { text, stage, defines: &[] }, features: ShaderFeatures::PORTABLE }
    }

    /// SPIR-V with the portable features.
    #[must_use]
    pub const fn spirv(label: &'a str, words: &'a [u32]) -> Self {
        Self { label, code: Code::Spirv(words), features: ShaderFeatures::PORTABLE }
    }

    /// The same source with these features.
    #[must_use]
    pub const fn with_features(self, features: ShaderFeatures) -> Self {
        Self { features, ..self }
    }
}
