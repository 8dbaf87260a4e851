//! RHZ-TRANSFER: what copies move, and what they refuse.

use crate::support::*;
use rhizo_rhi::*;

fn upload(rig: &Rig, label: &str, bytes: &[u8]) -> Buffer {
    let buffer = rig.stored(label, bytes.len() as u64, BufferUsage::COPY_SOURCE, StorageMode::Upload);
    buffer.write(0, bytes).unwrap();
    buffer
}

fn readback(rig: &Rig, size: u64) -> Buffer {
    let usage = BufferUsage::COPY_DESTINATION | BufferUsage::QUERY_RESOLVE;
    rig.stored("readback", size, usage, StorageMode::Readback)
}

fn run(rig: &Rig, commands: impl FnOnce(&mut TransferPass<'_>)) {
    let commands = rig.record(|r| commands(&mut r.transfer_pass("copies"))).unwrap();
    rig.queue.submit_commands(&[&commands]).unwrap();
    rig.device.wait_idle().unwrap();
}

fn read(buffer: &Buffer) -> Vec<u8> {
    let mut bytes = vec![0; buffer.size_bytes() as usize];
    buffer.read_into(0, &mut bytes).unwrap();
    bytes
}

fn region(extent: Extent) -> BufferTextureCopy {
    BufferTextureCopy {
        buffer_offset: 0,
        row_pitch: 0,
        rows_per_slice: 0,
        layers: TextureLayers::mip(0),
        origin: [0; 3],
        extent,
    }
}

fn whole(size: u64) -> BufferCopy {
    BufferCopy { source_offset: 0, destination_offset: 0, size }
}

#[test]
fn buffers_are_copied_and_filled() {
    let rig = Rig::new();
    let source = upload(&rig, "source", &[1, 2, 3, 4, 5, 6, 7, 8]);
    let (middle, back) = (rig.buffer("middle", 16, BUFFER_COPIES), readback(&rig, 16));
    run(&rig, |pass| {
        pass.fill_buffer(&middle, BufferRange::WHOLE, 0x0403_0201);
        pass.copy_buffer(&source, &middle, &[BufferCopy { source_offset: 2, destination_offset: 5, size: 3 }]);
        pass.copy_buffer(&middle, &back, &[whole(16)]);
    });
    assert_eq!(read(&back), [1, 2, 3, 4, 1, 3, 4, 5, 1, 2, 3, 4, 1, 2, 3, 4]);
}

#[test]
fn work_that_writes_readback_memory_becomes_visible_to_the_cpu() {
    let rig = Rig::new();
    let (middle, back) = (rig.buffer("middle", 16, BUFFER_COPIES), readback(&rig, 16));
    let text = |destination: &Buffer| {
        let commands = rig.record(|r| r.transfer_pass("t").fill_buffer(destination, BufferRange::WHOLE, 0)).unwrap();
        rig.control.text(&commands).last().cloned()
    };
    assert_eq!(text(&back).as_deref(), Some("host-read"));
    assert_eq!(text(&middle).as_deref(), Some("pop-group"));
}

#[test]
fn textures_round_trip_with_pitch_and_origin() {
    let rig = Rig::new();
    let texels: Vec<u8> = (0..64).collect();
    let source = upload(&rig, "source", &texels);
    let (target, other, back) = (rig.target("target"), rig.target("other"), readback(&rig, 32));
    run(&rig, |pass| {
        pass.copy_buffer_to_texture(&source, &target, &[region(Extent::d2(4, 4))]);
        let copy = TextureCopy {
            source: TextureLayers::mip(0),
            source_origin: [1, 1, 0],
            destination: TextureLayers::mip(0),
            destination_origin: [0, 2, 0],
            extent: Extent::d2(2, 2),
        };
        pass.copy_texture(&target, &other, &[copy]);
        let rows = BufferTextureCopy { origin: [0, 2, 0], row_pitch: 16, ..region(Extent::d2(2, 2)) };
        pass.copy_texture_to_buffer(&other, &back, &[rows]);
    });
    let bytes = read(&back);
    assert_eq!(bytes[..8], texels[20..28]);
    assert_eq!(bytes[16..24], texels[36..44]);
    assert_eq!(bytes[8..16], [0; 8]);
}

#[test]
fn layers_slices_and_mips_are_apart() {
    let rig = Rig::new();
    for dimension in [TextureDimension::D2, TextureDimension::D3] {
        let extent = Extent { x: 5, y: 3, z: 4 };
        let desc = TextureDesc { label: "t", dimension, extent, mips: 2, usage: COPIES, ..TextureDesc::default() };
        let texture = rig.texture(&desc);
        let is_3d = dimension == TextureDimension::D3;
        let mip = extent.mip(1, is_3d);
        let (slices, layers) = if is_3d { (mip.z, 1) } else { (1, 4) };
        let bytes: Vec<u8> = (0..(mip.x * mip.y * slices * layers * 4) as u8).collect();
        let (source, back) = (upload(&rig, "source", &bytes), readback(&rig, bytes.len() as u64));
        let layers = TextureLayers { layer_count: layers, ..TextureLayers::mip(1) };
        let region = BufferTextureCopy { layers, ..region(Extent { z: slices, ..mip }) };
        run(&rig, |pass| {
            pass.copy_buffer_to_texture(&source, &texture, &[region]);
            pass.copy_texture_to_buffer(&texture, &back, &[region]);
        });
        assert_eq!(read(&back), bytes, "{dimension:?}");
        assert!(rig.control.texture_bytes("t", TextureLayers::mip(0)).unwrap().iter().all(|b| *b == 0));
    }
}

#[test]
fn compressed_blocks_at_odd_sizes() {
    let rig = Rig::new();
    let format = Format::Bc1RgbaUnorm;
    let desc =
        TextureDesc { label: "bc", format, extent: Extent::d2(6, 6), mips: 3, usage: COPIES, ..Default::default() };
    let texture = rig.texture(&desc);
    let bytes: Vec<u8> = (0..32).collect();
    let (source, back) = (upload(&rig, "source", &bytes), readback(&rig, 32));
    run(&rig, |pass| {
        pass.copy_buffer_to_texture(&source, &texture, &[region(Extent::d2(6, 6))]);
        pass.copy_texture_to_buffer(&texture, &back, &[region(Extent::d2(6, 6))]);
    });
    assert_eq!(read(&back), bytes);
    let refused = |r: BufferTextureCopy| {
        rig.record(|recorder| recorder.transfer_pass("t").copy_buffer_to_texture(&source, &texture, &[r]))
    };
    assert_eq!(broken(refused(region(Extent::d2(8, 8)))), clause::COPY_RANGE.id, "extents are in texels, not blocks");
    assert_eq!(broken(refused(region(Extent::d2(3, 4)))), clause::COPY_RANGE.id, "half a block");
    refused(BufferTextureCopy { layers: TextureLayers::mip(1), ..region(Extent::d2(3, 3)) }).unwrap();
}

#[test]
fn depth_and_stencil_are_copied_apart() {
    let rig = Rig::new();
    let depth = rig.depth("depth");
    let back = readback(&rig, 80);
    let view = depth.depth_stencil_target_view(TextureRange::mip(0)).unwrap();
    let clear = |v| DepthOps { load: LoadOp::Clear([v; 4]), ..DepthOps::default() };
    let attachment = DepthStencilAttachment { view: &view, depth: clear(0.5), stencil: clear(3.0) };
    let aspect = |aspects, buffer_offset| BufferTextureCopy {
        layers: TextureLayers { aspects, ..TextureLayers::mip(0) },
        buffer_offset,
        ..region(Extent::d2(4, 4))
    };
    let commands = rig.record(|r| {
        drop(r.raster_pass(&RasterPassDesc { depth_stencil: Some(attachment), ..RasterPassDesc::default() }));
        let regions = [aspect(Aspects::DEPTH, 0), aspect(Aspects::STENCIL, 64)];
        r.transfer_pass("read").copy_texture_to_buffer(&depth, &back, &regions);
    });
    rig.queue.submit_commands(&[&commands.unwrap()]).unwrap();
    let bytes = read(&back);
    assert!(bytes[..64].chunks(4).all(|d| d == 0.5_f32.to_le_bytes()));
    assert_eq!(bytes[64..], [3; 16]);
    let both = rig.record(|r| r.transfer_pass("t").copy_texture_to_buffer(&depth, &back, &[region(Extent::d2(4, 4))]));
    assert_eq!(broken(both), clause::COPY_FORMAT.id);
    let transfer = rig.queue(QueueKind::Transfer);
    let elsewhere = |r: &mut Recorder<'_>| {
        r.transfer_pass("t").copy_texture_to_buffer(&depth, &back, &[aspect(Aspects::DEPTH, 0)]);
    };
    assert_eq!(broken(rig.record_on(&transfer, elsewhere)), clause::POOL_QUEUE.id);
}

#[test]
fn clears_are_executed_inside_the_area() {
    let rig = Rig::new();
    let target = rig.target("target");
    let view = color_view(&target);
    let colors = [color(&view)];
    let commands = rig.record(|r| {
        r.transfer_pass("clear").clear_color(&target, TextureRange::WHOLE, [0.0, 1.0, 0.0, 1.0]);
        let area = Some([1, 1, 2, 2]);
        drop(r.raster_pass(&RasterPassDesc { colors: &colors, area, ..RasterPassDesc::default() }));
    });
    rig.queue.submit_commands(&[&commands.unwrap()]).unwrap();
    let bytes = rig.control.texture_bytes("target", TextureLayers::mip(0)).unwrap();
    let red = bytes.chunks(4).filter(|t| *t == [255, 0, 0, 255]).count();
    let green = bytes.chunks(4).filter(|t| *t == [0, 255, 0, 255]).count();
    assert_eq!((red, green), (4, 12));
    assert_eq!(bytes[20..24], [255, 0, 0, 255]);
}

#[test]
fn whole_copies_cover_every_sub_resource() {
    let rig = Rig::new();
    let desc = TextureDesc { extent: Extent { x: 5, y: 3, z: 2 }, mips: 3, usage: COPIES, ..TextureDesc::default() };
    let (a, b) = (rig.texture(&TextureDesc { label: "a", ..desc }), rig.texture(&TextureDesc { label: "b", ..desc }));
    run(&rig, |pass| {
        pass.clear_color(&a, TextureRange::WHOLE, [1.0; 4]);
        pass.copy_whole(&a, &b);
    });
    for mip in 0..3 {
        for base_layer in 0..2 {
            let layers = TextureLayers { base_layer, ..TextureLayers::mip(mip) };
            let bytes = rig.control.texture_bytes("b", layers).unwrap();
            assert!(!bytes.is_empty() && bytes.iter().all(|b| *b == 255), "mip {mip} layer {base_layer}");
        }
    }
}

#[test]
fn copies_that_touch_what_they_read_are_refused() {
    let rig = Rig::new();
    let buffer = rig.buffer("buffer", 64, BUFFER_COPIES);
    let copy = |regions: &[(u64, u64, u64)]| {
        let region =
            |&(source_offset, destination_offset, size): &_| BufferCopy { source_offset, destination_offset, size };
        let regions: Vec<BufferCopy> = regions.iter().map(region).collect();
        rig.record(|r| r.transfer_pass("t").copy_buffer(&buffer, &buffer, &regions))
    };
    copy(&[(0, 16, 16), (32, 48, 16)]).unwrap();
    assert_eq!(broken(copy(&[(0, 15, 16)])), clause::COPY_OVERLAP.id);
    assert_eq!(broken(copy(&[(0, 16, 16), (16, 32, 16)])), clause::COPY_OVERLAP.id, "across regions");
    let target = rig.target("target");
    let blit = TextureBlit {
        source: TextureLayers::mip(0),
        source_box: [[0, 0, 0], [2, 2, 1]],
        destination: TextureLayers::mip(0),
        destination_box: [[2, 2, 0], [4, 4, 1]],
    };
    let refused = rig.record(|r| r.transfer_pass("t").blit(&target, &target, &[blit], BlitFilter::Nearest));
    assert_eq!(broken(refused), clause::COPY_OVERLAP.id);
}

#[test]
fn huge_pitches_do_not_overflow() {
    let rig = Rig::new();
    let usage = COPIES;
    let extent = Extent { x: 1, y: 2, z: 64 };
    let desc = TextureDesc { dimension: TextureDimension::D3, extent, usage, ..TextureDesc::default() };
    let (texture, buffer) = (rig.texture(&desc), rig.buffer("buffer", 1024, BUFFER_COPIES));
    let far = BufferTextureCopy { row_pitch: u32::MAX - 3, rows_per_slice: u32::MAX, ..region(extent) };
    let refused = rig.record(|r| r.transfer_pass("t").copy_buffer_to_texture(&buffer, &texture, &[far]));
    assert_eq!(broken(refused), clause::COPY_RANGE.id);
}

#[test]
fn copies_of_nothing_reach_no_backend() {
    let rig = Rig::new();
    let (buffer, target) = (rig.buffer("buffer", 64, BUFFER_COPIES), rig.target("target"));
    let other = rig.target("other");
    let commands = rig
        .record(|r| {
            let mut pass = r.transfer_pass("nothing");
            pass.copy_buffer(&buffer, &buffer, &[]);
            pass.copy_buffer_to_texture(&buffer, &target, &[]);
            pass.copy_texture_to_buffer(&target, &buffer, &[]);
            pass.copy_texture(&target, &other, &[]);
            pass.blit(&target, &other, &[], BlitFilter::Linear);
        })
        .unwrap();
    assert_eq!(rig.control.text(&commands), ["push-group \"nothing\"", "pop-group"]);
}

#[test]
fn mips_are_generated_level_by_level() {
    let rig = Rig::new();
    let desc = TextureDesc { label: "t", extent: Extent::d2(5, 3), mips: 3, usage: COPIES, ..TextureDesc::default() };
    let texture = rig.texture(&desc);
    let before = (Scope::new(Stages::TRANSFER, Access::TRANSFER_WRITE), Layout::CopyDestination);
    let after = Scope::new(Stages::FRAGMENT, Access::SHADER_READ);
    let commands = rig.record(|r| r.transfer_pass("mips").generate_mips(&texture, before, after)).unwrap();
    let text = rig.control.text(&commands);
    let blits: Vec<&String> = text.iter().filter(|l| l.starts_with("blit")).collect();
    assert_eq!(blits.len(), 2);
    assert!(blits[0].contains("[[0, 0, 0], [5, 3, 1]] -> mip 1 layers 0+1 [[0, 0, 0], [2, 1, 1]]"), "{}", blits[0]);
    let read_only = text.iter().filter(|l| l.ends_with("fragment:shader-read shader-read-only]")).count();
    assert_eq!(read_only, 3, "{text:#?}");
}

#[test]
fn query_results_are_resolved_into_buffers() {
    let rig = Rig::new();
    let set = rig.queries(QueryKind::Timestamp, 2);
    let back = readback(&rig, 16);
    let commands = rig.record(|r| {
        r.write_timestamp(&set, 0);
        r.write_timestamp(&set, 1);
        r.transfer_pass("resolve").resolve_queries(&set, 0, 2, &back, 0);
    });
    rig.queue.submit_commands(&[&commands.unwrap()]).unwrap();
    let words: Vec<u64> = read(&back).chunks(8).map(|w| u64::from_le_bytes(w.try_into().unwrap())).collect();
    assert_eq!(Some(words), set.results(0, 2).unwrap());
}

#[test]
fn host_access_stays_inside_upload_and_readback_buffers() {
    let rig = Rig::new();
    let (up, back) = (upload(&rig, "up", &[0; 8]), readback(&rig, 8));
    assert_eq!(broken(back.write(0, &[1])), clause::BUFFER_HOST.id);
    assert_eq!(broken(up.read_into(0, &mut [0])), clause::BUFFER_HOST.id);
    assert_eq!(broken(up.write(u64::MAX, &[1])), clause::BUFFER_RANGE.id);
    assert_eq!(broken(back.read_into(1, &mut [0; 8])), clause::BUFFER_RANGE.id);
}
