// expect: E0599
use rhizo_rhi::*;

pub fn blend(pass: &mut RasterPass<'_>) {
    pass.set_blend_state(BlendState::ALPHA); //~
}

pub fn depth(pass: &mut RasterPass<'_>) {
    pass.set_depth_state(DepthState::default()); //~
}

pub fn topology(pass: &mut RasterPass<'_>) {
    pass.set_topology(Topology::Points); //~
}

pub fn cull(pass: &mut RasterPass<'_>, pipeline: &RasterPipeline) {
    pass.bind(pipeline).set_cull_mode(CullMode::Back); //~
}

pub fn uniform(pass: &mut RasterPass<'_>, pipeline: &RasterPipeline) {
    pass.bind(pipeline).set_uniform("color", &[0.0; 4]); //~
}
