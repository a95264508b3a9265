//! The instants at which a crash would be most harmful.

use kusion_model::ResourceId;
use std::fmt;
use std::sync::Arc;

/// An instant of an operation, in the order in which a step passes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Failpoint {
    /// The stack is locked; nothing else has happened.
    Locked,
    /// A call without an ending was looked into, and the finding recorded.
    Recovered,
    /// The release is recorded as open.
    Opened,
    /// A step is recorded as begun; its call was not made.
    Began,
    /// The old object of a replacement is deleted; the new one was not made.
    Removed,
    /// The call has come back; nothing of it is recorded.
    Called,
    /// The ending of a step is recorded.
    Ended,
    /// The new object of a replacement is made and recorded; the old one was not deleted.
    Created,
    /// The release is recorded as closed; the stack is still locked.
    Closed,
}

/// Tells somebody about the points that an operation passes. Tests end the process there.
#[derive(Clone, Default)]
pub struct Failpoints(Option<Arc<Observer>>);

type Observer = dyn Fn(Failpoint, Option<&ResourceId>) + Send + Sync;

impl Failpoints {
    /// Makes points that call a function.
    pub fn new(observer: impl Fn(Failpoint, Option<&ResourceId>) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(observer)))
    }

    /// Passes a point.
    pub(crate) fn pass(&self, point: Failpoint, id: Option<&ResourceId>) {
        if let Some(observer) = &self.0 {
            observer(point, id);
        }
    }
}

impl fmt::Debug for Failpoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Failpoints").field(&self.0.is_some()).finish()
    }
}
