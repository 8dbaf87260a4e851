// expect: E0499
use rhizo_rhi::*;

pub fn case(pool: &mut CommandPool) -> Result<()> {
    let first = pool.begin("first")?;
    let second = pool.begin("second")?; //~
    first.finish()?;
    second.finish()?;
    Ok(())
}
