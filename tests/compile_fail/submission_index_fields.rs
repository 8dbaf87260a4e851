// expect: E0616
use rhizo_rhi::*;

pub fn case(mut real: SubmissionIndex) {
    real.index = 7; //~
}
