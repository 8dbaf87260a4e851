//! Tests over the whole workspace.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bad_input;
mod compile_fail_driver;
mod golden;
mod gpu;
mod regression;
mod vanished;
mod views;
