//! The types of statements and expressions.

mod attr;
mod call;
mod config;
mod entries;
mod expr;
mod fit;
mod literal;
mod loops;
mod name;
mod operator;
mod schema;
mod stmt;
