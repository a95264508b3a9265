//! Policies with rules that are functions of the tests.

mod checks;
mod renders;
mod support;
