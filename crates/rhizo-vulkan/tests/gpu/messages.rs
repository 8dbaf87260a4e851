//! The validation layer's messages reach the instance that caused them: a test that makes mistakes on purpose.

use crate::support::*;
use rhizo_rhi::*;
use rhizo_testkit::drivers::TestDriver;

#[test]
fn a_missing_barrier_is_reported_by_synchronization_validation() {
    for driver in TestDriver::SOFTWARE {
        let gpu = Gpu::open(driver, QueueRequest::ONE);
        let buffer = gpu.readback(64);
        gpu.run(|r| {
            let mut pass = r.transfer_pass("hazard");
            pass.fill_buffer(&buffer, BufferRange::WHOLE, 1);
            pass.fill_buffer(&buffer, BufferRange::WHOLE, 2);
        });
        let messages = gpu.instance.take_messages();
        let hazard = messages.iter().find(|m| m.id.contains("SYNC-HAZARD-WRITE-AFTER-WRITE"));
        assert!(hazard.is_some_and(|m| m.error), "{messages:?}");
        drop(buffer);
        gpu.finish(); // and nothing is reported twice
    }
}

#[test]
fn a_wrong_layout_is_reported() {
    for driver in TestDriver::SOFTWARE {
        let gpu = Gpu::open(driver, QueueRequest::ONE);
        let target = gpu.target(Format::Rgba8Unorm, (8, 8), 1, TextureUsage::empty());
        let back = gpu.readback(256);
        gpu.run(|r| {
            r.barriers(&textures(&[discard_into(&target, COLOR_WRITE, Layout::RenderTarget)]));
            r.barriers(&Barriers {
                global: &[GlobalBarrier { before: COLOR_WRITE, after: COPY_READ }],
                ..Barriers::default()
            });
            r.transfer_pass("read").copy_texture_to_buffer(&target, &back, &[whole(&target)]);
        });
        assert!(
            gpu.instance.take_messages().iter().any(|m| m.error && m.text.contains("target")),
            "the label is named"
        );
        drop((target, back));
        gpu.finish();
    }
}
