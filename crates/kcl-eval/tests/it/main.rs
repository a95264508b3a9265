//! Small programs and what they give.

mod config;
mod support;
