//! `collection`

use crate::signature::{Module, Signature, required};

pub(super) const MODULE: Module = Module {
    name: "collection",
    doc: "Operations on collections.",
    functions: &[Signature::new(
        "union_all",
        &[required("num", "[any]")],
        "any",
        "Declared by the language, but without an implementation: fold a list with `|` instead.",
    )],
    constants: &[],
};
