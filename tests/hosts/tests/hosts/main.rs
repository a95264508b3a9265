//! The engine on hosts.

mod hostile;
mod kinds;
mod remote;
mod world;

use std::process::ExitCode;
use testkit::Suite;

fn main() -> ExitCode {
    let mut suite = Suite::default();
    remote::add(&mut suite);
    hostile::add(&mut suite);
    kinds::add(&mut suite);
    suite.run()
}
