//! Small programs and what they give.

mod config;
mod lazy;
mod schema;
mod support;
