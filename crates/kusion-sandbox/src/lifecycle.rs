//! What the cluster does around objects: admission of writes, and the chores behind them
//! (garbage, namespaces, service accounts, quotas, the objects that are there from the start).

pub(crate) mod admit;
