//! A device per driver and what most tests do: upload, read back, compile.

use rhizo_rhi::*;
use rhizo_shader::Source;
use rhizo_testkit::drivers::{self, TestDriver};
use std::sync::Once;

/// Names a part of an adapter's name: tests that take their drivers from [`drivers_under_test`] then run on that adapter
/// alone, whichever driver it belongs to, and without the validation layer where there is none.
const TEST_ADAPTER: &str = "RHIZO_TEST_ADAPTER";

fn chosen_adapter() -> Option<String> {
    std::env::var(TEST_ADAPTER).ok().filter(|part| !part.is_empty())
}

/// Both software drivers, or the one adapter that the environment names.
pub(crate) fn drivers_under_test() -> Vec<TestDriver> {
    chosen_adapter().map_or_else(|| TestDriver::SOFTWARE.to_vec(), |part| vec![TestDriver::Hardware(part)])
}

/// A driver under test, opened with validation.
pub(crate) struct Gpu {
    pub(crate) instance: Instance,
    pub(crate) device: Device,
    pub(crate) queue: Queue,
    pub(crate) driver: TestDriver,
}

/// Points the Vulkan loader at the drivers under test, unless the environment already does or names an adapter.
fn point_loader() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if std::env::var_os("VK_DRIVER_FILES").is_some() || chosen_adapter().is_some() {
            return;
        }
        let list = drivers::driver_files(&drivers::installed_drivers()).expect("no driver: run `cargo xtask setup`");
        // SAFETY: every instance is made behind this `Once`, so no Vulkan code reads the environment meanwhile.
        unsafe {
            std::env::set_var("VK_DRIVER_FILES", &list);
            std::env::set_var("VK_ICD_FILENAMES", &list);
        }
    });
}

/// An instance of its own for one test: the messages are the test's.
pub(crate) fn instance() -> Instance {
    point_loader();
    let with = |native_validation| {
        rhizo_vulkan::instance(&InstanceDesc { native_validation, ..InstanceDesc::new(Backend::Vulkan) })
    };
    let required = with(NativeValidation::Required);
    if chosen_adapter().is_none() {
        return required.unwrap();
    }
    // A machine with the hardware need not have the layer: it is used where it is, and which of both is printed.
    let (instance, layer) = match required {
        Ok(instance) => (instance, "present, its messages fail the test".to_owned()),
        Err(error) => (with(NativeValidation::IfPresent).unwrap(), format!("absent ({error})")),
    };
    eprintln!("validation layer: {layer}");
    instance
}

impl Gpu {
    pub(crate) fn open(driver: TestDriver, queues: QueueRequest) -> Self {
        Self::open_on(instance(), driver, queues)
    }

    /// Without the validation layer, for the test that says why.
    pub(crate) fn open_unvalidated(driver: TestDriver, queues: QueueRequest) -> Self {
        point_loader();
        let instance = rhizo_vulkan::instance(&InstanceDesc::new(Backend::Vulkan)).unwrap();
        Self::open_on(instance, driver, queues)
    }

    fn open_on(instance: Instance, driver: TestDriver, queues: QueueRequest) -> Self {
        let part = match &driver {
            TestDriver::Hardware(part) => part.as_str(),
            software => software.adapter_name_contains().unwrap(),
        };
        let adapters = instance.adapters();
        let adapter = adapters.iter().position(|a| a.name.contains(part)).unwrap_or_else(|| {
            let names: Vec<_> = adapters.iter().map(|a| a.name.as_str()).collect();
            panic!("no adapter of {driver} among {names:?}: run `cargo xtask setup`, or mend {TEST_ADAPTER}")
        });
        let device = instance.open(adapter, &DeviceDesc { label: "test", queues: Some(queues) }).unwrap();
        let queue = device.queue(QueueKind::Graphics, 0).unwrap();
        Self { instance, device, queue, driver }
    }

    /// Drops everything and fails on any message of the validation layer.
    pub(crate) fn finish(self) {
        let Self { instance, device, queue, driver } = self;
        let late = device.take_errors();
        drop((device, queue));
        let messages = instance.take_messages();
        assert!(late.is_empty(), "{driver}: {late:?}");
        for m in &messages {
            eprintln!("{driver}: {} {}: {}", if m.error { "error" } else { "warning" }, m.id, m.text);
        }
        assert!(messages.is_empty(), "{driver}: {} validation messages", messages.len());
    }

    pub(crate) fn function(&self, wgsl: &str, entry: &str) -> Function {
        let artifact = rhizo_shader::compile(&Source::wgsl(entry, wgsl), entry, self.device.shader_target()).unwrap();
        self.device.create_function(&artifact).unwrap()
    }

    pub(crate) fn compute(&self, wgsl: &str, entry: &str, layout: Option<&PipelineLayout>) -> ComputePipeline {
        let function = self.function(wgsl, entry);
        let group_size = function.interface().group_size;
        let desc = ComputePipelineDesc { label: entry, layout, function: &function, group_size, cache: None };
        self.device.create_compute_pipeline(&desc).unwrap()
    }

    pub(crate) fn buffer(&self, size_bytes: u64, usage: BufferUsage, storage: StorageMode) -> Buffer {
        self.device.create_buffer(&BufferDesc { label: "buffer", size_bytes, usage, storage }).unwrap()
    }

    pub(crate) fn upload(&self, data: &[u8]) -> Buffer {
        let buffer = self.buffer(data.len() as u64, BufferUsage::COPY_SOURCE, StorageMode::Upload);
        buffer.write(0, data).unwrap();
        buffer
    }

    pub(crate) fn readback(&self, size_bytes: u64) -> Buffer {
        let usage = BufferUsage::COPY_DESTINATION | BufferUsage::QUERY_RESOLVE;
        self.buffer(size_bytes, usage, StorageMode::Readback)
    }

    /// Records, submits and waits.
    pub(crate) fn run(&self, record: impl FnOnce(&mut Recorder<'_>)) {
        let mut pool = self.queue.create_pool();
        let mut recorder = pool.begin("test").unwrap();
        record(&mut recorder);
        let commands = recorder.finish().unwrap();
        let submitted = self.queue.submit_commands(&[&commands]).unwrap();
        assert!(self.queue.wait(submitted, 20_000_000_000).unwrap(), "timed out");
    }

    pub(crate) fn target(&self, format: Format, size: (u32, u32), samples: u32, more: TextureUsage) -> Texture {
        let usage = TextureUsage::COLOR_TARGET | TextureUsage::COPY_SOURCE | more;
        let extent = Extent::d2(size.0, size.1);
        let desc = TextureDesc { label: "target", format, extent, samples, usage, ..TextureDesc::default() };
        self.device.create_texture(&desc).unwrap()
    }
}

/// Runs a test on every driver.
pub(crate) fn on_each(test: impl Fn(&Gpu)) {
    for driver in drivers_under_test() {
        let gpu = Gpu::open(driver, QueueRequest::ONE);
        test(&gpu);
        gpu.finish();
    }
}

pub(crate) fn read(buffer: &Buffer) -> Vec<u8> {
    let mut bytes = vec![0; buffer.size_bytes() as usize];
    buffer.read_into(0, &mut bytes).unwrap();
    bytes
}

pub(crate) const COPY_WRITE: Scope = Scope::new(Stages::TRANSFER, Access::TRANSFER_WRITE);
pub(crate) const COPY_READ: Scope = Scope::new(Stages::TRANSFER, Access::TRANSFER_READ);
pub(crate) const COLOR_WRITE: Scope = Scope::new(Stages::FRAGMENT, Access::RENDER_TARGET_WRITE);

/// A barrier over a whole texture.
pub(crate) fn transition<'a>(
    texture: &'a Texture,
    before: (Scope, Layout),
    after: (Scope, Layout),
) -> TextureBarrier<'a> {
    TextureBarrier {
        texture,
        range: TextureRange::WHOLE,
        before: before.0,
        before_layout: before.1,
        after: after.0,
        after_layout: after.1,
        queues: None,
    }
}

/// Textures out of the undefined layout.
pub(crate) fn discard_into<'a>(texture: &'a Texture, scope: Scope, layout: Layout) -> TextureBarrier<'a> {
    transition(texture, (Scope::NONE, Layout::Undefined), (scope, layout))
}

pub(crate) fn textures<'a>(list: &'a [TextureBarrier<'a>]) -> Barriers<'a> {
    Barriers { textures: list, ..Barriers::default() }
}

/// The whole first level into a tightly packed buffer.
pub(crate) fn whole(texture: &Texture) -> BufferTextureCopy {
    let e = texture.extent();
    BufferTextureCopy {
        buffer_offset: 0,
        row_pitch: 0,
        rows_per_slice: 0,
        layers: TextureLayers { layer_count: texture.layers(), ..TextureLayers::mip(0) },
        origin: [0; 3],
        extent: Extent { z: if texture.dimension() == TextureDimension::D3 { e.z } else { 1 }, ..e },
    }
}

/// From render target to a readback buffer.
pub(crate) fn read_target(recorder: &mut Recorder<'_>, texture: &Texture, into: &Buffer) {
    let after = (COPY_READ, Layout::CopySource);
    recorder.barriers(&textures(&[transition(texture, (COLOR_WRITE, Layout::RenderTarget), after)]));
    recorder.transfer_pass("read back").copy_texture_to_buffer(texture, into, &[whole(texture)]);
}

pub(crate) fn clear(view: &ColorTargetView, value: [f32; 4]) -> Option<ColorAttachment<'_>> {
    Some(ColorAttachment { view, load: LoadOp::Clear(value), store: StoreOp::Store, resolve: None })
}
