//! `manifests`

use crate::signature::{Module, Signature, optional, required};

pub(super) const MODULE: Module = Module {
    name: "manifests",
    doc: "The output of the program.",
    functions: &[Signature::new(
        "yaml_stream",
        &[required("values", "any"), optional("opts", "{str:any}")],
        "any",
        "Makes the values the output of the program, each a YAML document of its own. The \
         options are `sort_keys` (False), `ignore_private` (True), `ignore_none` (False) and \
         `sep`, the line between documents (`---`). The last call counts.",
    )],
    constants: &[],
};
