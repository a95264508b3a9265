//! Whole operations on an embedded cluster.

mod costs;
mod life;
mod plans;
mod releases;
mod safety;
mod walking;
mod world;
