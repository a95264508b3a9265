//! Tests of the type checker through its only function.

mod corpus;
mod programs;
