//! `file`

use crate::signature::{Module, Param, Signature, optional, required};

const FILE: &[Param] = &[required("filepath", "str")];
const FROM_TO: &[Param] = &[required("src", "str"), required("dest", "str")];
const CONTENT: &[Param] = &[required("filepath", "str"), required("content", "str")];

pub(super) const MODULE: Module = Module {
    name: "file",
    doc: "Files below the folder of the program, and the environment.",
    functions: &[
        Signature::new("read", FILE, "str", "Returns the text of a file."),
        Signature::new(
            "glob",
            &[required("pattern", "str")],
            "[str]",
            "Returns the paths that match a pattern with `*`, `?`, `[a-z]` and `**`.",
        ),
        Signature::new(
            "modpath",
            &[],
            "str",
            "Returns the folder of the module: that of `kcl.mod`, if there is one.",
        ),
        Signature::new("workdir", &[], "str", "Returns the working folder."),
        Signature::new("current", &[], "str", "Returns the path of the file that is evaluated."),
        Signature::new("exists", FILE, "bool", "Tells whether there is a file or folder."),
        Signature::new("abs", FILE, "str", "Returns the real, absolute path of a file or folder."),
        Signature::new(
            "append",
            CONTENT,
            "any",
            "Adds text to the end of a file, which is made if needed.",
        ),
        Signature::new(
            "mkdir",
            &[required("directory", "str"), optional("exists", "bool")],
            "any",
            "Makes a folder and those above it. With `exists`, something that is already there \
             is fine.",
        ),
        Signature::new("delete", FILE, "any", "Removes a file."),
        Signature::new("cp", FROM_TO, "any", "Copies a file, or a folder with all in it."),
        Signature::new("mv", FROM_TO, "any", "Moves a file or folder."),
        Signature::new("size", FILE, "int", "Returns the size of a file in bytes."),
        Signature::new(
            "write",
            CONTENT,
            "any",
            "Writes a file, in the place of what may be there.",
        ),
        Signature::new(
            "read_env",
            &[required("key", "str")],
            "str",
            "Returns an environment variable, or `Undefined` if it is not set.",
        ),
        Signature::new("readbase64", FILE, "str", "Returns the bytes of a file in base 64."),
    ],
    constants: &[],
};
