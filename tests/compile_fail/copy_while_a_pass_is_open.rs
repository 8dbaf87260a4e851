// expect: E0499
use rhizo_rhi::*;

pub fn case(recorder: &mut Recorder<'_>, desc: &RasterPassDesc<'_>, a: &Buffer, b: &Buffer) {
    let pass = recorder.raster_pass(desc);
    recorder.transfer_pass("copy").copy_buffer(a, b, &[]); //~
    drop(pass);
}
