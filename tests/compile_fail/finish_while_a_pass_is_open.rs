// expect: E0505
use rhizo_rhi::*;

pub fn case(mut recorder: Recorder<'_>) -> Result<CommandBuffer> {
    let pass = recorder.transfer_pass("open");
    let commands = recorder.finish(); //~
    drop(pass);
    commands
}
