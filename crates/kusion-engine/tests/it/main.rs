//! Whole operations on an embedded cluster.

mod life;
mod plans;
mod safety;
mod world;
