//! The Rhizo render graph: **declare → compile → plan → run**.
//!
//! [`Graph`] collects what the passes of a frame do with which resources. [`compile()`] turns that, a device
//! [`Profile`] and a [`Policy`] into a [`Plan`]: order, barriers, layouts, load and store operations, lifetimes and
//! memory. It is a pure function: it opens no device, reads no clock and gives the same plan for the same input.
//! A runner carries a plan out; a verifier proves it.
//!
//! Graph, plan and profile files ([`mod@file`]) are public formats, described in `docs/graph.md`.
//!
//! ```
//! use rhizo_graph::{ClearValue, Graph, LoadOp, Policy, Profile, State, StoreOp, TextureDesc, PassKind, compile};
//! use rhizo_rhi::{Format, Layout, Stages};
//!
//! let mut graph = Graph::new("frame");
//! let hdr = graph.texture("hdr", TextureDesc::d2(Format::Rgba16Float, 640, 480));
//! let screen = TextureDesc::d2(Format::Rgba8UnormSrgb, 640, 480);
//! let screen = graph.import_texture("screen", screen, State::acquired(Stages::FRAGMENT));
//! graph.output(screen);
//! graph.final_state(screen, State::PRESENT);
//!
//! let black = LoadOp::Clear(ClearValue::Color([0.0; 4]));
//! graph.pass("scene", PassKind::Raster).color(hdr, black, StoreOp::Store);
//! graph.pass("post", PassKind::Raster)
//!     .sampled(hdr, Stages::FRAGMENT)
//!     .color(screen, LoadOp::Discard, StoreOp::Store);
//!
//! let plan = compile(&graph, &Profile::single_queue(), &Policy::default()).unwrap();
//! assert_eq!(plan.passes.len(), 2);
//! assert_eq!(plan.barriers.last().map(|b| plan.resource_label(b.resource)), Some("screen"));
//! ```
#![forbid(unsafe_code)]

pub mod compile;
pub mod declare;
pub mod dump;
mod error;
pub mod file;
pub mod plan;
pub mod profile;
pub mod run;

pub use compile::{OrderPolicy, Policy, compile};
pub use declare::{
    AccessDecl, AccessKind, AccessKinds, AccessRange, BufferDesc, BufferId, ClearValue, Graph, Labels, Lifetime,
    LoadOp, PassBuilder, PassDecl, PassId, PassKind, ResourceDecl, ResourceDesc, ResourceId, State, StoreOp,
    TextureDesc, TextureDimension, TextureId,
};
pub use error::{CompileError, ErrorCode};
pub use plan::Plan;
pub use profile::Profile;
