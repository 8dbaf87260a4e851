// expect: E0515
use rhizo_rhi::*;

pub fn case<'pool>(mut recorder: Recorder<'pool>) -> TransferPass<'pool> {
    recorder.transfer_pass("escapes") //~
}
