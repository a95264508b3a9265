//! What the cluster does around objects: admission of writes, and the chores behind them
//! (garbage, namespaces, service accounts, quotas, the objects that are there from the start).

pub(crate) mod accounts;
pub(crate) mod admit;
pub(crate) mod aggregation;
pub(crate) mod bootstrap;
pub(crate) mod collector;
pub(crate) mod conditions;
pub(crate) mod expiry;
mod limits;
pub(crate) mod namespace;
mod pod_admission;
pub(crate) mod quota;
pub(crate) mod services;
