//! Real processes: this program is the guard, the plugin, and the one who asks.

mod ends;
mod roles;
mod support;
mod talks;

use std::process::ExitCode;
use testkit::Suite;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.first().map(String::as_str) {
        Some(base_plugin::GUARD_WORD) => return base_plugin::guard(&words[1..]),
        Some("role") => return roles::play(&words[1..]),
        _ => {}
    }
    let mut suite = Suite::default();
    talks::add(&mut suite);
    ends::add(&mut suite);
    suite.run()
}
