//! Recording: exactly one virtual call per command.

use super::{BufferRef, LayoutRef, ObjectRef, TextureRef};
use crate::error::{Error, Result};
use crate::format::Format;
use crate::pass::{IndexFormat, LoadOp, StoreOp, Viewport};
use crate::transfer::{BlitFilter, BufferCopy, BufferTextureCopy, TextureBlit, TextureCopy};
use crate::vocab::{BufferRange, Layout, Scope, TextureRange};

/// A memory dependency between queues' families, already known to need a transfer of ownership or not by the backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandOver {
    /// Index of the releasing queue among the device's queues.
    pub source: u32,
    /// Index of the acquiring queue among the device's queues.
    pub destination: u32,
}

/// A barrier over all memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GlobalBarrierRef {
    /// Earlier accesses.
    pub before: Scope,
    /// Later accesses.
    pub after: Scope,
}

/// A barrier over a buffer range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferBarrierRef {
    /// Buffer.
    pub buffer: BufferRef,
    /// Resolved range.
    pub range: BufferRange,
    /// Earlier accesses.
    pub before: Scope,
    /// Later accesses.
    pub after: Scope,
    /// Hand-over between queues.
    pub queues: Option<HandOver>,
}

/// A barrier over a sub-resource range, with a layout transition when the layouts differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextureBarrierRef {
    /// Texture.
    pub texture: TextureRef,
    /// Resolved range.
    pub range: TextureRange,
    /// Earlier accesses.
    pub before: Scope,
    /// Layout before.
    pub before_layout: Layout,
    /// Later accesses.
    pub after: Scope,
    /// Layout after.
    pub after_layout: Layout,
    /// Hand-over between queues.
    pub queues: Option<HandOver>,
}

/// A colour attachment.
#[derive(Clone, Copy, Debug)]
pub struct ColorAttachmentRef {
    /// View.
    pub view: ObjectRef,
    /// Format of the view.
    pub format: Format,
    /// Load operation; the clear value is in the class of the format.
    pub load: LoadOp,
    /// Store operation.
    pub store: StoreOp,
    /// Single-sampled view to resolve into.
    pub resolve: Option<ObjectRef>,
}

/// A depth-stencil attachment.
#[derive(Clone, Copy, Debug)]
pub struct DepthStencilAttachmentRef {
    /// View.
    pub view: ObjectRef,
    /// Format of the view.
    pub format: Format,
    /// Depth load, store and whether it is only read; None when the format has none.
    pub depth: Option<(LoadOp, StoreOp, bool)>,
    /// The same for stencil.
    pub stencil: Option<(LoadOp, StoreOp, bool)>,
}

/// A timestamp slot.
#[derive(Clone, Copy, Debug)]
pub struct TimestampRef {
    /// Query set.
    pub set: ObjectRef,
    /// Written when the pass begins.
    pub begin: Option<u32>,
    /// Written when the pass has ended.
    pub end: Option<u32>,
}

/// A raster pass.
pub struct RasterPassRef<'a> {
    /// Name.
    pub label: &'a str,
    /// Render area: x, y, width, height.
    pub area: [u32; 4],
    /// Layers, when `view_mask` is 0.
    pub layers: u32,
    /// Multiview mask, 0 for none.
    pub view_mask: u32,
    /// Samples of the attachments.
    pub samples: u32,
    /// Colour attachments by slot.
    pub colors: &'a [Option<ColorAttachmentRef>],
    /// Depth-stencil attachment.
    pub depth_stencil: Option<DepthStencilAttachmentRef>,
    /// Timestamps.
    pub timestamps: Option<TimestampRef>,
    /// Occlusion query set of the pass and its number of slots: reset before the pass begins.
    pub occlusion: Option<(ObjectRef, u32)>,
}

/// A buffer range as vertex or index source.
#[derive(Clone, Copy, Debug)]
pub struct SliceRef {
    /// Buffer.
    pub buffer: BufferRef,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
}

/// Where tables and push constants go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindPoint {
    /// The raster pipeline.
    Raster,
    /// The compute pipeline.
    Compute,
}

/// Records the commands of one command buffer at a time; reusable once that buffer's work has completed.
pub trait RecorderBackend: Send {
    /// Starts over.
    fn begin(&mut self, label: &str) -> Result<()>;
    /// Ends and gives the word that submissions name. With `host_read`, readback memory was written: its contents become
    /// visible to the CPU when the submission completes (Vulkan: one barrier to the host stage).
    fn finish(&mut self, host_read: bool) -> Result<u64>;

    /// Opens a debug group. *Maps to* — Vulkan: `vkCmdBeginDebugUtilsLabelEXT`; D3D12: PIX event; Metal:
    /// `pushDebugGroup`; WebGPU: `pushDebugGroup`; GL: `glPushDebugGroup`.
    fn push_group(&mut self, label: &str);
    /// Closes a debug group.
    fn pop_group(&mut self);

    /// One batch of barriers. *Maps to* — Vulkan: `vkCmdPipelineBarrier2`; D3D12: `Barrier` or `ResourceBarrier`; Metal:
    /// fences and `memoryBarrier`; WebGPU: implicit, dropped; GL: `glMemoryBarrier`.
    fn barriers(&mut self, global: &[GlobalBarrierRef], buffers: &[BufferBarrierRef], textures: &[TextureBarrierRef]);

    /// *Maps to* — Vulkan: `vkCmdCopyBuffer`; D3D12: `CopyBufferRegion`; Metal: blit encoder; WebGPU:
    /// `copyBufferToBuffer`; GL: `glCopyBufferSubData`.
    fn copy_buffer(&mut self, source: BufferRef, destination: BufferRef, regions: &[BufferCopy]);
    /// *Maps to* — Vulkan: `vkCmdCopyBufferToImage`; D3D12: `CopyTextureRegion`; Metal: blit encoder; WebGPU:
    /// `copyBufferToTexture`; GL: pixel-unpack buffer.
    fn copy_buffer_to_texture(
        &mut self,
        source: BufferRef,
        destination: TextureRef,
        layout: Layout,
        regions: &[BufferTextureCopy],
    );
    /// *Maps to* — Vulkan: `vkCmdCopyImageToBuffer`; D3D12: `CopyTextureRegion`; Metal: blit encoder; WebGPU:
    /// `copyTextureToBuffer`; GL: `glReadPixels` into a pixel-pack buffer.
    fn copy_texture_to_buffer(
        &mut self,
        source: TextureRef,
        layout: Layout,
        destination: BufferRef,
        regions: &[BufferTextureCopy],
    );
    /// *Maps to* — Vulkan: `vkCmdCopyImage`; D3D12: `CopyTextureRegion`; Metal: blit encoder; WebGPU:
    /// `copyTextureToTexture`; GL: `glCopyImageSubData` (3.2) or a framebuffer copy.
    fn copy_texture(
        &mut self,
        source: (TextureRef, Layout),
        destination: (TextureRef, Layout),
        regions: &[TextureCopy],
    );
    /// *Maps to* — Vulkan: `vkCmdBlitImage`; D3D12, Metal, WebGPU: a fullscreen pass (lowered); GL: `glBlitFramebuffer`.
    fn blit(
        &mut self,
        source: (TextureRef, Layout),
        destination: (TextureRef, Layout),
        regions: &[TextureBlit],
        filter: BlitFilter,
    );
    /// *Maps to* — Vulkan: `vkCmdFillBuffer`; D3D12: `ClearUnorderedAccessViewUint`; Metal: `fillBuffer` (bytes) or
    /// compute; WebGPU: `clearBuffer` for 0; GL: a copy from a filled buffer.
    fn fill_buffer(&mut self, buffer: BufferRef, range: BufferRange, value: u32);
    /// *Maps to* — Vulkan: `vkCmdClearColorImage`; others: an empty pass with load clear (lowered).
    fn clear_color(&mut self, texture: (TextureRef, Layout), range: TextureRange, value: [f32; 4]);
    /// *Maps to* — Vulkan: `vkCmdResolveImage`; D3D12: `ResolveSubresource`; Metal, WebGPU: an empty resolving pass; GL:
    /// `glBlitFramebuffer`.
    fn resolve(&mut self, source: (TextureRef, Layout), destination: (TextureRef, Layout), regions: &[TextureCopy]);

    /// Prepares slots for a new result. *Maps to* — Vulkan: `vkCmdResetQueryPool`; others: nothing.
    fn reset_queries(&mut self, set: ObjectRef, first: u32, count: u32);
    /// Writes a timestamp outside passes once earlier commands have completed.
    fn write_timestamp(&mut self, set: ObjectRef, index: u32);
    /// Copies results as 64-bit words. *Maps to* — Vulkan: `vkCmdCopyQueryPoolResults`; D3D12, WebGPU:
    /// `ResolveQueryData`, `resolveQuerySet`; Metal: `resolveCounters`; GL: refused.
    fn resolve_queries(&mut self, set: ObjectRef, first: u32, count: u32, destination: BufferRef, offset: u64);
    /// Begins an occlusion or statistics query.
    fn begin_query(&mut self, set: ObjectRef, index: u32);
    /// Ends it.
    fn end_query(&mut self, set: ObjectRef, index: u32);

    /// *Maps to* — Vulkan: `vkCmdBeginRendering`; D3D12: `BeginRenderPass` or `OMSetRenderTargets` + clears; Metal:
    /// `renderCommandEncoder`; WebGPU: `beginRenderPass`; GL: framebuffer, clears, invalidation.
    fn begin_raster(&mut self, pass: &RasterPassRef<'_>);
    /// Ends the raster pass, resolving and storing.
    fn end_raster(&mut self);
    /// *Maps to* — Vulkan: nothing; D3D12: nothing; Metal: `computeCommandEncoder`; WebGPU: `beginComputePass`; GL: nothing.
    fn begin_compute(&mut self, label: &str, timestamps: Option<TimestampRef>);
    /// Ends the compute pass.
    fn end_compute(&mut self);

    /// Binds a pipeline. *Maps to* — Vulkan: `vkCmdBindPipeline`; D3D12: `SetPipelineState` + root signature + topology;
    /// Metal: `setRenderPipelineState` + fixed state; WebGPU: `setPipeline`; GL: `glUseProgram` and state.
    fn set_pipeline(&mut self, point: BindPoint, pipeline: ObjectRef);
    /// Sets tables from index `first`, dynamic offsets of all of them in slot order. *Maps to* — Vulkan:
    /// `vkCmdBindDescriptorSets`; D3D12: `Set…RootDescriptorTable`; Metal: argument buffers; WebGPU: `setBindGroup`; GL:
    /// `glBindBufferRange`, `glBindTexture`.
    fn set_tables(&mut self, point: BindPoint, layout: LayoutRef, first: u32, tables: &[ObjectRef], offsets: &[u32]);
    /// *Maps to* — Vulkan: `vkCmdPushConstants`; D3D12: root constants; Metal: `setBytes`; WebGPU: immediates, or a
    /// uniform buffer with dynamic offset (lowered); GL: uniforms.
    fn push_constants(&mut self, point: BindPoint, layout: LayoutRef, offset: u32, data: &[u8]);
    /// *Maps to* — Vulkan: `vkCmdBindVertexBuffers`; D3D12: `IASetVertexBuffers` (stride from the pipeline); Metal:
    /// `setVertexBuffer`; WebGPU: `setVertexBuffer`; GL: `glVertexAttribPointer`.
    fn set_vertex_buffer(&mut self, slot: u32, slice: SliceRef);
    /// *Maps to* — Vulkan: `vkCmdBindIndexBuffer`; D3D12: `IASetIndexBuffer`; Metal: draw argument; WebGPU:
    /// `setIndexBuffer`; GL: `GL_ELEMENT_ARRAY_BUFFER`.
    fn set_index_buffer(&mut self, slice: SliceRef, format: IndexFormat);
    /// Sets all viewports. *Maps to* — Vulkan: `vkCmdSetViewportWithCount` with negative height; D3D12:
    /// `RSSetViewports`; Metal: `setViewports`; WebGPU: `setViewport`; GL: `glViewport`, `glDepthRangef`.
    fn set_viewports(&mut self, viewports: &[Viewport]);
    /// Sets all scissors: x, y, width, height. *Maps to* — Vulkan: `vkCmdSetScissorWithCount`; D3D12:
    /// `RSSetScissorRects`; Metal: `setScissorRects`; WebGPU: `setScissorRect`; GL: `glScissor`.
    fn set_scissors(&mut self, scissors: &[[u32; 4]]);
    /// *Maps to* — Vulkan: `vkCmdSetStencilReference`; D3D12: `OMSetStencilRef`; Metal: `setStencilReferenceValue`;
    /// WebGPU: `setStencilReference`; GL: `glStencilFuncSeparate`.
    fn set_stencil_reference(&mut self, reference: u8);
    /// *Maps to* — Vulkan: `vkCmdSetBlendConstants`; D3D12: `OMSetBlendFactor`; Metal: `setBlendColor`; WebGPU:
    /// `setBlendConstant`; GL: `glBlendColor`.
    fn set_blend_constants(&mut self, constants: [f32; 4]);

    /// *Maps to* — Vulkan: `vkCmdDraw`; D3D12: `DrawInstanced`; Metal: `drawPrimitives`; WebGPU: `draw`; GL:
    /// `glDrawArraysInstanced`.
    fn draw(&mut self, vertices: u32, instances: u32, first_vertex: u32, first_instance: u32);
    /// *Maps to* — Vulkan: `vkCmdDrawIndexed`; D3D12: `DrawIndexedInstanced`; Metal: `drawIndexedPrimitives`; WebGPU:
    /// `drawIndexed`; GL: `glDrawElementsInstancedBaseVertex` (3.2) or refused.
    fn draw_indexed(&mut self, indices: u32, instances: u32, first_index: u32, base_vertex: i32, first_instance: u32);
    /// *Maps to* — Vulkan: `vkCmdDrawIndirect`; D3D12: `ExecuteIndirect`; Metal: indirect draw per command; WebGPU:
    /// `drawIndirect` per command; GL: `glDrawArraysIndirect` (3.1) per command.
    fn draw_indirect(&mut self, arguments: BufferRef, offset: u64, count: u32, stride: u32);
    /// As `draw_indirect`, indexed.
    fn draw_indexed_indirect(&mut self, arguments: BufferRef, offset: u64, count: u32, stride: u32);
    /// *Maps to* — Vulkan: `vkCmdDispatch`; D3D12: `Dispatch`; Metal: `dispatchThreadgroups`; WebGPU:
    /// `dispatchWorkgroups`; GL: `glDispatchCompute` (3.1).
    fn dispatch(&mut self, groups: [u32; 3]);
    /// *Maps to* — Vulkan: `vkCmdDispatchIndirect`; D3D12: `ExecuteIndirect`; Metal:
    /// `dispatchThreadgroupsWithIndirectBuffer`; WebGPU: `dispatchWorkgroupsIndirect`; GL: `glDispatchComputeIndirect`.
    fn dispatch_indirect(&mut self, arguments: BufferRef, offset: u64);

    /// The first native failure while recording, reported by `finish` as well.
    fn take_error(&mut self) -> Option<Error> {
        None
    }
}

pub(crate) use crate::encoder::RecorderCore;
