// expect: E0277
use rhizo_rhi::*;

fn send<T: Send>() {}

pub fn raster() {
    send::<RasterPass<'_>>(); //~
}

pub fn compute() {
    send::<ComputePass<'_>>(); //~
}

pub fn transfer() {
    send::<TransferPass<'_>>(); //~
}

pub fn bound() {
    send::<BoundRaster<'_>>(); //~
    send::<BoundCompute<'_>>(); //~
}
