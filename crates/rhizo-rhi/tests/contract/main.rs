//! The contract of `rhizo-rhi`, clause by clause, on the null device.

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
