//! What drawing a frame took.

/// Counts of one frame, exact: what was recorded, not an estimate.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RenderStats {
    /// Labels of the passes that ran, in order.
    pub passes: Vec<String>,
    /// GPU time of each of them, nanoseconds; empty where the queue has no timestamps or its clock is not known.
    pub pass_times_ns: Vec<u64>,
    /// Draws recorded.
    pub draws: u32,
    /// Draws skipped because nothing of them is in view.
    pub culled_draws: u32,
    /// Indirect draws recorded.
    pub indirect_draws: u32,
    /// Triangles of all draws.
    pub triangles: u64,
    /// Dispatches recorded.
    pub dispatches: u32,
    /// Groups of threads of all dispatches (none is indirect).
    pub workgroups: u64,
    /// Attachments cleared at the start of a pass.
    pub clears: u32,
    /// Pipelines bound.
    pub pipeline_switches: u32,
    /// Tables set.
    pub table_switches: u32,
    /// Vertex and index buffers set.
    pub buffer_switches: u32,
    /// Commands recorded, each one native call.
    pub commands: u32,
    /// Pipelines found ready.
    pub pipeline_hits: u32,
    /// Pipelines that had to be created.
    pub pipeline_misses: u32,
    /// Frames whose plan was found ready: 0 or 1.
    pub plan_hits: u32,
    /// Frames whose graph had to be compiled: 0 or 1.
    pub plan_misses: u32,
    /// Barriers recorded.
    pub barriers: u32,
    /// Batches of barriers.
    pub barrier_batches: u32,
    /// Textures created for this frame.
    pub transient_allocations: u32,
    /// Punctual lights that shine.
    pub lights: u32,
    /// Punctual lights beyond what a frame can hold, left out.
    pub dropped_lights: u32,
}

impl RenderStats {
    /// Adds what a pass recorded.
    pub(super) fn add_draws(&mut self, pass: &Self) {
        self.draws += pass.draws;
        self.indirect_draws += pass.indirect_draws;
        self.triangles += pass.triangles;
        self.pipeline_switches += pass.pipeline_switches;
        self.table_switches += pass.table_switches;
        self.buffer_switches += pass.buffer_switches;
        self.commands += pass.commands;
    }
}
