//! The backend on real drivers: lavapipe and SwiftShader, with the validation layer and its synchronization validation.
//! Any message of the layer fails the test that caused it; so does a missing driver or layer.
//!
//! With `RHIZO_TEST_ADAPTER=<part of its name>` the tests that take each driver in turn run on that one adapter instead,
//! with the layer where it is installed. Only those of `queues` are meant for any hardware: filter by that name.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

mod attachments;
mod binding;
mod compute;
mod device;
mod messages;
mod queries;
mod queues;
mod raster;
mod sync;
mod transfer;
