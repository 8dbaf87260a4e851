//! Functions and pipelines.

mod check;
mod state;

pub use state::*;

use crate::backend::{NativeComputePipeline, NativeFunction, NativeRasterPipeline, ObjectKind, ObjectRef};
use crate::binding::{LayoutFacts, PipelineLayout};
use crate::cache::PipelineCache;
use crate::clause;
use crate::error::{Error, Result};
use crate::handle::{DeviceKey, DeviceShared, Keep, Owned};
use crate::shader::{ShaderArtifact, ShaderInterface, ShaderPayload, ShaderStage, ShaderTarget};
use check::{cache_ref, check_group, check_state, check_targets, check_vertex, facts_of, layout_for};
use smallvec::SmallVec;
use std::sync::Arc;

/// A shader entry point on a device.
#[derive(Clone, Debug)]
pub struct Function {
    pub(crate) raw: ObjectRef,
    pub(crate) key: DeviceKey,
    pub(crate) stage: ShaderStage,
    pub(crate) entry: Arc<str>,
    pub(crate) interface: Arc<ShaderInterface>,
    pub(crate) owned: Keep,
}

impl Function {
    #[track_caller]
    pub(crate) fn create(device: &Arc<DeviceShared>, artifact: &ShaderArtifact) -> Result<Self> {
        device.check_alive()?;
        let target = device.backend.shader_target();
        let fits = matches!(
            (&artifact.payload, target),
            (ShaderPayload::Spirv(_), ShaderTarget::Spirv { .. })
                | (ShaderPayload::Wgsl(_), ShaderTarget::Wgsl)
                | (ShaderPayload::GlslEs { .. }, ShaderTarget::GlslEs { .. })
        );
        if !fits {
            let detail = format!("the device takes {target:?}");
            return Err(Error::clause(clause::FUNCTION_TARGET, detail).on(artifact.label()));
        }
        let native = device.create(|backend| backend.create_function(artifact))?;
        let owned = Owned::new(device, ObjectKind::Function, artifact.label(), native, Vec::new());
        let raw = ObjectRef { word: native.word, aux: native.aux, id: owned.id };
        let (entry, interface) = (artifact.entry().into(), Arc::new(artifact.interface.clone()));
        Ok(Self { raw, key: device.key, stage: artifact.stage, entry, interface, owned })
    }

    /// What the entry point reads and writes.
    #[must_use]
    pub fn interface(&self) -> &ShaderInterface {
        &self.interface
    }

    #[track_caller]
    fn check(&self, device: &DeviceShared, stage: ShaderStage) -> Result<()> {
        device.check(self.key, &self.owned)?;
        if self.stage != stage {
            let detail = format!("a {} function given as {}", self.stage.name(), stage.name());
            return Err(Error::clause(clause::FUNCTION_STAGE, detail).on(&*self.owned.label));
        }
        Ok(())
    }

    fn native(&self) -> NativeFunction<'_> {
        NativeFunction { function: self.raw, entry: &self.entry }
    }
}

/// Describes a raster pipeline.
#[derive(Clone, Copy, Debug)]
pub struct RasterPipelineDesc<'a> {
    /// Name in messages and captures.
    pub label: &'a str,
    /// Layout; `None` derives one from the functions, compatible only with itself.
    pub layout: Option<&'a PipelineLayout>,
    /// Vertex function.
    pub vertex: &'a Function,
    /// Fragment function; `None` writes depth only.
    pub fragment: Option<&'a Function>,
    /// Vertex buffers by slot.
    pub buffers: &'a [VertexBufferLayout<'a>],
    /// Fixed-function state.
    pub state: RenderState<'a>,
    /// Attachments.
    pub targets: AttachmentFormats<'a>,
    /// Cache to look in and add to.
    pub cache: Option<&'a PipelineCache>,
}

/// Describes a compute pipeline.
#[derive(Clone, Copy, Debug)]
pub struct ComputePipelineDesc<'a> {
    /// Name in messages and captures.
    pub label: &'a str,
    /// Layout; `None` derives one from the function, compatible only with itself.
    pub layout: Option<&'a PipelineLayout>,
    /// Function.
    pub function: &'a Function,
    /// Threads per group, checked against the function's.
    pub group_size: [u32; 3],
    /// Cache to look in and add to.
    pub cache: Option<&'a PipelineCache>,
}

/// What binding and drawing check, inline in the pipeline.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PipelineFacts {
    pub(crate) layout: crate::backend::LayoutRef,
    pub(crate) tables: LayoutFacts,
    /// Tables the functions use, as a mask.
    pub(crate) needs_tables: u8,
    /// Vertex buffer slots with attributes, as a mask.
    pub(crate) needs_buffers: u32,
    pub(crate) abi: AttachmentAbi,
    pub(crate) writes_depth: bool,
    pub(crate) writes_stencil: bool,
}

/// A raster pipeline.
#[derive(Clone, Debug)]
pub struct RasterPipeline {
    pub(crate) raw: ObjectRef,
    pub(crate) key: DeviceKey,
    pub(crate) facts: PipelineFacts,
    pub(crate) layout: PipelineLayout,
    pub(crate) owned: Keep,
}

/// A compute pipeline.
#[derive(Clone, Debug)]
pub struct ComputePipeline {
    pub(crate) raw: ObjectRef,
    pub(crate) key: DeviceKey,
    pub(crate) facts: PipelineFacts,
    pub(crate) layout: PipelineLayout,
    group_size: [u32; 3],
    pub(crate) owned: Keep,
}

impl RasterPipeline {
    #[track_caller]
    pub(crate) fn create(device: &Arc<DeviceShared>, desc: &RasterPipelineDesc<'_>) -> Result<Self> {
        device.check_alive()?;
        desc.vertex.check(device, ShaderStage::Vertex)?;
        if let Some(fragment) = desc.fragment {
            fragment.check(device, ShaderStage::Fragment)?;
        }
        check_vertex(device, desc)?;
        check_targets(device, desc)?;
        check_state(desc)?;
        let functions: SmallVec<[&Function; 2]> = [Some(desc.vertex), desc.fragment].into_iter().flatten().collect();
        let layout = layout_for(device, desc.label, desc.layout, &functions)?;
        let native = NativeRasterPipeline {
            label: desc.label,
            layout: ObjectRef { word: layout.raw.word, aux: layout.raw.aux, id: layout.owned.id },
            vertex: desc.vertex.native(),
            fragment: desc.fragment.map(Function::native),
            buffers: desc.buffers,
            state: &desc.state,
            targets: &desc.targets,
            cache: cache_ref(device, desc.cache)?,
        };
        let native = device.create(|backend| backend.create_raster_pipeline(&native))?;
        let mut keep = vec![layout.owned.clone()];
        keep.extend(functions.iter().map(|f| f.owned.clone()));
        let owned = Owned::new(device, ObjectKind::RasterPipeline, desc.label, native, keep);
        let raw = ObjectRef { word: native.word, aux: native.aux, id: owned.id };
        let used = |i: usize| u32::from(!desc.buffers[i].attributes.is_empty()) << i;
        let facts = PipelineFacts {
            needs_buffers: (0..desc.buffers.len()).map(used).sum(),
            abi: AttachmentAbi::new(&desc.targets),
            writes_depth: desc.state.depth.is_some_and(|d| d.write),
            writes_stencil: desc.state.stencil.is_some_and(|s| s.write_mask != 0),
            ..facts_of(&layout, &functions)
        };
        Ok(Self { raw, key: device.key, facts, layout, owned })
    }

    /// Name.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.owned.label
    }

    /// Its layout, stated or derived.
    #[must_use]
    pub fn layout(&self) -> &PipelineLayout {
        &self.layout
    }

    /// Its side of the attachment contract.
    #[must_use]
    pub fn attachment_abi(&self) -> AttachmentAbi {
        self.facts.abi
    }
}

impl ComputePipeline {
    #[track_caller]
    pub(crate) fn create(device: &Arc<DeviceShared>, desc: &ComputePipelineDesc<'_>) -> Result<Self> {
        device.check_alive()?;
        desc.function.check(device, ShaderStage::Compute)?;
        check_group(device, desc)?;
        let functions = [desc.function];
        let layout = layout_for(device, desc.label, desc.layout, &functions)?;
        let native = NativeComputePipeline {
            label: desc.label,
            layout: ObjectRef { word: layout.raw.word, aux: layout.raw.aux, id: layout.owned.id },
            function: desc.function.native(),
            cache: cache_ref(device, desc.cache)?,
        };
        let native = device.create(|backend| backend.create_compute_pipeline(&native))?;
        let keep = vec![layout.owned.clone(), desc.function.owned.clone()];
        let owned = Owned::new(device, ObjectKind::ComputePipeline, desc.label, native, keep);
        let raw = ObjectRef { word: native.word, aux: native.aux, id: owned.id };
        Ok(Self {
            raw,
            key: device.key,
            facts: facts_of(&layout, &functions),
            layout,
            group_size: desc.group_size,
            owned,
        })
    }

    /// Name.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.owned.label
    }

    /// Its layout, stated or derived.
    #[must_use]
    pub fn layout(&self) -> &PipelineLayout {
        &self.layout
    }

    /// Threads per group.
    #[must_use]
    pub fn group_size(&self) -> [u32; 3] {
        self.group_size
    }
}
