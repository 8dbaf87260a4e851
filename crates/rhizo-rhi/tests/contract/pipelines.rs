//! RHZ-PIPELINE, RHZ-BINDING and the attachment contract.

use crate::support::*;
use rhizo_rhi::*;

#[test]
fn a_pipeline_fits_passes_of_its_attachments_only() {
    let rig = Rig::new();
    let pipeline = rig.raster(ShaderInterface::default(), &[]);
    let target = rig.texture(&TextureDesc {
        label: "float",
        format: Format::Rgba16Float,
        extent: Extent::d2(4, 4),
        usage: TextureUsage::COLOR_TARGET,
        ..TextureDesc::default()
    });
    let view = color_view(&target);
    let error = rig
        .record(|r| {
            in_pass(r, &view, |pass| {
                pass.bind(&pipeline);
            });
        })
        .unwrap_err();
    assert_eq!(error.clause_id(), Some(clause::PASS_ABI.id));
    for text in ["colors: [rgba16float]", "colors: [rgba8unorm]"] {
        assert!(error.detail().contains(text), "{error}");
    }
    assert_eq!(pipeline.attachment_abi().hash().len(), 64);
}

#[test]
fn caches_round_trip_and_never_trust_bytes() {
    let rig = Rig::new();
    let (cache, import) = rig.device.create_pipeline_cache("cache", b"rubbish").unwrap();
    assert!(matches!(import, CacheImport::Skipped { .. }));
    let bytes = cache.export().unwrap();
    let (_again, import) = rig.device.create_pipeline_cache("again", &bytes).unwrap();
    assert_eq!(import, CacheImport::Imported { bytes: 0 });
}

#[test]
fn equal_table_layouts_are_compatible() {
    let rig = Rig::new();
    let entry = |name: &str| TableEntry {
        slot: 0,
        name: name.into(),
        kind: BindingKind::BufferWrite,
        stages: ShaderStages::COMPUTE,
        count: 1,
        min_size: 16,
    };
    let make =
        |name| rig.device.create_table_layout(&TableLayoutDesc { label: name, entries: &[entry(name)] }).unwrap();
    let (a, b) = (make("a"), make("b"));
    let function = rig.function(ShaderStage::Compute, ShaderInterface { push_constant_size: 0, ..storage_interface() });
    let layout = PipelineLayoutDesc { label: "layout", tables: &[Some(&a)], ..PipelineLayoutDesc::default() };
    let layout = rig.device.create_pipeline_layout(&layout).unwrap();
    let desc = ComputePipelineDesc {
        label: "c",
        layout: Some(&layout),
        function: &function,
        group_size: [64, 1, 1],
        cache: None,
    };
    let pipeline = rig.device.create_compute_pipeline(&desc).unwrap();
    let view = rig.buffer("data", 64, BufferUsage::SHADER_WRITE).write_view(BufferRange::WHOLE).unwrap();
    let writes = [TableWrite::new(0, Binding::BufferWrite(&view))];
    let table = rig.device.create_table(&TableDesc { label: "t", layout: &b, writes: &writes }).unwrap();
    rig.record(|r| {
        let mut pass = r.compute_pass(&ComputePassDesc::default());
        let mut bound = pass.bind(&pipeline);
        bound.set_tables(0, &[&table], &[]);
        bound.dispatch([1; 3]);
    })
    .unwrap();
}

#[test]
fn reinterpreted_views_need_a_format_that_can_do_it() {
    let rig = Rig::new();
    let texture = rig.texture(&TextureDesc {
        label: "t",
        extent: Extent::d2(4, 4),
        usage: TextureUsage::SHADER_WRITE | TextureUsage::SHADER_READ,
        view_formats: &[Format::Rgba8UnormSrgb],
        ..TextureDesc::default()
    });
    let srgb = ViewDesc { format: Some(Format::Rgba8UnormSrgb), ..ViewDesc::default() };
    texture.read_view(&srgb).unwrap();
    assert_eq!(broken(texture.write_view(&srgb)), clause::TEXTURE_VIEW.id);
}

#[test]
fn every_created_format_is_executed_or_refused() {
    let rig = Rig::new();
    let mut created = 0;
    for info in Format::all() {
        let usage = COPIES | TextureUsage::SHADER_READ;
        let desc = TextureDesc {
            label: info.name,
            format: info.format,
            extent: Extent::d2(13, 7),
            usage,
            ..Default::default()
        };
        let texture = rig.texture(&desc);
        created += 1;
        let refused = rig.record(|r| r.transfer_pass("t").clear_color(&texture, TextureRange::WHOLE, [0.25; 4]));
        match refused {
            Ok(commands) => drop(rig.queue.submit_commands(&[&commands]).unwrap()),
            Err(error) => assert_eq!(error.clause_id(), Some(clause::COPY_FORMAT.id), "{error}"),
        }
    }
    assert_eq!(created, Format::all().len());
}
