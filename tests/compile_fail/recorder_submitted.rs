// expect: E0308
use rhizo_rhi::*;

pub fn case(queue: &Queue, recorder: &Recorder<'_>) {
    let _ = queue.submit_commands(&[recorder]); //~
}
