//! The same work in raw `ash`, written as one would by hand: the limit.

use crate::{DRAWS, SHADER, SWITCH, Side};
use anyhow::{Context, Result};
use ash::vk;
use rhizo::shader::{Module, Source};
use rhizo::{ShaderPayload, ShaderTarget};

/// Everything recorded against. The process ends with it: nothing is destroyed.
pub struct Raw {
    _entry: ash::Entry,
    device: ash::Device,
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
    pipeline: vk::Pipeline,
    layout: vk::PipelineLayout,
    sets: [vk::DescriptorSet; 2],
    vertices: [vk::Buffer; 2],
    view: vk::ImageView,
}

impl Raw {
    pub fn new(driver: &str) -> Result<Self> {
        // SAFETY: everything below follows the Vulkan specification: each create info is complete, each handle is used with
        // the device that made it, and nothing is destroyed while in use.
        unsafe {
            let entry = ash::Entry::load()?;
            let app = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
            let instance = entry.create_instance(&vk::InstanceCreateInfo::default().application_info(&app), None)?;
            let physical = pick(&instance, driver)?;
            let device = open(&instance, physical)?;
            let memory = instance.get_physical_device_memory_properties(physical);
            let pool = device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None)?;
            let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let commands = device.allocate_command_buffers(&info)?[0];
            let set_layout = set_layout(&device)?;
            let push = [vk::PushConstantRange { stage_flags: vk::ShaderStageFlags::VERTEX, offset: 0, size: 16 }];
            let empty = device.create_descriptor_set_layout(&vk::DescriptorSetLayoutCreateInfo::default(), None)?;
            let layouts = [empty, empty, set_layout];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts).push_constant_ranges(&push);
            let layout = device.create_pipeline_layout(&info, None)?;
            let make = |usage| buffer(&device, &memory, usage);
            let constants = [make(vk::BufferUsageFlags::UNIFORM_BUFFER)?, make(vk::BufferUsageFlags::UNIFORM_BUFFER)?];
            let vertices = [make(vk::BufferUsageFlags::VERTEX_BUFFER)?, make(vk::BufferUsageFlags::VERTEX_BUFFER)?];
            let sets = sets(&device, set_layout, constants)?;
            let pipeline = pipeline(&device, layout)?;
            let view = target(&device, &memory)?;
            Ok(Self { _entry: entry, device, pool, commands, pipeline, layout, sets, vertices, view })
        }
    }
}

unsafe fn pick(instance: &ash::Instance, driver: &str) -> Result<vk::PhysicalDevice> {
    // SAFETY: the instance is alive.
    let all = unsafe { instance.enumerate_physical_devices()? };
    let wanted = driver.to_lowercase();
    let found = all.into_iter().find(|physical| {
        // SAFETY: the physical device is the instance's.
        let properties = unsafe { instance.get_physical_device_properties(*physical) };
        properties.device_name_as_c_str().is_ok_and(|name| name.to_string_lossy().to_lowercase().contains(&wanted))
    });
    found.with_context(|| format!("no adapter's name contains {driver}"))
}

unsafe fn open(instance: &ash::Instance, physical: vk::PhysicalDevice) -> Result<ash::Device> {
    let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(0).queue_priorities(&[1.0])];
    let mut features = vk::PhysicalDeviceVulkan13Features::default().dynamic_rendering(true).synchronization2(true);
    let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).push_next(&mut features);
    // SAFETY: family 0 exists on every device, and Vulkan 1.3 has both features.
    Ok(unsafe { instance.create_device(physical, &info, None)? })
}

unsafe fn set_layout(device: &ash::Device) -> Result<vk::DescriptorSetLayout> {
    let bindings = [vk::DescriptorSetLayoutBinding::default()
        .descriptor_type(vk::DescriptorType::UNIFORM_BUFFER)
        .descriptor_count(1)
        .stage_flags(vk::ShaderStageFlags::FRAGMENT)];
    let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
    // SAFETY: the create info is complete.
    Ok(unsafe { device.create_descriptor_set_layout(&info, None)? })
}

unsafe fn memory_for(
    device: &ash::Device,
    types: &vk::PhysicalDeviceMemoryProperties,
    need: vk::MemoryRequirements,
) -> Result<vk::DeviceMemory> {
    let index =
        (0..types.memory_type_count).find(|i| need.memory_type_bits >> i & 1 == 1).context("no memory type fits")?;
    let info = vk::MemoryAllocateInfo::default().allocation_size(need.size).memory_type_index(index);
    // SAFETY: the type is one of the device's.
    Ok(unsafe { device.allocate_memory(&info, None)? })
}

unsafe fn buffer(
    device: &ash::Device,
    types: &vk::PhysicalDeviceMemoryProperties,
    usage: vk::BufferUsageFlags,
) -> Result<vk::Buffer> {
    // SAFETY: memory of the size and a type the buffer asks for is bound once.
    unsafe {
        let buffer = device.create_buffer(&vk::BufferCreateInfo::default().size(256).usage(usage), None)?;
        let memory = memory_for(device, types, device.get_buffer_memory_requirements(buffer))?;
        device.bind_buffer_memory(buffer, memory, 0)?;
        Ok(buffer)
    }
}

unsafe fn sets(
    device: &ash::Device,
    layout: vk::DescriptorSetLayout,
    buffers: [vk::Buffer; 2],
) -> Result<[vk::DescriptorSet; 2]> {
    let sizes = [vk::DescriptorPoolSize { ty: vk::DescriptorType::UNIFORM_BUFFER, descriptor_count: 2 }];
    let layouts = [layout; 2];
    // SAFETY: the pool has room for two sets of this layout, and the buffers are alive.
    unsafe {
        let pool = device
            .create_descriptor_pool(&vk::DescriptorPoolCreateInfo::default().max_sets(2).pool_sizes(&sizes), None)?;
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        let sets = device.allocate_descriptor_sets(&info)?;
        for (set, buffer) in sets.iter().zip(buffers) {
            let info = [vk::DescriptorBufferInfo { buffer, offset: 0, range: 16 }];
            let write = vk::WriteDescriptorSet::default()
                .dst_set(*set)
                .descriptor_type(vk::DescriptorType::UNIFORM_BUFFER)
                .buffer_info(&info);
            device.update_descriptor_sets(&[write], &[]);
        }
        Ok([sets[0], sets[1]])
    }
}

unsafe fn target(device: &ash::Device, types: &vk::PhysicalDeviceMemoryProperties) -> Result<vk::ImageView> {
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(vk::Format::R8G8B8A8_UNORM)
        .extent(vk::Extent3D { width: 64, height: 64, depth: 1 })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(vk::ImageUsageFlags::COLOR_ATTACHMENT);
    // SAFETY: memory of the size and a type the image asks for is bound once.
    unsafe {
        let image = device.create_image(&info, None)?;
        let memory = memory_for(device, types, device.get_image_memory_requirements(image))?;
        device.bind_image_memory(image, memory, 0)?;
        let range = vk::ImageSubresourceRange {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            level_count: 1,
            layer_count: 1,
            ..Default::default()
        };
        let info = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(vk::Format::R8G8B8A8_UNORM)
            .subresource_range(range);
        Ok(device.create_image_view(&info, None)?)
    }
}

unsafe fn module(device: &ash::Device, source: &Module, entry: &str) -> Result<vk::ShaderModule> {
    let artifact = source.compile(entry, ShaderTarget::Spirv { version: (1, 6) })?;
    let ShaderPayload::Spirv(words) = artifact.payload() else { anyhow::bail!("not SPIR-V") };
    // SAFETY: naga wrote valid SPIR-V.
    Ok(unsafe { device.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(words), None)? })
}

unsafe fn pipeline(device: &ash::Device, layout: vk::PipelineLayout) -> Result<vk::Pipeline> {
    let source = Module::parse(&Source::wgsl("draws.wgsl", SHADER))?;
    // SAFETY: both modules are valid.
    let (vertex, fragment) = unsafe { (module(device, &source, "vertex")?, module(device, &source, "fragment")?) };
    let stage =
        |stage, module, name| vk::PipelineShaderStageCreateInfo::default().stage(stage).module(module).name(name);
    let stages = [
        stage(vk::ShaderStageFlags::VERTEX, vertex, c"vertex"),
        stage(vk::ShaderStageFlags::FRAGMENT, fragment, c"fragment"),
    ];
    let bindings =
        [vk::VertexInputBindingDescription { binding: 0, stride: 8, input_rate: vk::VertexInputRate::VERTEX }];
    let attributes =
        [vk::VertexInputAttributeDescription { location: 0, binding: 0, format: vk::Format::R32G32_SFLOAT, offset: 0 }];
    let input = vk::PipelineVertexInputStateCreateInfo::default()
        .vertex_binding_descriptions(&bindings)
        .vertex_attribute_descriptions(&attributes);
    let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(vk::PrimitiveTopology::TRIANGLE_LIST);
    let viewport = vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1);
    let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
    let samples = vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(vk::SampleCountFlags::TYPE_1);
    let targets = [vk::PipelineColorBlendAttachmentState::default().color_write_mask(vk::ColorComponentFlags::RGBA)];
    let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&targets);
    let states = [vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR];
    let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&states);
    let formats = [vk::Format::R8G8B8A8_UNORM];
    let mut rendering = vk::PipelineRenderingCreateInfo::default().color_attachment_formats(&formats);
    let info = vk::GraphicsPipelineCreateInfo::default()
        .stages(&stages)
        .vertex_input_state(&input)
        .input_assembly_state(&assembly)
        .viewport_state(&viewport)
        .rasterization_state(&raster)
        .multisample_state(&samples)
        .color_blend_state(&blend)
        .dynamic_state(&dynamic)
        .layout(layout)
        .push_next(&mut rendering);
    // SAFETY: the create info is complete.
    let made = unsafe { device.create_graphics_pipelines(vk::PipelineCache::null(), &[info], None) };
    Ok(made.map_err(|(_, error)| error)?[0])
}

impl Side for Raw {
    fn record(&mut self) -> Result<()> {
        let (device, commands) = (&self.device, self.commands);
        let area = vk::Rect2D { extent: vk::Extent2D { width: 64, height: 64 }, ..Default::default() };
        let colors = [vk::RenderingAttachmentInfo::default()
            .image_view(self.view)
            .image_layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::STORE)];
        let rendering = vk::RenderingInfo::default().render_area(area).layer_count(1).color_attachments(&colors);
        let viewport = vk::Viewport { x: 0.0, y: 64.0, width: 64.0, height: -64.0, min_depth: 0.0, max_depth: 1.0 };
        let once = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the command buffer is not in use, and every object named is alive.
        unsafe {
            device.reset_command_pool(self.pool, vk::CommandPoolResetFlags::empty())?;
            device.begin_command_buffer(commands, &once)?;
            device.cmd_begin_rendering(commands, &rendering);
            device.cmd_set_viewport(commands, 0, &[viewport]);
            device.cmd_set_scissor(commands, 0, &[area]);
            device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, self.pipeline);
            for i in 0..DRAWS {
                if i % SWITCH == 0 {
                    let which = (i / SWITCH % 2) as usize;
                    let sets = [self.sets[which]];
                    device.cmd_bind_descriptor_sets(
                        commands,
                        vk::PipelineBindPoint::GRAPHICS,
                        self.layout,
                        2,
                        &sets,
                        &[],
                    );
                    device.cmd_bind_vertex_buffers(commands, 0, &[self.vertices[which]], &[0]);
                }
                let push = [i as f32, 0.0, 1.0, 1.0];
                device.cmd_push_constants(
                    commands,
                    self.layout,
                    vk::ShaderStageFlags::VERTEX,
                    0,
                    bytemuck::bytes_of(&push),
                );
                device.cmd_draw(commands, 3, 1, 0, 0);
            }
            device.cmd_end_rendering(commands);
            device.end_command_buffer(commands)?;
        }
        Ok(())
    }
}
