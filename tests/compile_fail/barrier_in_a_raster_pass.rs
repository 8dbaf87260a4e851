// expect: E0599
use rhizo_rhi::*;

pub fn case(pass: &mut RasterPass<'_>) {
    pass.barriers(&Barriers::default()); //~
}
