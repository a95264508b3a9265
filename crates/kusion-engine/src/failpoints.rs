//! Fail points: the points of an operation at which tests simulate crashes.

use kusion_model::ResourceId;
use std::fmt;
use std::sync::Arc;

/// A point of an operation, in the order in which a step reaches them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Failpoint {
    /// The stack is locked; nothing else has happened.
    Locked,
    /// The result of an interrupted call was checked and recorded.
    Recovered,
    /// The release is recorded as open.
    Opened,
    /// A step is recorded as started; its call was not made.
    Began,
    /// The old object of a replacement is deleted; the new one is not created yet.
    Removed,
    /// The call has returned; its result is not recorded yet.
    Called,
    /// The end of a step is recorded.
    Ended,
    /// The new object of a replacement is created and recorded; the old one is not deleted yet.
    Created,
    /// The release is recorded as closed; the stack is still locked.
    Closed,
}

/// Notifies an observer at each fail point. Tests end the process there.
#[derive(Clone, Default)]
pub struct Failpoints(Option<Arc<Observer>>);

type Observer = dyn Fn(Failpoint, Option<&ResourceId>) + Send + Sync;

impl Failpoints {
    /// Creates fail points that call a function.
    pub fn new(observer: impl Fn(Failpoint, Option<&ResourceId>) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(observer)))
    }

    /// Notifies the observer of a point.
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
