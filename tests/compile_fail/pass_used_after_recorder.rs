// expect: E0597
use rhizo_rhi::*;

pub fn case(pool: &mut CommandPool) {
    let mut pass = None;
    if let Ok(mut recorder) = pool.begin("frame") {
        pass = Some(recorder.transfer_pass("escapes")); //~
    }
    drop(pass);
}
