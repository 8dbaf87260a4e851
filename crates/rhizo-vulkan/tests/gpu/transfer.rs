//! Copies, fills, clears, blits, mips, resolves.

use crate::support::*;
use rhizo_rhi::*;

#[test]
fn bytes_survive_a_round_trip_through_device_memory() {
    on_each(|gpu| {
        let data: Vec<u8> = (0..4096u32).map(|i| (i * 7 % 251) as u8).collect();
        let (source, back) = (gpu.upload(&data), gpu.readback(4096));
        let usage = BufferUsage::COPY_SOURCE | BufferUsage::COPY_DESTINATION;
        let local = gpu.buffer(4096, usage, StorageMode::DeviceLocal);
        gpu.run(|r| {
            let mut pass = r.transfer_pass("copy");
            let all = BufferCopy { source_offset: 0, destination_offset: 0, size: 4096 };
            pass.copy_buffer(&source, &local, &[all]);
            let barrier = BufferBarrier {
                buffer: &local,
                range: BufferRange::WHOLE,
                before: COPY_WRITE,
                after: COPY_READ,
                queues: None,
            };
            pass.barriers(&Barriers { buffers: &[barrier], ..Barriers::default() });
            let halves = [
                BufferCopy { source_offset: 0, destination_offset: 2048, size: 2048 },
                BufferCopy { source_offset: 2048, destination_offset: 0, size: 2048 },
            ];
            pass.copy_buffer(&local, &back, &halves);
        });
        let got = read(&back);
        assert_eq!(&got[2048..], &data[..2048]);
        assert_eq!(&got[..2048], &data[2048..]);
    });
}

#[test]
fn fills_repeat_a_word_over_a_range() {
    on_each(|gpu| {
        let back = gpu.readback(64);
        gpu.run(|r| {
            let mut pass = r.transfer_pass("fill");
            pass.fill_buffer(&back, BufferRange::new(0, 16), 0);
            pass.fill_buffer(&back, BufferRange::new(16, 32), 0x0403_0201);
            pass.fill_buffer(&back, BufferRange::new(48, 16), u32::MAX);
        });
        let got = read(&back);
        assert!(got[..16].iter().all(|b| *b == 0));
        assert!(got[16..48].chunks_exact(4).all(|w| w == [1, 2, 3, 4]));
        assert!(got[48..].iter().all(|b| *b == 255));
    });
}

fn texture(gpu: &Gpu, format: Format, extent: Extent, mips: u32, dimension: TextureDimension) -> Texture {
    let usage = TextureUsage::COPY_SOURCE | TextureUsage::COPY_DESTINATION | TextureUsage::SHADER_READ;
    let desc = TextureDesc { label: "texture", dimension, format, extent, mips, usage, ..TextureDesc::default() };
    gpu.device.create_texture(&desc).unwrap()
}

/// Uploads with the given rows, copies back tightly packed.
fn through(gpu: &Gpu, texture: &Texture, data: &[u8], region: BufferTextureCopy, back_bytes: u64) -> Vec<u8> {
    let (source, back) = (gpu.upload(data), gpu.readback(back_bytes));
    gpu.run(|r| {
        let mut pass = r.transfer_pass("through a texture");
        pass.barriers(&textures(&[discard_into(texture, COPY_WRITE, Layout::CopyDestination)]));
        pass.copy_buffer_to_texture(&source, texture, &[region]);
        let after = (COPY_READ, Layout::CopySource);
        pass.barriers(&textures(&[transition(texture, (COPY_WRITE, Layout::CopyDestination), after)]));
        let tight = BufferTextureCopy { buffer_offset: 0, row_pitch: 0, rows_per_slice: 0, ..region };
        pass.copy_texture_to_buffer(texture, &back, &[tight]);
    });
    read(&back)
}

#[test]
fn rows_and_slices_keep_their_pitch() {
    on_each(|gpu| {
        // 3 x 2 texels of 2 layers, rows of 20 bytes, 3 rows per layer, from byte 8.
        let array = texture(gpu, Format::Rgba8Unorm, Extent { x: 3, y: 2, z: 2 }, 1, TextureDimension::D2);
        let data: Vec<u8> = (0..8 + 20 * 3 * 2).map(|i| i as u8).collect();
        let region = BufferTextureCopy { buffer_offset: 8, row_pitch: 20, rows_per_slice: 3, ..whole(&array) };
        let got = through(gpu, &array, &data, region, 3 * 2 * 2 * 4);
        for layer in 0..2 {
            for row in 0..2 {
                let (from, to) = (8 + layer * 60 + row * 20, (layer * 2 + row) * 12);
                assert_eq!(got[to..to + 12], data[from..from + 12], "layer {layer} row {row}");
            }
        }
        // The same as depth slices.
        let volume = texture(gpu, Format::Rgba8Unorm, Extent { x: 3, y: 2, z: 2 }, 1, TextureDimension::D3);
        let region = BufferTextureCopy { buffer_offset: 8, row_pitch: 20, rows_per_slice: 3, ..whole(&volume) };
        assert_eq!(through(gpu, &volume, &data, region, 3 * 2 * 2 * 4), got);
    });
}

#[test]
fn block_compressed_textures_copy_in_blocks() {
    on_each(|gpu| {
        let format = Format::Bc1RgbaUnorm;
        if !gpu.device.format_support(format).copy {
            rhizo_testkit::skips::report_skip(
                "block_compressed_textures_copy_in_blocks",
                &format!("{}: no BC1", gpu.driver),
            );
            return;
        }
        let compressed = texture(gpu, format, Extent::d2(10, 6), 1, TextureDimension::D2);
        // 3 x 2 blocks of 8 bytes, rows of 32 bytes.
        let data: Vec<u8> = (0..64).collect();
        let region = BufferTextureCopy { row_pitch: 32, ..whole(&compressed) };
        let got = through(gpu, &compressed, &data, region, 48);
        assert_eq!(got[..24], data[..24]);
        assert_eq!(got[24..], data[32..56]);
    });
}

#[test]
fn mips_are_averages_of_the_level_above() {
    on_each(|gpu| {
        let image = texture(gpu, Format::Rgba8Unorm, Extent::d2(4, 4), 3, TextureDimension::D2);
        // Left half 0, right half 200.
        let data: Vec<u8> = (0..16).flat_map(|i| [if i % 4 < 2 { 0 } else { 200 }; 4]).collect();
        let (source, back) = (gpu.upload(&data), gpu.readback(16 + 4));
        let after = Scope::new(Stages::TRANSFER, Access::TRANSFER_READ);
        gpu.run(|r| {
            let mut pass = r.transfer_pass("mips");
            let barrier = TextureBarrier {
                range: TextureRange::mip(0),
                ..discard_into(&image, COPY_WRITE, Layout::CopyDestination)
            };
            pass.barriers(&textures(&[barrier]));
            pass.copy_buffer_to_texture(&source, &image, &[whole(&image)]);
            pass.generate_mips(&image, (COPY_WRITE, Layout::CopyDestination), after);
            let read = (COPY_READ, Layout::CopySource);
            pass.barriers(&textures(&[transition(&image, (after, Layout::ShaderReadOnly), read)]));
            let level = |mip, size, buffer_offset| BufferTextureCopy {
                layers: TextureLayers::mip(mip),
                extent: Extent::d2(size, size),
                buffer_offset,
                ..whole(&image)
            };
            pass.copy_texture_to_buffer(&image, &back, &[level(1, 2, 0), level(2, 1, 16)]);
        });
        let got = read(&back);
        assert_eq!(got[..16], [[0; 4], [200; 4], [0; 4], [200; 4]].concat());
        assert!(got[16..].iter().all(|v| v.abs_diff(100) <= 1), "{:?}", &got[16..]);
    });
}

#[test]
fn blits_scale_and_convert() {
    on_each(|gpu| {
        let from = texture(gpu, Format::Rgba8Unorm, Extent::d2(2, 2), 1, TextureDimension::D2);
        let to = texture(gpu, Format::Rgba32Float, Extent::d2(4, 4), 1, TextureDimension::D2);
        let data = [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [255, 255, 255, 0]].concat();
        let (source, back) = (gpu.upload(&data), gpu.readback(4 * 4 * 16));
        gpu.run(|r| {
            let mut pass = r.transfer_pass("blit");
            let into = |t| discard_into(t, COPY_WRITE, Layout::CopyDestination);
            pass.barriers(&textures(&[into(&from), into(&to)]));
            pass.copy_buffer_to_texture(&source, &from, &[whole(&from)]);
            let readable = (COPY_READ, Layout::CopySource);
            pass.barriers(&textures(&[transition(&from, (COPY_WRITE, Layout::CopyDestination), readable)]));
            let layers = TextureLayers::mip(0);
            let region = TextureBlit {
                source: layers,
                source_box: [[0, 0, 0], [2, 2, 1]],
                destination: layers,
                destination_box: [[0, 0, 0], [4, 4, 1]],
            };
            pass.blit(&from, &to, &[region], BlitFilter::Nearest);
            pass.barriers(&textures(&[transition(&to, (COPY_WRITE, Layout::CopyDestination), readable)]));
            pass.copy_texture_to_buffer(&to, &back, &[whole(&to)]);
        });
        let got = read(&back);
        for y in 0..4 {
            for x in 0..4 {
                let at = (y * 4 + x) * 16;
                let texel: Vec<f32> =
                    got[at..at + 16].chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
                let from = (y / 2 * 2 + x / 2) * 4;
                let expected: Vec<f32> = data[from..from + 4].iter().map(|v| f32::from(*v) / 255.0).collect();
                assert_eq!(texel, expected, "{x} {y}");
            }
        }
    });
}

#[test]
fn clears_take_the_class_of_the_format() {
    on_each(|gpu| {
        let cases: [(Format, [f32; 4], Vec<u8>); 4] = [
            (Format::Rgba8Unorm, [0.0, 1.0, 0.2, 1.0], vec![0, 255, 51, 255]),
            (Format::R32Float, [-2.5, 0.0, 0.0, 0.0], (-2.5f32).to_le_bytes().to_vec()),
            (Format::R32Uint, [70000.0, 0.0, 0.0, 0.0], 70000u32.to_le_bytes().to_vec()),
            (Format::R32Sint, [-7.0, 0.0, 0.0, 0.0], (-7i32).to_le_bytes().to_vec()),
        ];
        for (format, value, expected) in cases {
            let image = texture(gpu, format, Extent::d2(2, 1), 1, TextureDimension::D2);
            let back = gpu.readback(8);
            gpu.run(|r| {
                let mut pass = r.transfer_pass("clear");
                pass.barriers(&textures(&[discard_into(&image, COPY_WRITE, Layout::CopyDestination)]));
                pass.clear_color(&image, TextureRange::WHOLE, value);
                let after = (COPY_READ, Layout::CopySource);
                pass.barriers(&textures(&[transition(&image, (COPY_WRITE, Layout::CopyDestination), after)]));
                pass.copy_texture_to_buffer(&image, &back, &[whole(&image)]);
            });
            assert_eq!(read(&back), [expected.clone(), expected].concat(), "{format}");
        }
    });
}

#[test]
fn textures_copy_to_textures() {
    on_each(|gpu| {
        let usage = TextureUsage::COPY_SOURCE | TextureUsage::COPY_DESTINATION;
        let make = || {
            let desc = TextureDesc { label: "copied", extent: Extent::d2(4, 2), usage, ..TextureDesc::default() };
            gpu.device.create_texture(&desc).unwrap()
        };
        let (a, b) = (make(), make());
        let data: Vec<u8> = (0..32).collect();
        let (source, back) = (gpu.upload(&data), gpu.readback(32));
        gpu.run(|r| {
            let mut pass = r.transfer_pass("copy");
            let into = |t| discard_into(t, COPY_WRITE, Layout::CopyDestination);
            pass.barriers(&textures(&[into(&a), into(&b)]));
            pass.copy_buffer_to_texture(&source, &a, &[whole(&a)]);
            let readable = |t| transition(t, (COPY_WRITE, Layout::CopyDestination), (COPY_READ, Layout::CopySource));
            pass.barriers(&textures(&[readable(&a)]));
            pass.copy_whole(&a, &b);
            pass.barriers(&textures(&[readable(&b)]));
            pass.copy_texture_to_buffer(&b, &back, &[whole(&b)]);
        });
        assert_eq!(read(&back), data);
    });
}
