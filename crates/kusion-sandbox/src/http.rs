//! The HTTP end: a thin shell over the cluster. Takes requests apart, calls the cluster and puts
//! answers together; decides nothing about objects.

mod access;
mod body;
mod components;
mod flight;
mod identity;
mod inside;
mod limits;
mod logs;
mod negotiate;
mod objects;
mod openapi;
mod options;
mod plain;
mod present;
mod query;
mod read;
mod route;
mod server;
mod watch;

pub(crate) use access::Access;
pub(crate) use limits::Limits;
pub(crate) use objects::not_simulated;
pub(crate) use server::{Server, serve};

pub(crate) use negotiate::Rows;

#[cfg(test)]
mod tests;
