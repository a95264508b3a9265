//! Small programs and what they give.

mod config;
mod imports;
mod lambdas;
mod lazy;
mod ordered;
mod schema;
mod support;
