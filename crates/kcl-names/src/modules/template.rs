//! `template`

use crate::signature::{Module, Signature, optional, required};

pub(super) const MODULE: Module = Module {
    name: "template",
    doc: "Text templates in the Handlebars language.",
    functions: &[
        Signature::new(
            "execute",
            &[required("template", "str"), optional("data", "{str:any}")],
            "str",
            "Fills in a Handlebars template: `{{name}}` is replaced by the value of `name` in \
             `data`, escaped for HTML; `{{{name}}}` and `{{raw name}}` by the value as it is.",
        ),
        Signature::new(
            "html_escape",
            &[required("data", "str")],
            "str",
            "Returns a text with the characters that HTML gives a meaning replaced by entities.",
        ),
    ],
    constants: &[],
};
