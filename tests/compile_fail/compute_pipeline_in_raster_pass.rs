// expect: E0308
use rhizo_rhi::*;

pub fn case(pass: &mut RasterPass<'_>, pipeline: &ComputePipeline) {
    pass.bind(pipeline); //~
}
