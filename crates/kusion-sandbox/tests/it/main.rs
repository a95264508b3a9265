//! Tests of the sandbox through its public ends.
mod api;
mod data;
mod webhooks;
