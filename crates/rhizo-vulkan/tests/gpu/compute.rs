//! Compute passes.

use crate::support::*;
use rhizo_rhi::*;

/// A storage binding that shaders may write is also read, whatever the shader does.
const SHADER_WRITE: Scope = Scope::new(Stages::COMPUTE, Access::SHADER_READ.union(Access::SHADER_WRITE));

const SQUARES: &str = "
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(8) fn squares(@builtin(global_invocation_id) id: vec3u) {
    out[id.x] = id.x * id.x;
}";

fn words(buffer: &Buffer) -> Vec<u32> {
    read(buffer).chunks_exact(4).map(|w| u32::from_le_bytes(w.try_into().unwrap())).collect()
}

fn storage(gpu: &Gpu, bytes: u64) -> Buffer {
    let usage = BufferUsage::SHADER_WRITE | BufferUsage::COPY_SOURCE | BufferUsage::COPY_DESTINATION;
    gpu.buffer(bytes, usage, StorageMode::DeviceLocal)
}

fn buffer_barrier<'a>(buffer: &'a Buffer, before: Scope, after: Scope) -> BufferBarrier<'a> {
    BufferBarrier { buffer, range: BufferRange::WHOLE, before, after, queues: None }
}

fn table(gpu: &Gpu, pipeline: &ComputePipeline, out: &Buffer) -> BindingTable {
    let view = out.write_view(BufferRange::WHOLE).unwrap();
    let writes = [TableWrite::new(0, Binding::BufferWrite(&view))];
    let layout = pipeline.layout().table(0).unwrap();
    gpu.device.create_table(&TableDesc { label: "out", layout, writes: &writes }).unwrap()
}

#[test]
fn a_dispatch_writes_what_a_later_copy_reads() {
    on_each(|gpu| {
        let pipeline = gpu.compute(SQUARES, "squares", None);
        let (out, back) = (storage(gpu, 64 * 4), gpu.readback(64 * 4));
        let table = table(gpu, &pipeline, &out);
        gpu.run(|r| {
            let mut pass = r.compute_pass(&ComputePassDesc { label: "squares", timestamps: None });
            let mut bound = pass.bind(&pipeline);
            bound.set_tables(0, &[&table], &[]);
            bound.dispatch([8, 1, 1]);
            drop(pass);
            let barriers = [buffer_barrier(&out, SHADER_WRITE, COPY_READ)];
            r.barriers(&Barriers { buffers: &barriers, ..Barriers::default() });
            let all = BufferCopy { source_offset: 0, destination_offset: 0, size: 64 * 4 };
            r.transfer_pass("read back").copy_buffer(&out, &back, &[all]);
        });
        assert_eq!(words(&back), (0..64).map(|i| i * i).collect::<Vec<_>>());
    });
}

#[test]
fn an_indirect_dispatch_takes_its_groups_from_a_buffer() {
    on_each(|gpu| {
        let pipeline = gpu.compute(SQUARES, "squares", None);
        let (out, back) = (storage(gpu, 64 * 4), gpu.readback(64 * 4));
        let table = table(gpu, &pipeline, &out);
        let usage = BufferUsage::INDIRECT | BufferUsage::COPY_DESTINATION;
        let arguments = gpu.buffer(16, usage, StorageMode::DeviceLocal);
        let source = gpu.upload(&[0u32, 3, 1, 1].map(u32::to_le_bytes).concat());
        gpu.run(|r| {
            let mut pass = r.transfer_pass("arguments");
            pass.copy_buffer(&source, &arguments, &[BufferCopy { source_offset: 0, destination_offset: 0, size: 16 }]);
            pass.fill_buffer(&out, BufferRange::WHOLE, 9);
            drop(pass);
            let read = Scope::new(Stages::INDIRECT, Access::INDIRECT_COMMAND_READ);
            let barriers =
                [buffer_barrier(&arguments, COPY_WRITE, read), buffer_barrier(&out, COPY_WRITE, SHADER_WRITE)];
            r.barriers(&Barriers { buffers: &barriers, ..Barriers::default() });
            let mut pass = r.compute_pass(&ComputePassDesc { label: "squares", timestamps: None });
            let mut bound = pass.bind(&pipeline);
            bound.set_tables(0, &[&table], &[]);
            bound.dispatch_indirect(&arguments, 4);
            drop(pass);
            let global = [GlobalBarrier { before: SHADER_WRITE, after: COPY_READ }];
            r.barriers(&Barriers { global: &global, ..Barriers::default() });
            let all = BufferCopy { source_offset: 0, destination_offset: 0, size: 64 * 4 };
            r.transfer_pass("read back").copy_buffer(&out, &back, &[all]);
        });
        let expected: Vec<u32> = (0..64).map(|i| if i < 24 { i * i } else { 9 }).collect();
        assert_eq!(words(&back), expected);
    });
}

const STORE: &str = "
@group(0) @binding(0) var image: texture_storage_2d<rgba8unorm, write>;
@compute @workgroup_size(4, 4) fn store(@builtin(global_invocation_id) id: vec3u) {
    textureStore(image, id.xy, vec4f(f32(id.x) / 255.0, f32(id.y) / 255.0, 1.0, 0.0));
}";

#[test]
fn storage_textures_are_written_in_the_general_layout() {
    on_each(|gpu| {
        let pipeline = gpu.compute(STORE, "store", None);
        let usage = TextureUsage::SHADER_WRITE | TextureUsage::COPY_SOURCE;
        let desc = TextureDesc { label: "image", extent: Extent::d2(8, 8), usage, ..TextureDesc::default() };
        let image = gpu.device.create_texture(&desc).unwrap();
        let view = image.write_view(&ViewDesc::default()).unwrap();
        let writes = [TableWrite::new(0, Binding::StorageTexture(&view))];
        let layout = pipeline.layout().table(0).unwrap();
        let table = gpu.device.create_table(&TableDesc { label: "image", layout, writes: &writes }).unwrap();
        let back = gpu.readback(256);
        gpu.run(|r| {
            r.barriers(&textures(&[discard_into(&image, SHADER_WRITE, Layout::General)]));
            let mut pass = r.compute_pass(&ComputePassDesc { label: "store", timestamps: None });
            let mut bound = pass.bind(&pipeline);
            bound.set_tables(0, &[&table], &[]);
            bound.dispatch([2, 2, 1]);
            drop(pass);
            let after = (COPY_READ, Layout::CopySource);
            r.barriers(&textures(&[transition(&image, (SHADER_WRITE, Layout::General), after)]));
            r.transfer_pass("read back").copy_texture_to_buffer(&image, &back, &[whole(&image)]);
        });
        for (i, texel) in read(&back).chunks_exact(4).enumerate() {
            assert_eq!(texel, [(i % 8) as u8, (i / 8) as u8, 255, 0]);
        }
    });
}
