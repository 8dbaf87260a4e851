// expect: E0499
use rhizo_rhi::*;

pub fn group(recorder: &mut Recorder<'_>) {
    let pass = recorder.transfer_pass("open");
    recorder.push_group("group"); //~
    drop(pass);
}

pub fn barriers(recorder: &mut Recorder<'_>) {
    let pass = recorder.compute_pass(&ComputePassDesc::default());
    recorder.barriers(&Barriers::default()); //~
    drop(pass);
}

pub fn timestamp(recorder: &mut Recorder<'_>, set: &QuerySet) {
    let pass = recorder.compute_pass(&ComputePassDesc::default());
    recorder.write_timestamp(set, 0); //~
    drop(pass);
}
