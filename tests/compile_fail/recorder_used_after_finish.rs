// expect: E0382
use rhizo_rhi::*;

pub fn case(mut recorder: Recorder<'_>) {
    let _ = recorder.finish();
    recorder.push_group("late"); //~
}
