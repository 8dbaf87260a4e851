//! Tables, dynamic offsets, push constants, descriptor pools.

use crate::support::*;
use rhizo_rhi::*;

const SHADER: &str = "
struct Push { scale: u32, add: u32 }
struct Frame { value: vec4u }
struct Object { value: vec4u }
@group(1) @binding(0) var<uniform> frame: Frame;
@group(3) @binding(2) var<uniform> object: Object;
@group(3) @binding(5) var<storage, read_write> out: array<u32>;
var<immediate> push: Push;
@compute @workgroup_size(1) fn main() {
    out[push.add] = frame.value.x + object.value.x * push.scale + push.add;
}";

fn entry(slot: u32, name: &str, kind: BindingKind, min_size: u64) -> TableEntry {
    TableEntry { slot, name: name.into(), kind, stages: ShaderStages::COMPUTE, count: 1, min_size }
}

fn constant(gpu: &Gpu, data: &[u8]) -> Buffer {
    let buffer = gpu.buffer(data.len() as u64, BufferUsage::CONSTANT, StorageMode::DeviceUpload);
    buffer.write(0, data).unwrap();
    buffer
}

struct Scene {
    pipeline: ComputePipeline,
    frame: BindingTable,
    object: BindingTable,
    out: Buffer,
    stride: u32,
}

/// Tables 1 and 3 with an empty table 0 and 2 between; table 3 has a dynamic offset.
fn scene(gpu: &Gpu) -> Scene {
    let device = &gpu.device;
    let layout = |entries: &[TableEntry]| device.create_table_layout(&TableLayoutDesc { label: "t", entries }).unwrap();
    let frame_layout = layout(&[entry(0, "frame", BindingKind::Constant { dynamic: false }, 16)]);
    let object_layout = layout(&[
        entry(5, "out", BindingKind::BufferWrite, 4),
        entry(2, "object", BindingKind::Constant { dynamic: true }, 16),
    ]);
    let layout = PipelineLayoutDesc {
        label: "layout",
        tables: &[None, Some(&frame_layout), None, Some(&object_layout)],
        push: Some(PushRange { stages: ShaderStages::COMPUTE, size_bytes: 8 }),
        local: false,
    };
    let layout = device.create_pipeline_layout(&layout).unwrap();
    let pipeline = gpu.compute(SHADER, "main", Some(&layout));
    let stride = device.limits().uniform_alignment_bytes.max(16);
    let frame = constant(gpu, &[1000u32, 0, 0, 0].map(u32::to_le_bytes).concat());
    let mut objects = vec![0; 3 * stride as usize];
    for i in 0..3u32 {
        let at = (i * stride) as usize;
        objects[at..at + 4].copy_from_slice(&(10 + i).to_le_bytes());
    }
    let objects = constant(gpu, &objects);
    let out = gpu.buffer(16, BufferUsage::SHADER_WRITE | BufferUsage::COPY_SOURCE, StorageMode::DeviceLocal);
    let frame_view = frame.constant_view(BufferRange::WHOLE).unwrap();
    let object_view = objects.constant_view(BufferRange::new(0, 16)).unwrap();
    let out_view = out.write_view(BufferRange::WHOLE).unwrap();
    let table =
        |layout, writes: &[TableWrite<'_>]| device.create_table(&TableDesc { label: "table", layout, writes }).unwrap();
    let frame = table(&frame_layout, &[TableWrite::new(0, Binding::Constant(&frame_view))]);
    let object = table(
        &object_layout,
        &[TableWrite::new(5, Binding::BufferWrite(&out_view)), TableWrite::new(2, Binding::Constant(&object_view))],
    );
    Scene { pipeline, frame, object, out, stride }
}

#[test]
fn tables_dynamic_offsets_and_push_constants_reach_the_shader() {
    on_each(|gpu| {
        let s = scene(gpu);
        let back = gpu.readback(12);
        let write = Scope::new(Stages::COMPUTE, Access::SHADER_WRITE);
        gpu.run(|r| {
            let mut pass = r.compute_pass(&ComputePassDesc { label: "bind", timestamps: None });
            for i in 0..3u32 {
                let mut bound = pass.bind(&s.pipeline);
                if i == 0 {
                    bound.set_tables(1, &[&s.frame], &[]);
                }
                bound.set_tables(3, &[&s.object], &[i * s.stride]);
                bound.push_constants(0, &100u32.to_le_bytes());
                bound.push_constants(4, &i.to_le_bytes());
                bound.dispatch([1, 1, 1]);
            }
            drop(pass);
            r.barriers(&Barriers {
                global: &[GlobalBarrier { before: write, after: COPY_READ }],
                ..Barriers::default()
            });
            let all = BufferCopy { source_offset: 0, destination_offset: 0, size: 12 };
            r.transfer_pass("read back").copy_buffer(&s.out, &back, &[all]);
        });
        let expected = [2000u32, 2101, 2202].map(u32::to_le_bytes).concat();
        assert_eq!(read(&back), expected);
    });
}

#[test]
fn pools_grow_with_the_tables_of_a_layout_and_take_them_back() {
    on_each(|gpu| {
        let s = scene(gpu);
        let layout = s.pipeline.layout().table(1).unwrap().clone();
        let data = constant(gpu, &[0; 16]);
        let view = data.constant_view(BufferRange::WHOLE).unwrap();
        let writes = [TableWrite::new(0, Binding::Constant(&view))];
        for _ in 0..2 {
            let desc = TableDesc { label: "many", layout: &layout, writes: &writes };
            let tables: Vec<_> = (0..700).map(|_| gpu.device.create_table(&desc).unwrap()).collect();
            drop(tables);
            gpu.device.collect();
            assert_eq!(gpu.device.memory_report().1.waiting_objects, 0);
        }
    });
}
