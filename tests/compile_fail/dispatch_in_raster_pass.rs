// expect: E0599
use rhizo_rhi::*;

pub fn unbound(pass: &mut RasterPass<'_>) {
    pass.dispatch([1, 1, 1]); //~
}

pub fn bound(pass: &mut RasterPass<'_>, pipeline: &RasterPipeline) {
    pass.bind(pipeline).dispatch([1, 1, 1]); //~
}
