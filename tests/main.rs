//! Tests over the whole workspace.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod compile_fail_driver;
mod vanished;
mod views;
