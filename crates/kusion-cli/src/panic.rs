//! Reports panics as bugs.

use std::backtrace::Backtrace;
use std::io::Write as _;
use std::panic::PanicHookInfo;

/// Reports panics as bugs of this program, with the details that a bug report needs.
pub(crate) fn report_as_bugs() {
    std::panic::set_hook(Box::new(report));
}

fn report(info: &PanicHookInfo<'_>) {
    let message = info.payload_as_str().unwrap_or("no message");
    let place = info.location().map(|it| format!("{}:{}", it.file(), it.line()));
    let version = env!("CARGO_PKG_VERSION");
    tracing::error!(place, "panic");
    // A failure to write here cannot be reported.
    let _ = write!(
        std::io::stderr(),
        "error: internal error in kusion {version}: {message}\n  at {}\n\
         this is a bug in kusion; please report it with the command and this text\n{}\n",
        place.as_deref().unwrap_or("an unknown location"),
        Backtrace::force_capture()
    );
}
