//! Programs as runtimes: the examples of the repository, and programs that behave badly.

mod examples;

use std::process::ExitCode;
use testkit::Suite;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|it| it == base_plugin::GUARD_WORD) {
        return base_plugin::guard(&words[1..]);
    }
    let mut suite = Suite::default();
    examples::add(&mut suite);
    suite.run()
}
