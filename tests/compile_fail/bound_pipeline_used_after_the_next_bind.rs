// expect: E0499
use rhizo_rhi::*;

pub fn case(pass: &mut RasterPass<'_>, a: &RasterPipeline, b: &RasterPipeline) {
    let mut first = pass.bind(a);
    let mut second = pass.bind(b); //~
    second.draw(3, 1, 0, 0);
    first.draw(3, 1, 0, 0);
}
