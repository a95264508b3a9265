//! The same laws on every backend, and what only one of them can suffer.

mod child;
mod damage;
mod faults;
mod full_disk;
mod laws;
mod places;
mod processes;
mod records;
