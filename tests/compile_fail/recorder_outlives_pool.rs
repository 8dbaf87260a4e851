// expect: E0505
use rhizo_rhi::*;

pub fn case(mut pool: CommandPool) -> Result<CommandBuffer> {
    let recorder = pool.begin("frame")?;
    drop(pool); //~
    recorder.finish()
}
