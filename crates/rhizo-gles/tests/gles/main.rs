//! The backend on whatever EGL offers without a surface (here: Mesa's llvmpipe), native messages failing the tests.

mod depth;
mod draw;
mod harness;
mod refused;
mod transfer;
