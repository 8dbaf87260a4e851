// expect: E0599
use rhizo_rhi::*;

pub fn case(pass: &mut RasterPass<'_>, a: &Buffer, b: &Buffer) {
    pass.copy_buffer(a, b, &[]); //~
}

pub fn outside(recorder: &mut Recorder<'_>, a: &Buffer, b: &Buffer) {
    recorder.copy_buffer(a, b, &[]); //~
}
