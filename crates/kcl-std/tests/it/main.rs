//! Tests of the tables through small KCL expressions.

mod expression;
mod host;
mod limits;
mod signatures;
mod tables;
