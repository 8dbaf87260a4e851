//! The Rhizo GPU contract.

pub mod format;
pub mod shader;
pub mod vocab;
