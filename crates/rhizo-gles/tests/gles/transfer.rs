//! Bytes there and back, completion, threads.

use crate::harness::*;
use rhizo_rhi::*;
use std::time::{Duration, Instant};

const COPY: TextureUsage = TextureUsage::COPY_SOURCE.union(TextureUsage::COPY_DESTINATION);

#[test]
fn every_format_that_copies_gives_back_its_bytes() {
    let gpu = Gpu::new();
    let mut copied = Vec::new();
    for row in Format::all().iter().filter(|row| gpu.device.format_support(row.format).copy) {
        let desc = TextureDesc {
            label: row.name,
            format: row.format,
            extent: Extent::d2(5, 3),
            usage: COPY,
            ..TextureDesc::default()
        };
        let texture = match gpu.device.create_texture(&desc) {
            Ok(texture) => texture,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
                assert!(error.detail().contains("in another form"), "{error}");
                continue;
            }
        };
        // Bytes below 0x3c are finite in every float format; they are a normal picture in the others.
        let data: Vec<u8> = (0..5 * 3 * usize::from(row.block_bytes)).map(|i| (i * 7 % 60) as u8).collect();
        gpu.upload(&texture, 0, &data);
        assert_eq!(gpu.download(&texture, 0), data, "{}", row.name);
        copied.push(row.format);
    }
    for must in
        [Format::Rgba8Unorm, Format::Rgba8UnormSrgb, Format::Rgba32Float, Format::Rgba32Uint, Format::Rgba32Sint]
    {
        assert!(copied.contains(&must), "{must} is not among {copied:?}");
    }
    gpu.clean();
}

#[test]
fn parts_of_mip_levels_are_copied_with_pitches_and_origins() {
    let gpu = Gpu::new();
    let desc = TextureDesc { label: "t", extent: Extent::d2(13, 9), mips: 3, usage: COPY, ..TextureDesc::default() };
    let texture = gpu.device.create_texture(&desc).expect("a texture");
    gpu.upload(&texture, 1, &[9; 6 * 4 * 4]);
    // Two rows of three texels, 32 bytes apart, from byte 8 on.
    let source: Vec<u8> = (0..64).collect();
    let buffer = gpu.buffer(64, BufferUsage::COPY_SOURCE, StorageMode::Upload);
    buffer.write(0, &source).expect("written");
    let region = BufferTextureCopy {
        buffer_offset: 8,
        row_pitch: 32,
        rows_per_slice: 0,
        layers: TextureLayers::mip(1),
        origin: [2, 1, 0],
        extent: Extent::d2(3, 2),
    };
    gpu.run(|r| r.transfer_pass("part").copy_buffer_to_texture(&buffer, &texture, &[region]));
    let level = gpu.download(&texture, 1);
    for (x, y) in (0..4).flat_map(|y| (0..6).map(move |x| (x, y))) {
        let inside = (2..5).contains(&x) && (1..3).contains(&y);
        let first = 8 + (y.max(1) - 1) * 32 + (x.max(2) - 2) * 4;
        let expected: [u8; 4] = if inside { std::array::from_fn(|i| (first + i) as u8) } else { [9; 4] };
        assert_eq!(rgba(&level, 6, x, y), expected, "texel {x}, {y}");
    }
    // And the same part back, with another pitch.
    let back = gpu.buffer(64, BufferUsage::COPY_DESTINATION, StorageMode::Readback);
    let region = BufferTextureCopy { buffer_offset: 4, row_pitch: 20, ..region };
    gpu.run(|r| {
        let mut pass = r.transfer_pass("back");
        pass.fill_buffer(&back, BufferRange::WHOLE, 0x5555_5555);
        pass.copy_texture_to_buffer(&texture, &back, &[region]);
    });
    let mut found = vec![0; 64];
    back.read_into(0, &mut found).expect("read");
    let mut expected = vec![0x55; 64];
    expected[4..16].copy_from_slice(&source[8..20]);
    expected[24..36].copy_from_slice(&source[40..52]);
    assert_eq!(found, expected);
    gpu.clean();
}

#[test]
fn buffers_are_copied_and_filled() {
    let gpu = Gpu::new();
    let source = gpu.buffer(16, BufferUsage::COPY_SOURCE, StorageMode::Upload);
    source.write(0, &(0..16).collect::<Vec<_>>()).expect("written");
    let size = 200_000;
    let usage = BufferUsage::COPY_SOURCE | BufferUsage::COPY_DESTINATION;
    let middle = gpu.buffer(size, usage, StorageMode::DeviceLocal);
    let back = gpu.buffer(size, BufferUsage::COPY_DESTINATION, StorageMode::Readback);
    gpu.run(|r| {
        let mut pass = r.transfer_pass("copies");
        pass.fill_buffer(&middle, BufferRange::WHOLE, 0x0403_0201);
        pass.copy_buffer(&source, &middle, &[BufferCopy { source_offset: 4, destination_offset: 70_000, size: 8 }]);
        pass.copy_buffer(&middle, &back, &[BufferCopy { source_offset: 0, destination_offset: 0, size }]);
    });
    let mut found = vec![0; size as usize];
    back.read_into(0, &mut found).expect("read");
    let mut expected = 0x0403_0201_u32.to_ne_bytes().repeat(size as usize / 4);
    expected[70_000..70_008].copy_from_slice(&[4, 5, 6, 7, 8, 9, 10, 11]);
    assert_eq!(found, expected);
    gpu.clean();
}

#[test]
fn completion_advances_without_anyone_waiting_and_waits_time_out() {
    let gpu = Gpu::new();
    let mut pool = gpu.queue.create_pool();
    let mut last = None;
    for _ in 0..20 {
        let commands = pool.begin("empty").expect("begun").finish().expect("recorded");
        let index = gpu.queue.submit_commands(&[&commands]).expect("submitted");
        assert!(last.is_none_or(|last| index > last));
        last = Some(index);
    }
    let last = last.expect("submitted");
    assert_eq!(last.value(), 20);
    let begin = Instant::now();
    while !gpu.queue.is_complete(last) {
        assert!(begin.elapsed() < Duration::from_secs(10), "completed stays at {}", gpu.queue.completed());
        std::thread::yield_now();
    }
    let fence = gpu.device.create_fence("fence");
    assert!(matches!(fence.wait(0), Ok(FenceWait::NotSubmitted)));
    gpu.queue.submit(&Submission { fence: Some(&fence), ..Submission::default() }).expect("a fence alone");
    assert!(matches!(fence.wait(10_000_000_000), Ok(FenceWait::Signaled)));
    gpu.clean();
}

#[test]
fn devices_and_threads_mix_and_drop_in_any_order() {
    let gpus = [Gpu::new(), Gpu::new()];
    std::thread::scope(|scope| {
        for (i, gpu) in gpus.iter().enumerate().flat_map(|gpu| [gpu, gpu]) {
            scope.spawn(move || {
                let texture = gpu.texture(Format::Rgba8Unorm, (16, 16), COPY);
                let data = vec![i as u8 + 1; 16 * 16 * 4];
                gpu.upload(&texture, 0, &data);
                assert_eq!(gpu.download(&texture, 0), data);
            });
        }
    });
    let [first, second] = gpus;
    let stray = first.texture(Format::Rgba8Unorm, (4, 4), COPY);
    first.clean();
    assert!(first.device.memory_report().0.used_bytes >= 64);
    let Gpu { instance, device, queue } = first;
    drop((instance, device, queue));
    drop(stray); // outlives its device's last user
    second.clean();
}

#[test]
fn deep_groups_and_long_labels_are_harmless() {
    let gpu = Gpu::new();
    let long = "naïve ".repeat(2000);
    gpu.run(|r| {
        (0..100).for_each(|_| r.push_group(&long));
        (0..100).for_each(|_| r.pop_group());
    });
    gpu.buffer(4, BufferUsage::VERTEX, StorageMode::DeviceLocal);
    let desc =
        BufferDesc { label: &long, size_bytes: 4, usage: BufferUsage::VERTEX, storage: StorageMode::DeviceLocal };
    drop(gpu.device.create_buffer(&desc).expect("a buffer"));
    gpu.clean();
}
