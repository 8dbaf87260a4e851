//! The null device (records, executes copies only).
