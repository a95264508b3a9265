//! Real providers, built by `.ci/terraform-providers`, and programs that only pretend to be one.

mod found;
mod host;
mod hostile;
mod pretend;
mod resources;
mod servers;

use std::process::ExitCode;
use testkit::Suite;

fn main() -> ExitCode {
    // This program is also the guard of the providers that it starts, a provider that misbehaves,
    // and a process that is killed.
    if let Some(code) = kusion_runtime_terraform::run_as_guard() {
        return code;
    }
    if let Some(code) = pretend::run() {
        return code;
    }
    let mut suite = Suite::default();
    hostile::add(&mut suite);
    host::add(&mut suite);
    resources::add(&mut suite);
    servers::add(&mut suite);
    suite.run()
}

/// Runs an asynchronous test.
fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(test)
}
