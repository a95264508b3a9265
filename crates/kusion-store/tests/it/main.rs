//! The same laws on every backend, and what only one of them can suffer.

#![expect(clippy::panic, reason = "a test that fails panics")]

mod child;
mod damage;
mod faults;
mod full_disk;
mod laws;
mod places;
mod processes;
mod records;
