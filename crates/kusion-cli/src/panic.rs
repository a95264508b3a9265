//! Reports panics as bugs.

use crate::view::style::printable;
use std::backtrace::Backtrace;
use std::io::Write as _;
use std::panic::PanicHookInfo;

/// Reports panics as bugs of this program, with the details that a bug report needs.
pub(crate) fn report_as_bugs() {
    std::panic::set_hook(Box::new(|info| {
        let text = report(info);
        // A failure to write here cannot be reported.
        let _ = writeln!(std::io::stderr(), "{text}{}", Backtrace::force_capture());
    }));
}

fn report(info: &PanicHookInfo<'_>) -> String {
    let message = info.payload_as_str().unwrap_or("no message");
    let place = info.location().map(|it| format!("{}:{}", it.file(), it.line()));
    let version = env!("CARGO_PKG_VERSION");
    tracing::error!(place, "panic");
    format!(
        "error: internal error in kusion {version}: {}\n  at {}\n\
         this is a bug in kusion; please report it with the command and this text\n",
        printable(message),
        place.as_deref().unwrap_or("an unknown location"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    static REPORTED: Mutex<String> = Mutex::new(String::new());

    #[test]
    fn a_panic_is_reported_as_our_bug() {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(|info| {
            if info.payload_as_str().is_some_and(|it| it.starts_with("on purpose")) {
                *REPORTED.lock().expect("one test") = report(info);
            }
        }));
        let ended = std::panic::catch_unwind(|| panic!("on purpose\u{1b}[31m"));
        std::panic::set_hook(before);
        assert!(ended.is_err());
        let text = REPORTED.lock().expect("one test").clone();
        let first = format!(
            "error: internal error in kusion {}: on purpose\\u{{1b}}[31m\n  at ",
            env!("CARGO_PKG_VERSION")
        );
        assert!(text.starts_with(&first) && text.contains("src/panic.rs:"), "{text}");
        assert!(text.contains("this is a bug in kusion"), "{text}");
    }
}
