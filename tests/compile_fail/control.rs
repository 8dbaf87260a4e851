// expect: nothing
use rhizo_rhi::*;

pub struct Made<'a> {
    pub raster: &'a RasterPipeline,
    pub compute: &'a ComputePipeline,
    pub buffer: &'a Buffer,
    pub texture: &'a Texture,
    pub vertices: &'a VertexBufferView,
    pub table: &'a BindingTable,
}

pub fn frame(pool: &mut CommandPool, desc: &RasterPassDesc<'_>, made: &Made<'_>) -> Result<CommandBuffer> {
    let mut recorder = pool.begin("frame")?;
    recorder.push_group("group");
    {
        let mut pass = recorder.transfer_pass("upload");
        pass.clear_color(made.texture, TextureRange::WHOLE, [0.0; 4]);
        pass.barriers(&Barriers::default());
    }
    {
        let mut pass = recorder.compute_pass(&ComputePassDesc::default());
        let mut bound = pass.bind(made.compute);
        bound.set_tables(0, &[made.table], &[]);
        bound.dispatch([1, 1, 1]);
    }
    {
        let mut pass = recorder.raster_pass(desc);
        pass.set_blend_constants([1.0; 4]);
        let mut bound = pass.bind(made.raster);
        bound.set_vertex_buffer(0, made.vertices);
        bound.draw(3, 1, 0, 0);
        pass.bind(made.raster).draw(3, 1, 0, 0);
    }
    recorder.pop_group();
    let first = recorder.finish()?;
    pool.begin("second")?.finish()?;
    Ok(first)
}

pub fn barriers<'a>(buffer: &'a Buffer, texture: &'a Texture, scope: Scope) -> (BufferBarrier<'a>, TextureBarrier<'a>) {
    let (range, layout) = (BufferRange::WHOLE, Layout::General);
    (
        BufferBarrier { buffer, range, before: scope, after: scope, queues: None },
        TextureBarrier {
            texture,
            range: TextureRange::WHOLE,
            before: scope,
            before_layout: layout,
            after: scope,
            after_layout: layout,
            queues: None,
        },
    )
}

fn send<T: Send>() {}
fn sync<T: Send + Sync>() {}

pub fn threads() {
    send::<CommandPool>();
    send::<Recorder<'_>>();
    sync::<Instance>();
    sync::<Device>();
    sync::<Queue>();
    sync::<Buffer>();
    sync::<Texture>();
    sync::<ColorTargetView>();
    sync::<BindingTable>();
    sync::<RasterPipeline>();
    sync::<ComputePipeline>();
    sync::<CommandBuffer>();
    sync::<Semaphore>();
    sync::<Fence>();
    sync::<QuerySet>();
    sync::<Error>();
}
