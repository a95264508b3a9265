//! Data files against schemas: `kcl vet`.
//!
//! A document becomes the value of a variable in a program beside the files of the schema, and
//! that program is compiled and evaluated by `kcl-driver` as any other. What it finds is carried
//! back to the places in the data file. All documents of all files are judged, each on its own.
//!
//! ```
//! use base_system::MemorySystem;
//! use kcl_vet::{DataFile, Rules, vet};
//!
//! let schema = "schema User:\n    name: str\n    age: int\n    check:\n        age > 0\n";
//! let system = MemorySystem::new().with_file("/user.k", schema);
//! let rules = Rules::files(["/user.k"]);
//! let data = DataFile::new("user.json", "{\"name\": \"a\",\n \"age\": 0}", kcl_data::Format::Json);
//! let reports = vet(&system, &rules, &[data], 1)?;
//! let failure = &reports[0].failures[0];
//! assert_eq!(failure.rule.as_ref().map(|place| place.line), Some(5));
//! assert_eq!(failure.data.as_ref().map(|place| place.line), Some(1));
//! # Ok::<(), Box<kcl_driver::RunError>>(())
//! ```

mod files;
mod report;
mod rules;
mod trace;

pub use files::{DataFile, FileError, find_data, read_data};
pub use report::{Failure, Place, Report};
pub use rules::{Rules, SchemaName, vet};
