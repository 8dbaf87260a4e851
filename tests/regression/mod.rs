//! What once broke, one test each, named after it.

mod small_environment_overexposes_the_poles;
mod stale_cube_edges;
