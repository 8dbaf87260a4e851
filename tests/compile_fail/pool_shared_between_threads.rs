// expect: E0277
use rhizo_rhi::*;

fn sync<T: Sync>() {}

pub fn case() {
    sync::<CommandPool>(); //~
}
