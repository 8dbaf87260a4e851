// expect: E0599
use rhizo_rhi::*;

pub fn case(pass: &mut ComputePass<'_>, pipeline: &ComputePipeline) {
    pass.bind(pipeline).draw(3, 1, 0, 0); //~
}
