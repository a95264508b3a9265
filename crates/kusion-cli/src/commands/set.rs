//! `kusion set`.

use crate::failure::{Exit, Failure};
use crate::view;
use base_system::{OsSystem, System as _};
use base_text::unified_diff;
use kusion_generate::{CompileOptions, SetRequest, edit_value};
use std::path::PathBuf;

/// Arguments of `kusion set`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Folder of the stack [default: the working folder], then the value to set: `app.replicas=6`, a
    /// field of a resource (`apps/v1:Deployment:shop:web.spec.replicas=6`), or items to append to a
    /// list (`app.hosts+=["a"]`)
    #[arg(value_name = "[DIR] PATH=VALUE", num_args = 1..=2, required = true)]
    words: Vec<String>,
    /// Base folder for relative paths
    #[arg(long, short = 'w', value_name = "DIR")]
    workdir: Option<PathBuf>,
    /// Cells for which the value is set, such as `env=prod`: in the layer for them, in the folder of
    /// the stack
    #[arg(long, value_name = "SELECTOR")]
    when: Option<String>,
    /// Reason, recorded in the layer
    #[arg(long, value_name = "TEXT", requires = "when")]
    why: Option<String>,
    /// Show the difference without writing it
    #[arg(long)]
    check: bool,
}

/// Sets a value in the file that owns it.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let (folder, assignment) = match args.words.as_slice() {
        [folder, assignment] => (Some(PathBuf::from(folder)), assignment),
        [assignment] => (None, assignment),
        _ => return Err(Failure::Usage("expected `PATH=VALUE`".to_owned())),
    };
    let (target, value) = split(assignment).ok_or_else(|| {
        Failure::Usage(format!(
            "invalid change `{assignment}`: expected `PATH=VALUE`, such as `app.replicas=6`"
        ))
    })?;
    let append = target.ends_with('+');
    let request = SetRequest {
        target: target.trim_end_matches('+').trim().to_owned(),
        value: value.trim().to_owned(),
        append,
        when: args.when.clone(),
        why: args.why.clone(),
    };
    let options = CompileOptions {
        work_dir: args.workdir.clone(),
        folders: folder.into_iter().collect(),
        ..CompileOptions::default()
    };
    let edit = edit_value(&OsSystem, &options, &request)?;
    let shown = edit.shown.display().to_string();
    let difference = unified_diff(&shown, &edit.before, &edit.after);
    if difference.is_empty() {
        view::message("nothing changes: the value is set already\n");
        return Ok(Exit::Success);
    }
    if !args.check {
        OsSystem.write(&edit.path, &edit.after).map_err(Failure::file("write", &edit.path))?;
    }
    view::result(&difference)?;
    for note in &edit.notes {
        view::message(&format!("note: {note}\n"));
    }
    Ok(Exit::Success)
}

/// Splits a change at the first `=` outside of brackets and quotes.
fn split(change: &str) -> Option<(&str, &str)> {
    let mut quote = None;
    let mut depth = 0_usize;
    for (at, it) in change.char_indices() {
        match (quote, it) {
            (Some(open), _) => quote = (it != open).then_some(open),
            (None, '"' | '\'') => quote = Some(it),
            (None, '[') => depth += 1,
            (None, ']') => depth = depth.saturating_sub(1),
            (None, '=') if depth == 0 => {
                let (target, value) = (&change[..at], &change[at + 1..]);
                let is_empty = target.trim().is_empty() || value.trim().is_empty();
                return (!is_empty).then_some((target, value));
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_split_outside_of_brackets() {
        assert_eq!(split("a.b=1"), Some(("a.b", "1")));
        assert_eq!(split("a.b+=[1]"), Some(("a.b+", "[1]")));
        assert_eq!(split(r#"m.labels["a=b"]=x=y"#), Some((r#"m.labels["a=b"]"#, "x=y")));
        assert_eq!(split("a.b"), None);
        assert_eq!(split("=1"), None);
        assert_eq!(split("a="), None);
    }
}
