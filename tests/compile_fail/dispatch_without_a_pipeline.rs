// expect: E0599
use rhizo_rhi::*;

pub fn case(pass: &mut ComputePass<'_>) {
    pass.dispatch([1, 1, 1]); //~
}
