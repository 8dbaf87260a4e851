//! The contract of `rhizo-rhi`, clause by clause, on the null device.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod clauses;
mod copies;
mod fence;
mod ownership;
mod pipelines;
mod queues;
mod reclamation;
mod recording;
mod semaphore;
mod stress;
mod submission;
mod support;
