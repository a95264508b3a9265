//! Who is told how far a download is.

use std::fmt;

/// Is told how far downloads are.
pub trait Progress: fmt::Debug + Send + Sync {
    /// A download starts; `what` names it.
    fn start(&self, what: &str);
    /// So many bytes have arrived, of so many if that is known.
    fn advance(&self, done: u64, total: Option<u64>);
    /// The download has ended, well or not.
    fn end(&self);
}

/// Tells nobody.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

impl Progress for Silent {
    fn start(&self, _what: &str) {}
    fn advance(&self, _done: u64, _total: Option<u64>) {}
    fn end(&self) {}
}
