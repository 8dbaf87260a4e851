//! The report on the two software drivers, opened without the rest of the backend.

use ash::vk;
use rhizo_rhi::{Capabilities, Domain, Fact, FeatureLevel, LimitKind, Provenance, Strategy, Tier};
use rhizo_testkit::drivers::{TestDriver, driver_files, installed_drivers};
use std::ffi::CStr;
use std::sync::OnceLock;

/// The report of each software driver, made once.
///
/// Both have to be there: a test that silently ran on one would prove nothing about the other.
fn reports() -> &'static [(TestDriver, Capabilities)] {
    static REPORTS: OnceLock<Vec<(TestDriver, Capabilities)>> = OnceLock::new();
    REPORTS.get_or_init(|| {
        if std::env::var_os("VK_DRIVER_FILES").is_none() {
            let list = driver_files(&installed_drivers()).expect("the software drivers; run `cargo xtask setup`");
            // SAFETY: tests of this crate read these variables only behind this lock, before any instance exists.
            unsafe {
                std::env::set_var("VK_DRIVER_FILES", &list);
                std::env::set_var("VK_ICD_FILENAMES", &list);
            }
        }
        TestDriver::SOFTWARE.iter().map(|driver| (driver.clone(), report_of(driver))).collect()
    })
}

fn report_of(driver: &TestDriver) -> Capabilities {
    let part = driver.adapter_name_contains().expect("software drivers have a name");
    // SAFETY: the loader is a conforming Vulkan library; the instance is destroyed last.
    unsafe {
        let entry = ash::Entry::load().expect("a Vulkan loader");
        let app = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let info = vk::InstanceCreateInfo::default().application_info(&app);
        let instance = entry.create_instance(&info, None).expect("an instance");
        let all = instance.enumerate_physical_devices().expect("adapters");
        let named = |physical: &vk::PhysicalDevice| {
            let properties = instance.get_physical_device_properties(*physical);
            let name = properties.device_name_as_c_str().map(CStr::to_string_lossy).unwrap_or_default().into_owned();
            name.contains(part)
        };
        let physical = all.into_iter().find(named).unwrap_or_else(|| panic!("{driver} is not among the adapters"));
        let format = |format| crate::texture::format_support(&instance, physical, format);
        let report = super::report(&entry, &instance, physical, &format);
        instance.destroy_instance(None);
        report
    }
}

fn report(driver: &TestDriver) -> &'static Capabilities {
    &reports().iter().find(|(of, _)| of == driver).expect("a software driver").1
}

fn native(caps: &Capabilities, facts: &[Fact]) {
    for fact in facts {
        assert!(caps.support(*fact).is_available(), "{}: {:?}", fact.name(), caps.support(*fact));
    }
}

fn reason(caps: &Capabilities, fact: Fact) -> &str {
    caps.support(fact).reason().unwrap_or_else(|| panic!("{} is available", fact.name()))
}

#[test]
fn lavapipe_has_what_mesa_25_is_known_for() {
    let caps = report(&TestDriver::Lavapipe);
    let advanced = [
        Fact::MeshShaders,
        Fact::TaskShaders,
        Fact::MeshIndirect,
        Fact::AccelerationStructures,
        Fact::InlineQueries,
        Fact::RayPipelines,
        Fact::SparseBuffers,
        Fact::SparseTextures2d,
        Fact::MemoryBudget,
        Fact::ClockCalibration,
        Fact::BindlessTextures,
        Fact::BindlessBuffers,
        Fact::DeviceGeneratedDraws,
        Fact::PipelineParts,
        Fact::DescriptorBuffers,
        Fact::DynamicLinking,
    ];
    native(caps, &advanced);
    assert_eq!(caps.native_tier(Domain::RayTracing), Tier::Tier2);
    assert!(caps.native_tier(Domain::Mesh) >= Tier::Tier3);
    assert_eq!(caps.support(Fact::MeshShaders).strategy(), Strategy::NativeExtension);
    assert_eq!(caps.support(Fact::MeshShaders).provenance(), Provenance::NativeExtensionQuery);
    assert_eq!(caps.support(Fact::MeshShaders).source(), "VK_EXT_mesh_shader: meshShader");
    assert!(caps.mesh.max_vertices.is_some_and(|count| count >= 256));
    assert_eq!(caps.ray_tracing.levels, Some(2));
    assert!(caps.indirect_command_buffer.max_sequences.is_some_and(|count| count > 0));
}

#[test]
fn lavapipe_lacks_what_it_only_names() {
    let caps = report(&TestDriver::Lavapipe);
    let graphs = "the driver lists VK_AMDX_shader_enqueue but reports no shaderEnqueue";
    assert_eq!(reason(caps, Fact::WorkGraphs), graphs);
    assert_eq!(caps.native_tier(Domain::WorkGraph), Tier::Unavailable);
    assert_eq!(reason(caps, Fact::CooperativeMatrices), "the driver does not list VK_KHR_cooperative_matrix");
    assert_eq!(reason(caps, Fact::Tensors), "the driver does not list VK_ARM_tensors");
    assert_eq!(reason(caps, Fact::SeveralQueues), "the driver reports no second queue");
    assert!(caps.machine_learning.matrices.is_empty());
    assert_eq!(reason(caps, Fact::Memoryless), "the driver reports no memory type LAZILY_ALLOCATED");
}

#[test]
fn swiftshader_stays_below_bindless() {
    let caps = report(&TestDriver::SwiftShader);
    native(
        caps,
        &[Fact::BindlessTextures, Fact::BindlessSamplers, Fact::TimelineSemaphores, Fact::StageAccessBarriers],
    );
    assert!(reason(caps, Fact::BindlessBuffers).starts_with("robustBufferAccessUpdateAfterBind is false"));
    assert_eq!(reason(caps, Fact::MeshShaders), "the driver does not list VK_EXT_mesh_shader");
    assert_eq!(reason(caps, Fact::NullDescriptors), "the driver does not list VK_EXT_robustness2");
    assert!(!caps.support(Fact::InlineQueries).is_available());
    assert!(!caps.support(Fact::SparseBuffers).is_available());
    assert_eq!(caps.limit(LimitKind::Tables), Some(4));
    assert_eq!(caps.limit(LimitKind::MeshGroupThreads), None);
    assert_eq!(caps.native_feature_level(), Some(FeatureLevel::Compute));
}

#[test]
fn both_reach_compute_through_the_backend() {
    for (driver, caps) in reports() {
        let missing = caps.missing_for(FeatureLevel::Compute);
        assert!(missing.is_empty(), "{driver}: {missing:?}");
        assert_eq!(caps.feature_level(), Some(FeatureLevel::Compute), "{driver}");
        caps.require(&[Fact::RasterPasses, Fact::ComputePipelines, Fact::TimelineSemaphores]).expect("the core");
        let error = caps.require(&[Fact::SamplerFeedback]).expect_err("Vulkan has none");
        assert!(error.detail().contains("Vulkan has no sampler feedback"), "{error}");
    }
}

#[test]
fn every_fact_was_spoken_about() {
    for (driver, caps) in reports() {
        for entry in caps.entries() {
            let reason = entry.reason.unwrap_or_default();
            assert_ne!(reason, "not reported by this backend", "{driver}: {} is forgotten", entry.fact);
            assert_eq!(entry.reason.is_none(), entry.lowered == "direct", "{driver}: {}", entry.fact);
            assert_eq!(entry.strategy == "unavailable", !entry.native, "{driver}: {}", entry.fact);
        }
        assert!(!caps.memory.heaps.is_empty());
        assert!(caps.limits().count() >= 60, "{driver}: {}", caps.limits().count());
    }
}

#[test]
fn mesh_is_native_and_not_offered() {
    let caps = report(&TestDriver::Lavapipe);
    assert_eq!(caps.tier(Domain::Mesh), Tier::Unavailable);
    let error = caps.require(&[Fact::MeshShaders]).expect_err("no mesh pipelines in the contract yet");
    let text = "mesh.mesh-shaders is unavailable: the device can, but this backend does not offer it yet";
    assert_eq!(error.detail(), text);
}

#[test]
fn reports_are_readable() {
    for (driver, caps) in reports() {
        let text = caps.report().to_string();
        println!("{driver}\n\n{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 120), "{driver}");
    }
}

#[test]
fn missing_structures_have_the_registry_sizes() {
    use super::missing::*;
    // sType and pNext take 16 bytes on 64-bit targets; the whole is rounded up to 8.
    assert_eq!(size_of::<ShaderEnqueueFeatures>(), 24);
    assert_eq!(size_of::<TensorFeatures>(), 40);
    assert_eq!(size_of::<TensorProperties>(), 88);
    assert_eq!(size_of::<DataGraphFeatures>(), 40);
    assert_eq!(size_of::<GeneratedCommandsProperties>(), 64);
}
