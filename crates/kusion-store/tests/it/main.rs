//! The same laws on every backend, and what only one of them can suffer.

#![expect(clippy::panic, reason = "a test that fails panics")]

mod child;
mod damage;
mod faults;
mod forgery;
mod full_disk;
mod keys;
mod laws;
mod places;
mod processes;
mod promises;
mod proxy;
mod records;
mod schedules;

use std::process::ExitCode;
use testkit::Suite;

fn main() -> ExitCode {
    if child::is_child() {
        child::be_a_child();
        return ExitCode::SUCCESS;
    }
    let mut suite = Suite::default();
    damage::add(&mut suite);
    faults::add(&mut suite);
    forgery::add(&mut suite);
    full_disk::add(&mut suite);
    keys::add(&mut suite);
    laws::add(&mut suite);
    processes::add(&mut suite);
    promises::add(&mut suite);
    schedules::add(&mut suite);
    suite.run()
}
