//! Copies, fills, clears and resolves, lowered ones too, and completion.

use crate::{TIMEOUT_NS, on_each_driver, read, submit_and_wait};
use rhizo_rhi::*;

fn buffer(device: &Device, size_bytes: u64, usage: BufferUsage, storage: StorageMode) -> Buffer {
    device.create_buffer(&BufferDesc { label: "bytes", size_bytes, usage, storage }).unwrap()
}

fn readback(device: &Device, size: u64) -> Buffer {
    buffer(device, size, BufferUsage::COPY_DESTINATION, StorageMode::Readback)
}

fn run(queue: &Queue, commands: impl FnOnce(&mut TransferPass<'_>)) {
    let mut pool = queue.create_pool();
    let mut recorder = pool.begin("transfer").unwrap();
    commands(&mut recorder.transfer_pass("transfer"));
    submit_and_wait(queue, &recorder.finish().unwrap());
}

fn whole(extent: Extent, row_pitch: u32) -> BufferTextureCopy {
    let layers = TextureLayers::mip(0);
    BufferTextureCopy { buffer_offset: 0, row_pitch, rows_per_slice: 0, layers, origin: [0; 3], extent }
}

#[test]
fn host_writes_need_no_alignment() {
    on_each_driver(|device, queue| {
        let upload = buffer(device, 10, BufferUsage::COPY_SOURCE, StorageMode::Upload);
        let back = readback(device, 8);
        upload.write(0, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]).unwrap();
        upload.write(3, &[30, 40]).unwrap();
        run(queue, |pass| {
            pass.copy_buffer(&upload, &back, &[BufferCopy { source_offset: 0, destination_offset: 0, size: 8 }]);
        });
        assert_eq!(read(&back), [1, 2, 3, 30, 40, 6, 7, 8]);
        let mut some = [0; 3];
        back.read_into(2, &mut some).unwrap();
        assert_eq!(some, [3, 30, 40]);
    });
}

#[test]
fn fills_and_copies_inside_one_buffer() {
    on_each_driver(|device, queue| {
        let usage = BufferUsage::COPY_SOURCE | BufferUsage::COPY_DESTINATION;
        let size = 200_000; // more than the filled buffer that fills copy from
        let local = buffer(device, size, usage, StorageMode::DeviceLocal);
        let back = readback(device, size);
        run(queue, |pass| {
            pass.fill_buffer(&local, BufferRange::WHOLE, 0x0403_0201);
            pass.fill_buffer(&local, BufferRange::new(8, 4), 0);
            pass.copy_buffer(&local, &local, &[BufferCopy { source_offset: 4, destination_offset: 16, size: 8 }]);
            pass.copy_buffer(&local, &back, &[BufferCopy { source_offset: 0, destination_offset: 0, size }]);
        });
        let mut want = [1, 2, 3, 4].repeat(50_000);
        want[8..12].fill(0);
        want[20..24].fill(0);
        assert!(read(&back) == want, "the bytes differ");
    });
}

#[test]
fn textures_go_up_and_down_with_any_row_pitch_of_words() {
    on_each_driver(|device, queue| {
        let extent = Extent::d2(5, 7);
        let usage = TextureUsage::COPY_SOURCE | TextureUsage::COPY_DESTINATION;
        let desc = TextureDesc { label: "small", extent, usage, ..TextureDesc::default() };
        let (first, second) = (device.create_texture(&desc).unwrap(), device.create_texture(&desc).unwrap());
        let bytes: Vec<u8> = (0..5 * 7 * 4).map(|i| i as u8).collect();
        let upload = buffer(device, bytes.len() as u64, BufferUsage::COPY_SOURCE, StorageMode::Upload);
        upload.write(0, &bytes).unwrap();
        let back = readback(device, 24 * 7);
        run(queue, |pass| {
            pass.copy_buffer_to_texture(&upload, &first, &[whole(extent, 0)]);
            pass.copy_whole(&first, &second);
            pass.copy_texture_to_buffer(&second, &back, &[whole(extent, 24)]);
        });
        let got = read(&back);
        for (row, want) in bytes.chunks(20).enumerate() {
            assert_eq!(&got[row * 24..][..20], want, "row {row}");
            assert!(row == 6 || got[row * 24 + 20..][..4] == [0; 4], "bytes between rows stay");
        }
    });
}

#[test]
fn clears_and_resolves_are_passes() {
    on_each_driver(|device, queue| {
        let extent = Extent::d2(64, 4);
        let usage = TextureUsage::COPY_SOURCE | TextureUsage::COPY_DESTINATION;
        let one = TextureDesc { label: "one", extent, usage, ..TextureDesc::default() };
        let four = TextureDesc { samples: 4, ..one };
        let (one, four) = (device.create_texture(&one).unwrap(), device.create_texture(&four).unwrap());
        let back = readback(device, 256 * 4);
        let layers = TextureLayers::mip(0);
        let region = TextureCopy {
            source: layers,
            source_origin: [0; 3],
            destination: layers,
            destination_origin: [0; 3],
            extent,
        };
        run(queue, |pass| {
            pass.clear_color(&one, TextureRange::WHOLE, [0.0, 0.0, 0.0, 1.0]);
            pass.clear_color(&four, TextureRange::WHOLE, [1.0, 0.0, 0.2, 1.0]);
            pass.resolve(&four, &one, &[region]);
            pass.copy_texture_to_buffer(&one, &back, &[whole(extent, 256)]);
        });
        assert_eq!(read(&back), [255, 0, 51, 255].repeat(64 * 4));
    });
}

#[test]
fn completion_is_by_index_fence_and_idle() {
    on_each_driver(|device, queue| {
        let back = readback(device, 64);
        let fence = device.create_fence("done");
        assert_eq!(fence.wait(0).unwrap(), FenceWait::NotSubmitted);
        let mut pool = queue.create_pool();
        for round in 1..=5_u64 {
            let mut recorder = pool.begin("fill").unwrap();
            recorder.transfer_pass("fill").fill_buffer(&back, BufferRange::WHOLE, round as u32);
            let commands = recorder.finish().unwrap();
            let submission = Submission { commands: &[&commands], fence: Some(&fence), ..Submission::default() };
            let submission = queue.submit(&submission).unwrap();
            assert_eq!(submission.value(), round);
            assert_eq!(fence.wait(TIMEOUT_NS).unwrap(), FenceWait::Signaled);
            assert!(queue.completed() >= round);
            assert_eq!(read(&back), (round as u32).to_ne_bytes().repeat(16));
            fence.reset().unwrap();
        }
        device.wait_idle().unwrap();
    });
}
