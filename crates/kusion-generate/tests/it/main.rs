//! Tests of `kusion_generate` from outside.

mod cell_examples;
mod cells;
mod determinism;
mod errors;
mod find;
mod git;
mod impact;
mod infer;
mod konfig;
mod policies;
mod provenance;
mod references;
mod shapes;
mod support;
mod waiting;
