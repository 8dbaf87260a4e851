// expect: E0308
use rhizo_rhi::*;

pub fn buffer(view: &VertexBufferView, scope: Scope) -> BufferBarrier<'_> {
    BufferBarrier {
        buffer: view, //~
        range: BufferRange::WHOLE,
        before: scope,
        after: scope,
        queues: None,
    }
}

pub fn texture(view: &ColorTargetView, scope: Scope) -> TextureBarrier<'_> {
    TextureBarrier {
        texture: view, //~
        range: TextureRange::WHOLE,
        before: scope,
        before_layout: Layout::Undefined,
        after: scope,
        after_layout: Layout::RenderTarget,
        queues: None,
    }
}
