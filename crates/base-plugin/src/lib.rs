//! Programs that answer questions: started once, asked over standard input and output, limited, and
//! never left behind.
//!
//! [`Process`] is one program; [`SharedProcess`] one that several threads ask, and that is started
//! again after a failure. Messages are JSON-RPC 2.0, one per line. What methods and values mean is
//! the matter of those who ask.
//!
//! # No process is left behind
//!
//! A program is not started directly but by a *guard*: a second process of the binary that uses
//! this crate, which runs [`guard`] and nothing else. The guard
//!
//! - starts the program in a process group of its own, with a limit of memory (a third process of
//!   the binary limits itself, and then becomes the program);
//! - waits until the program ends, or until its own standard input, the pipe to the program, has no
//!   writer any more. The system closes the pipe however the user of this crate ends, by SIGKILL,
//!   too;
//! - then kills the group, and whatever left the group and became its child (it is a subreaper).
//!
//! This needs no `unsafe` code between fork and exec, which a signal for the death of the parent
//! would need, and it holds for all descendants of the program. That signal also comes when only
//! the thread that started the process ends.

mod command;
mod failure;
#[cfg(unix)]
mod guard;
mod message;
#[cfg(unix)]
mod process;
#[cfg(not(unix))]
#[path = "unsupported.rs"]
mod process;
mod shared;
mod tail;

pub use command::{Guard, Launch, Limits, WordsError, split_words};
pub use failure::{Failure, Problem};
#[cfg(unix)]
pub use guard::guard;
pub use process::Process;
#[cfg(not(unix))]
pub use process::guard;
pub use shared::SharedProcess;

/// The first word on the command line of a guard.
pub const GUARD_WORD: &str = "plugin-guard";
