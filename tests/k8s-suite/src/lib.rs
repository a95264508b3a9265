//! Checks that run against any Kubernetes API server.
//!
//! `replay`: random sequences of writes by several managers, answered by two servers, or by one
//! server and by recorded answers of the real one.

pub mod replay;
