//! A device whose native messages and late errors fail the test that caused them.

use rhizo_rhi::*;
use rhizo_shader::{Module, Source};

pub struct Gpu {
    pub instance: Instance,
    pub device: Device,
    pub queue: Queue,
}

impl Gpu {
    pub fn new() -> Self {
        let desc = InstanceDesc { native_validation: NativeValidation::Required, ..InstanceDesc::new(Backend::Gles) };
        let instance = rhizo_gles::instance(&desc).expect("EGL without a surface: see `cargo xtask setup --check`");
        let device = instance.open(0, &DeviceDesc { label: "test", queues: None }).expect("a device");
        let queue = device.queue(QueueKind::Graphics, 0).expect("its queue");
        Self { instance, device, queue }
    }

    /// Fails when the driver or the backend complained.
    pub fn clean(&self) {
        self.device.wait_idle().expect("idle");
        let messages = self.instance.take_messages();
        assert!(messages.is_empty(), "{messages:#?}");
        let errors = self.device.take_errors();
        assert!(errors.is_empty(), "{errors:#?}");
    }

    pub fn buffer(&self, size_bytes: u64, usage: BufferUsage, storage: StorageMode) -> Buffer {
        self.device.create_buffer(&BufferDesc { label: "buffer", size_bytes, usage, storage }).expect("a buffer")
    }

    /// A buffer the GPU reads, holding these bytes.
    pub fn filled(&self, data: &[u8], usage: BufferUsage) -> Buffer {
        let buffer = self.buffer(data.len() as u64, usage, StorageMode::DeviceUpload);
        buffer.write(0, data).expect("written");
        buffer
    }

    pub fn texture(&self, format: Format, (x, y): (u32, u32), usage: TextureUsage) -> Texture {
        let desc = TextureDesc { label: "texture", format, extent: Extent::d2(x, y), usage, ..TextureDesc::default() };
        self.device.create_texture(&desc).expect("a texture")
    }

    pub fn function(&self, module: &Module, entry: &str) -> Function {
        let artifact = module.compile(entry, self.device.shader_target()).expect("GLSL ES");
        self.device.create_function(&artifact).expect("the driver compiles it")
    }

    /// Records, submits and waits.
    pub fn run(&self, record: impl FnOnce(&mut Recorder<'_>)) {
        let mut pool = self.queue.create_pool();
        let mut recorder = pool.begin("commands").expect("begun");
        record(&mut recorder);
        let commands = recorder.finish().expect("recorded");
        let index = self.queue.submit_commands(&[&commands]).expect("submitted");
        assert!(self.queue.wait(index, 10_000_000_000).expect("waited"), "the submission takes more than 10 s");
    }

    pub fn upload(&self, texture: &Texture, mip: u32, data: &[u8]) {
        let source = self.buffer(data.len() as u64, BufferUsage::COPY_SOURCE, StorageMode::Upload);
        source.write(0, data).expect("written");
        let region = whole(texture, mip);
        self.run(|r| r.transfer_pass("upload").copy_buffer_to_texture(&source, texture, &[region]));
    }

    pub fn download(&self, texture: &Texture, mip: u32) -> Vec<u8> {
        let region = whole(texture, mip);
        let size = texture.format().row_bytes(region.extent.x) * u64::from(region.extent.y);
        let destination = self.buffer(size, BufferUsage::COPY_DESTINATION, StorageMode::Readback);
        self.run(|r| r.transfer_pass("download").copy_texture_to_buffer(texture, &destination, &[region]));
        let mut data = vec![0; size as usize];
        destination.read_into(0, &mut data).expect("read");
        data
    }
}

pub fn whole(texture: &Texture, mip: u32) -> BufferTextureCopy {
    let extent = texture.extent().mip(mip, false);
    BufferTextureCopy {
        buffer_offset: 0,
        row_pitch: 0,
        rows_per_slice: 0,
        layers: TextureLayers::mip(mip),
        origin: [0; 3],
        extent: Extent::d2(extent.x, extent.y),
    }
}

pub fn module(text: &str) -> Module {
    Module::parse(&Source::wgsl("test.wgsl", text)).expect("valid WGSL")
}

pub fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_ne_bytes()).collect()
}

pub fn rgba(pixels: &[u8], width: usize, x: usize, y: usize) -> [u8; 4] {
    pixels[(y * width + x) * 4..][..4].try_into().expect("four bytes")
}

#[track_caller]
pub fn near(found: [u8; 4], expected: [f32; 4], what: &str) {
    for (f, e) in found.iter().zip(expected) {
        assert!(
            (f32::from(*f) - e * 255.0).abs() <= 1.5,
            "{what}: {found:?}, expected {:?}",
            expected.map(|e| e * 255.0)
        );
    }
}
