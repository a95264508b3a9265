//! A big package of which one schema is used.

use super::{Numbers, write};
use std::fmt::Write as _;
use std::path::Path;

const PER_FILE: usize = 25;

/// Writes a package of `n` documented schemas that refer to each other, and a program that
/// uses one of them.
pub(super) fn write_package(n: usize, folder: &Path) -> anyhow::Result<()> {
    let mut numbers = Numbers::new(23);
    for first in (0..n).step_by(PER_FILE) {
        let mut text = String::new();
        for i in first..n.min(first + PER_FILE) {
            write_schema(&mut text, i, &mut numbers);
        }
        write(&folder.join(format!("schemas/part_{:04}.k", first / PER_FILE)), &text)?;
    }
    let main = "import schemas\n\nthing = schemas.Kind0 {name = \"first\"}\n";
    write(&folder.join("main.k"), main)
}

fn write_schema(text: &mut String, i: usize, numbers: &mut Numbers) {
    let n_fields = 5 + numbers.below(11);
    let mut docs = String::new();
    let mut fields = String::from("    name: str\n");
    for f in 0..n_fields {
        let other = if i == 0 { 0 } else { numbers.below(i as u64) };
        let ty = match numbers.below(9) {
            0 | 1 => "str".to_owned(),
            2 => "int".to_owned(),
            3 => "bool".to_owned(),
            4 => "[str]".to_owned(),
            5 => "{str:str}".to_owned(),
            6 => "str | int".to_owned(),
            7 if i > 0 => format!("Kind{other}"),
            _ if i > 0 => format!("[Kind{other}]"),
            _ => "any".to_owned(),
        };
        let _ = writeln!(
            docs,
            "    field{f} : {ty}, default is Undefined, optional\n        \
             What field{f} of Kind{i} is for; see https://docs.test/kind{i}#field{f}."
        );
        let _ = writeln!(fields, "    field{f}?: {ty}");
    }
    let _ = writeln!(
        text,
        "schema Kind{i}:\n    \"\"\"Kind{i} is one of many kinds.\n\n    Attributes\n    \
         ----------\n    name : str, default is Undefined, required\n        Its name.\n{docs}    \
         \"\"\"\n\n{fields}"
    );
}
