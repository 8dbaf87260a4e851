//! The builder of one pass.

use rhizo_rhi::{BufferRange, QueueKind, Stages, TextureRange};

use super::{
    AccessDecl, AccessKind, AccessRange, BufferId, Graph, LoadOp, NONE, PassId, ResourceId, StoreOp, TextureId,
};
use crate::error::{CompileError, ErrorCode};

/// States what the pass added last does. Dropping it is enough; [`PassBuilder::id`] gives the handle.
#[derive(Debug)]
pub struct PassBuilder<'a> {
    graph: &'a mut Graph,
    index: u32,
}

impl<'a> PassBuilder<'a> {
    pub(super) fn new(graph: &'a mut Graph, index: u32) -> Self {
        Self { graph, index }
    }

    /// The handle of the pass.
    pub fn id(&self) -> PassId {
        PassId { index: self.index, epoch: self.graph.epoch }
    }

    /// The queue it would like to run on (default graphics).
    pub fn queue(&mut self, queue: QueueKind) -> &mut Self {
        self.graph.passes[self.index as usize].queue = queue;
        self
    }

    /// Never cull it.
    pub fn side_effect(&mut self) -> &mut Self {
        self.graph.passes[self.index as usize].side_effect = true;
        self
    }

    /// It must run after `pass`; no memory effect.
    pub fn after(&mut self, pass: PassId) -> &mut Self {
        if pass.epoch == self.graph.epoch && pass.index() < self.graph.passes.len() {
            self.graph.push_after(pass.index);
        } else {
            let label = self.graph.pass_label(self.index as usize).to_owned();
            let message = format!("pass `{label}` comes after a pass of another graph");
            self.graph.defer(CompileError::new(ErrorCode::InvalidHandle, message).pass(&label));
        }
        self
    }

    /// Declares any access; the conveniences below cover the common ones.
    pub fn access(&mut self, resource: impl Into<ResourceId>, access: AccessDecl) -> &mut Self {
        let id = resource.into();
        let known = id.epoch == self.graph.epoch && id.index() < self.graph.resources.len();
        if !known {
            let label = self.graph.pass_label(self.index as usize).to_owned();
            let message = format!("pass `{label}` names a resource of another graph");
            self.graph.defer(CompileError::new(ErrorCode::InvalidHandle, message).pass(&label));
        }
        self.graph.push_access(AccessDecl { resource: if known { id.index } else { NONE }, ..access });
        self
    }

    /// Declares an access of this kind to the whole resource, at `stages` (empty: the default of the kind).
    pub fn uses(&mut self, resource: impl Into<ResourceId>, kind: AccessKind, stages: Stages) -> &mut Self {
        self.access(resource, AccessDecl { stages, ..AccessDecl::new(kind) })
    }

    /// Declares an access of this kind to a part of a texture.
    pub fn uses_part(
        &mut self,
        texture: TextureId,
        kind: AccessKind,
        stages: Stages,
        range: TextureRange,
    ) -> &mut Self {
        self.access(texture, AccessDecl { stages, range: AccessRange::Texture(range), ..AccessDecl::new(kind) })
    }

    /// Declares an access of this kind to bytes of a buffer.
    pub fn uses_bytes(&mut self, buffer: BufferId, kind: AccessKind, stages: Stages, range: BufferRange) -> &mut Self {
        self.access(buffer, AccessDecl { stages, range: AccessRange::Buffer(range), ..AccessDecl::new(kind) })
    }

    /// A colour attachment that is written (earlier contents only with [`LoadOp::Load`]).
    pub fn color(&mut self, texture: TextureId, load: LoadOp, store: StoreOp) -> &mut Self {
        self.access(texture, AccessDecl { load, store, ..AccessDecl::new(AccessKind::ColorAttachmentWrite) })
    }

    /// A depth-stencil attachment that is written.
    pub fn depth(&mut self, texture: TextureId, load: LoadOp, store: StoreOp) -> &mut Self {
        self.access(texture, AccessDecl { load, store, ..AccessDecl::new(AccessKind::DepthStencilWrite) })
    }

    /// A depth-stencil attachment that is only tested.
    pub fn depth_read(&mut self, texture: TextureId) -> &mut Self {
        self.access(texture, AccessDecl::new(AccessKind::DepthStencilRead))
    }

    /// A texture read by shaders at `stages`.
    pub fn sampled(&mut self, texture: TextureId, stages: Stages) -> &mut Self {
        self.uses(texture, AccessKind::SampledRead, stages)
    }

    /// The destination of this pass's multisample resolve.
    pub fn resolve_to(&mut self, texture: TextureId) -> &mut Self {
        self.uses(texture, AccessKind::ResolveWrite, Stages::empty())
    }
}
