//! Small programs and what they give.

mod config;
mod imports;
mod lambdas;
mod lazy;
mod library;
mod limits;
mod messages;
mod ordered;
mod schema;
mod support;
