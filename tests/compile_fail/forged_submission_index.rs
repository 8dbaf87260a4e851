// expect: E0451
use rhizo_rhi::*;

pub fn case(real: SubmissionIndex) -> SubmissionIndex {
    SubmissionIndex { index: 7, ..real } //~
}
