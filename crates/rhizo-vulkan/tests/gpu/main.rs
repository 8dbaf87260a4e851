//! The backend on real drivers: lavapipe and SwiftShader, with the validation layer and its synchronization validation.
//! Any message of the layer fails the test that caused it; so does a missing driver or layer.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

mod attachments;
mod binding;
mod compute;
mod device;
mod messages;
mod queries;
mod raster;
mod sync;
mod transfer;
