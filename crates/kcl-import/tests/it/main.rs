//! What is imported compiles, and judges data as its source says.

mod data;
mod schemas;
mod support;
