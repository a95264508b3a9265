//! Which calls fail, and how.

use kusion_runtime::RuntimeError;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};

/// How a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// It has no effect, and may be tried again.
    Transient,
    /// It has no effect, and never will.
    Permanent,
    /// It has its effect, but the answer is lost.
    Lost,
    /// It has its effect, but the answer is lost, and a retry could have the effect again.
    Ambiguous,
    /// The process ends before the effect.
    CrashBefore,
    /// The process ends after the effect.
    CrashAfter,
}

/// A call that fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The call: `read`, `dry-run`, `apply`, `delete`, `recover`, or `any`.
    pub call: String,
    /// Which of these calls in this process, from 1.
    pub nth: u64,
    /// How it fails.
    pub kind: FaultKind,
}

/// The calls that fail in this process.
#[derive(Debug, Default)]
pub struct Faults {
    faults: Vec<Fault>,
    counts: [AtomicU64; CALLS.len()],
}

/// The calls that are counted; the last counts all.
const CALLS: [&str; 6] = ["read", "dry-run", "apply", "delete", "recover", "any"];

impl Faults {
    /// Creates a table of faults.
    pub fn new(faults: Vec<Fault>) -> Self {
        Self { faults, ..Self::default() }
    }

    /// Counts a call; returns how it fails.
    pub(crate) fn count(&self, call: &str) -> Option<FaultKind> {
        let mut found = None;
        for (name, count) in CALLS.iter().zip(&self.counts) {
            if *name != call && *name != "any" {
                continue;
            }
            let nth = count.fetch_add(1, Ordering::Relaxed) + 1;
            let fault = self.faults.iter().find(|fault| fault.call == *name && fault.nth == nth);
            found = found.or(fault.map(|fault| fault.kind));
        }
        found
    }
}

impl FromStr for Faults {
    type Err = String;

    /// Reads `apply:3:lost,delete:1:transient`.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut faults = Vec::new();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let wrong = || format!("invalid fault `{part}`: expected `apply:3:lost` or similar");
            let mut words = part.split(':');
            let (call, nth, kind) = match (words.next(), words.next(), words.next(), words.next()) {
                (Some(call), Some(nth), Some(kind), None) if CALLS.contains(&call) => {
                    (call, nth, kind)
                }
                _ => return Err(wrong()),
            };
            let kind = match kind {
                "transient" => FaultKind::Transient,
                "permanent" => FaultKind::Permanent,
                "lost" => FaultKind::Lost,
                "ambiguous" => FaultKind::Ambiguous,
                "crash-before" => FaultKind::CrashBefore,
                "crash-after" => FaultKind::CrashAfter,
                _ => return Err(wrong()),
            };
            let nth = nth.parse().map_err(|_| wrong())?;
            faults.push(Fault { call: call.to_owned(), nth, kind });
        }
        Ok(Self::new(faults))
    }
}

impl FaultKind {
    /// Fails before the effect.
    pub(crate) fn before(self) -> Result<(), RuntimeError> {
        match self {
            Self::Transient => Err(transient("the call was rejected")),
            Self::Permanent => Err(RuntimeError::Invalid("this will never work".to_owned())),
            Self::CrashBefore => std::process::abort(),
            Self::Lost | Self::Ambiguous | Self::CrashAfter => Ok(()),
        }
    }

    /// Fails after the effect.
    pub(crate) fn after(self) -> Result<(), RuntimeError> {
        match self {
            Self::Lost => Err(transient("the answer was lost")),
            Self::Ambiguous => Err(RuntimeError::Ambiguous("the answer was lost".to_owned())),
            Self::CrashAfter => std::process::abort(),
            Self::Transient | Self::Permanent | Self::CrashBefore => Ok(()),
        }
    }
}

fn transient(message: &str) -> RuntimeError {
    RuntimeError::Transient { message: message.to_owned(), retry_after_ms: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nth_call_fails() {
        let faults: Faults = "apply:2:lost,any:4:permanent".parse().expect("faults");
        let seen: Vec<Option<FaultKind>> =
            ["apply", "read", "apply", "delete", "apply"].map(|call| faults.count(call)).to_vec();
        let (lost, permanent) = (Some(FaultKind::Lost), Some(FaultKind::Permanent));
        assert_eq!(seen, [None, None, lost, permanent, None]);
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["apply", "apply:x:lost", "apply:1:soon", "sing:1:lost", "apply:1:lost:2"] {
            assert!(text.parse::<Faults>().is_err(), "{text}");
        }
    }
}
