//! `--watch`: a command runs again when a file that it read changes.

use crate::{Exit, terminal};
use base_system::{Observed, OsSystem};
use std::env;
use std::path::Path;
use std::thread;
use std::time::Duration;

/// How often files are looked at.
const PERIOD: Duration = Duration::from_millis(200);

/// How long files must stay as they are before the command runs again.
const SETTLING: Duration = Duration::from_millis(50);

/// Runs a command, and again whenever something changes that it looked at, until interrupted.
///
/// The command must access files only through the system that it is given, and must not use a
/// cache on disk: what it writes there would count as a change.
pub(crate) fn repeat(command: impl Fn(&Observed<'_, OsSystem>) -> Exit) -> Exit {
    loop {
        let observed = Observed::new(&OsSystem);
        let exit = command(&observed);
        if exit == Exit::Usage || observed.is_empty() {
            return exit;
        }
        terminal::write_err("\nwatching for changes, press Ctrl-C to stop\n");
        let changed = loop {
            thread::sleep(PERIOD);
            if let Some(path) = observed.find_change() {
                break path;
            }
        };
        thread::sleep(SETTLING);
        let shown = terminal::safe(&shortened(&changed));
        terminal::write_err(&format!("{shown} changed\n\n"));
    }
}

fn shortened(path: &Path) -> String {
    let here = env::current_dir().unwrap_or_default();
    path.strip_prefix(&here).unwrap_or(path).display().to_string()
}
