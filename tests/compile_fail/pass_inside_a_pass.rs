// expect: E0599
use rhizo_rhi::*;

pub fn case(pass: &mut RasterPass<'_>, desc: &RasterPassDesc<'_>) {
    pass.raster_pass(desc); //~
}
