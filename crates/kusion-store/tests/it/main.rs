//! The same laws on every backend, and what only one of them can suffer.

mod laws;
mod places;
mod records;
