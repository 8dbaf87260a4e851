// expect: E0599
use rhizo_rhi::*;

pub fn color(pass: &mut RasterPass<'_>, texture: &Texture) {
    pass.clear_color(texture, TextureRange::WHOLE, [0.0; 4]); //~
}

pub fn attachments(pass: &mut RasterPass<'_>) {
    pass.clear_attachments(); //~
}

pub fn recorder(recorder: &mut Recorder<'_>, texture: &Texture) {
    recorder.clear_color(texture, TextureRange::WHOLE, [0.0; 4]); //~
}
