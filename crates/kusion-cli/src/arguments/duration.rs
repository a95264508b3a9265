//! Durations on the command line.

pub(crate) use kusion_model::parse_duration as parse;
