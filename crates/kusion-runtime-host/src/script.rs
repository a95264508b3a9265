//! Scripts: what is sent to a host.
//!
//! A script is one function that is called after the whole of it was read, so that a connection that
//! ends early runs nothing. It calls functions of `sh/`, which answer with lines (`answer`). The
//! first word of a line of an answer is a random number, so that whatever else is printed, such as a
//! greeting, is not taken for an answer.

use crate::items::Kind;
use crate::quote;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Functions of all kinds.
const COMMON: &str = include_str!("sh/common.sh");

/// A script that is being written.
#[derive(Debug)]
pub(crate) struct Script {
    /// The first word of all answers.
    pub(crate) mark: String,
    kinds: BTreeSet<Kind>,
    functions: String,
    calls: String,
    /// The number of calls.
    pub(crate) n_calls: usize,
}

impl Script {
    pub(crate) fn new() -> Self {
        Self {
            mark: format!("k{:016x}", fastrand::u64(..)),
            kinds: BTreeSet::new(),
            functions: String::new(),
            calls: String::new(),
            n_calls: 0,
        }
    }

    /// Adds a call of a function of `sh/` with these arguments, after the number of the call.
    pub(crate) fn call(&mut self, kind: Kind, function: &str, arguments: &[&str]) {
        self.kinds.insert(kind);
        let _ = write!(self.calls, "{function} {}", self.n_calls);
        for argument in arguments {
            let _ = write!(self.calls, " {}", quote::word(argument));
        }
        self.calls.push('\n');
        self.n_calls += 1;
    }

    /// Lets the next call print bytes by the function `content_N`.
    pub(crate) fn content(&mut self, bytes: &[u8]) {
        let printed = quote::printed(bytes);
        let _ = write!(self.functions, "content_{}() {{\n{printed}}}\n", self.n_calls);
    }

    /// Returns the text.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("kusion_main() {{\nN={}\necho \"$N begin\"\n{COMMON}", self.mark);
        for kind in &self.kinds {
            text.push_str(kind.functions());
        }
        text.push_str(&self.functions);
        text.push_str(&self.calls);
        // The input of commands is never the rest of the script.
        text.push_str("echo \"$N end\"\n}\nkusion_main </dev/null\n");
        text
    }
}
