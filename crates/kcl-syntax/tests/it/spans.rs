//! spans
