// expect: E0599
use rhizo_rhi::*;

pub fn draw(pass: &mut RasterPass<'_>) {
    pass.draw(3, 1, 0, 0); //~
}

pub fn indexed(pass: &mut RasterPass<'_>) {
    pass.draw_indexed(3, 1, 0, 0, 0); //~
}

pub fn indirect(pass: &mut RasterPass<'_>, arguments: &Buffer) {
    pass.draw_indirect(arguments, 0, 1, 16); //~
}

pub fn push(pass: &mut RasterPass<'_>) {
    pass.push_constants(0, &[0; 4]); //~
}
