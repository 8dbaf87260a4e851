// expect: E0382
use rhizo_rhi::*;

pub fn case(mut pass: RasterPass<'_>, pipeline: &RasterPipeline) {
    drop(pass);
    pass.bind(pipeline); //~
}
