// expect: E0499
use rhizo_rhi::*;

pub fn case(recorder: &mut Recorder<'_>, desc: &RasterPassDesc<'_>) {
    let raster = recorder.raster_pass(desc);
    let compute = recorder.compute_pass(&ComputePassDesc::default()); //~
    drop((raster, compute));
}

pub fn same_kind(recorder: &mut Recorder<'_>, desc: &RasterPassDesc<'_>) {
    let outer = recorder.raster_pass(desc);
    let inner = recorder.raster_pass(desc); //~
    drop((outer, inner));
}
