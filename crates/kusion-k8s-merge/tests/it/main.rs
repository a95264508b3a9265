//! Behaviour of the crate from the outside: small objects, the expected result beside them.

mod apply;
mod patches;
mod sets;
mod support;
