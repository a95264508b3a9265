//! Tests of the syntax crate from outside.

mod dump;
mod errors;
mod limits;
mod printing;
mod spans;
mod trees;
