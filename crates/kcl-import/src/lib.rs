//! Data and schemas of other forms as KCL source: `kcl import`.
//!
//! [`import`] turns texts into source files; nothing is read or written here. Data (JSON, YAML,
//! TOML) becomes a program that gives that data ([`data`]). Schemas become packages: the readers
//! of the forms (`json_schema`, `openapi`, `crd`, `terraform`, `go`, `proto`) fill a model
//! (`model`), which `emit` writes. What is written compiles: names that mean something else in KCL
//! are changed (`names`), and what can't be said is left out with a warning.

mod checks;
mod crd;
mod data;
mod emit;
mod error;
mod go;
mod import;
mod json_schema;
mod model;
mod names;
mod openapi;
mod proto;
mod scan;
mod terraform;

pub use data::data;
pub use error::ImportError;
pub use import::{Imported, Mode, Options, SourceFile, import};
