//! Tests written in KCL: `kcl test`.
//!
//! A test is a lambda without parameters, assigned at the top level of a file `*_test.k` to a name
//! that starts with `test_`. It passes if calling it raises no error. Each test is a program of its
//! own: the files of its package, and a call of the lambda. Programs are compiled and evaluated by
//! `kcl-driver`, on its thread pool.
//!
//! Start at [`find_packages`] and [`run_tests`].

mod coverage;
mod find;
mod junit;
mod package;
mod report;
mod run;

pub use coverage::{Coverage, FileCoverage, Page, Part, PartKind, Tally};
pub use find::{FindError, TestFolder, find_packages};
pub use report::{Counts, Outcome, PackageFailure, TestCase, TestReport};
pub use run::{Filter, InvalidFilter, TestOptions, run_tests};
