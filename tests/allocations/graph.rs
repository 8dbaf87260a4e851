//! A frame through the graph: two raster passes, the second reading what the first wrote, over a pooled transient.

use crate::work::{SIZE, Work};
use crate::{TIMEOUT_NS, steady};
use rhizo::graph::run::{Imports, Run, Runner, Work as Jobs};
use rhizo::graph::{
    ClearValue, Graph, LoadOp, PassId, PassKind, Plan, Policy, Profile, State, StoreOp, TextureDesc, TextureId, compile,
};
use rhizo::{BindingTable, CommandPool, Device, Format, Queue, QueueKind, Stages};

const CLEAR: LoadOp = LoadOp::Clear(ClearValue::Color([0.0; 4]));

/// Declares the frame into an empty graph.
fn declare(graph: &mut Graph) -> ([PassId; 2], TextureId) {
    let desc = TextureDesc::d2(Format::Rgba8Unorm, SIZE, SIZE);
    let light = graph.texture("light", desc);
    let target = graph.import_texture("target", desc, State::UNDEFINED);
    graph.output(target);
    let first = graph.pass("light", PassKind::Raster).color(light, CLEAR, StoreOp::Store).id();
    let second =
        graph.pass("post", PassKind::Raster).sampled(light, Stages::FRAGMENT).color(target, CLEAR, StoreOp::Store).id();
    ([first, second], target)
}

/// What both ways of running share.
struct Bench {
    work: Work,
    table: BindingTable,
    queue: Queue,
    pool: CommandPool,
    runner: Runner,
}

impl Bench {
    fn new(device: &Device) -> Self {
        let work = Work::new(device).unwrap();
        let table = work.own_table(device).unwrap();
        let queue = device.queue(QueueKind::Graphics, 0).unwrap();
        Self { table, pool: queue.create_pool(), runner: Runner::new(device), queue, work }
    }

    /// Runs the plan, submits, waits.
    fn run(&mut self, graph: &Graph, plan: &Plan, passes: [PassId; 2], imports: &Imports) {
        let (work, table) = (&self.work, &self.table);
        let mut jobs = Jobs::new();
        for pass in passes {
            jobs.raster(pass, move |pass, _| {
                work.draw(pass, table, 0);
                Ok(())
            });
        }
        let mut recorder = self.pool.begin("frame").unwrap();
        let run = Run { plan, graph, imports, timestamps: None };
        let stats = self.runner.run(&run, jobs, &mut recorder).unwrap();
        assert_eq!(stats.passes, 2);
        let commands = recorder.finish().unwrap();
        let submitted = self.queue.submit_commands(&[&commands]).unwrap();
        assert!(self.queue.wait(submitted, TIMEOUT_NS).unwrap());
    }
}

fn imports(target: TextureId, work: &Work) -> Imports {
    let mut imports = Imports::default();
    imports.texture(target, &work.target);
    imports
}

/// Allocations of the counted frames: declared, compiled and run anew, and run from a kept plan.
pub(crate) fn count(device: &Device) -> [(&'static str, u64); 2] {
    let (profile, policy) = (Profile::single_queue(), Policy::default());
    let mut bench = Bench::new(device);
    let mut graph = Graph::new("frame");
    let anew = steady(|| {
        graph.reset();
        let (passes, target) = declare(&mut graph);
        let plan = compile(&graph, &profile, &policy).unwrap();
        let imports = imports(target, &bench.work);
        bench.run(&graph, &plan, passes, &imports);
    });
    graph.reset();
    let (passes, target) = declare(&mut graph);
    let plan = compile(&graph, &profile, &policy).unwrap();
    let imports = imports(target, &bench.work);
    let kept = steady(|| bench.run(&graph, &plan, passes, &imports));
    [("declared, compiled and run", anew), ("run from a kept plan", kept)]
}
