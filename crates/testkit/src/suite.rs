//! Tests that need what not every machine has: vectors, servers, a cluster.
//!
//! The harness of Rust cannot leave out a test while it runs, so such tests have a `main` of
//! their own (`harness = false`) that runs a [`Suite`]. What is missing shows up as `ignored`,
//! with one line that says what it is; with `KUSION_REQUIRE_ALL=1` it fails instead.

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use std::fmt;
use std::process::ExitCode;

/// What a test needs and does not find: one line that says what and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing(String);

impl Missing {
    /// Makes it from its line.
    pub fn new(line: impl Into<String>) -> Self {
        Self(line.into())
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The tests of one program, in the order in which they are shown.
#[derive(Default)]
pub struct Suite {
    trials: Vec<Trial>,
}

impl Suite {
    /// Adds a test, which fails by a panic.
    pub fn add(&mut self, name: impl Into<String>, run: impl FnOnce() + Send + 'static) {
        self.trials.push(Trial::test(name, || {
            run();
            Ok(())
        }));
    }

    /// Adds a test that gets what it needs, and is ignored if that is missing.
    pub fn add_with<T: Send + 'static>(
        &mut self,
        name: impl Into<String>,
        found: Result<T, Missing>,
        run: impl FnOnce(T) + Send + 'static,
    ) {
        match found {
            Ok(needed) => self.add(name, || run(needed)),
            Err(missing) => self.trials.push(Trial::ignorable_test(name, move || end(&missing))),
        }
    }

    /// Runs the tests as the command line says.
    pub fn run(self) -> ExitCode {
        libtest_mimic::run(&Arguments::from_args(), self.trials).exit_code()
    }
}

/// How a test ends that misses something.
fn end(missing: &Missing) -> Result<Completion, Failed> {
    if std::env::var_os("KUSION_REQUIRE_ALL").is_some_and(|value| value == "1") {
        return Err(format!("{missing}; KUSION_REQUIRE_ALL=1 requires it").into());
    }
    Ok(Completion::ignored_with(missing))
}
