//! Behaviour of the crate from the outside: small objects, the expected result beside them.

mod apply;
mod laws;
mod patches;
mod random;
mod sets;
mod support;
