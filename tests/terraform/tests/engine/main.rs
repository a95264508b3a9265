//! The engine on Terraform providers, beside a sandbox.

mod stacks;
mod world;

use std::process::ExitCode;
use testkit::Suite;

fn main() -> ExitCode {
    // This program is the guard of the providers that it starts.
    if let Some(code) = kusion_runtime_terraform::run_as_guard() {
        return code;
    }
    let mut suite = Suite::default();
    stacks::add(&mut suite);
    suite.run()
}
