//! What drawing a frame took.

/// Counts of one frame, exact: what was recorded, not an estimate.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RenderStats {
    /// Labels of the passes that ran, in order.
    pub passes: Vec<&'static str>,
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
    /// Textures created for this frame.
    pub transient_allocations: u32,
    /// Punctual lights that shine.
    pub lights: u32,
    /// Punctual lights beyond what a frame can hold, left out.
    pub dropped_lights: u32,
}
