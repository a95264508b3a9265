//! Documents about schemas: `kcl doc generate` and `kcl export`.
//!
//! [`Docs::read`] compiles a program and collects what its schemas declare: attributes with types,
//! defaults and descriptions, `check` rules, examples. The forms are functions of that model:
//! [`markdown`], [`html`], [`openapi`], [`json_schema`], [`proto`], and [`template`] for those of users.

mod comment;
mod escape;
pub mod html;
pub mod json_schema;
mod literal;
pub mod markdown;
mod model;
mod names;
pub mod openapi;
pub mod proto;
mod read;
pub mod schema_types;
pub mod template;
mod types;

pub use model::{
    AttributeDoc, CheckDoc, DecoratorDoc, Docs, IndexDoc, PackageDoc, SchemaDoc, SchemaKind,
    TypeDoc,
};
pub use read::DocError;
