//! `kusion compile`.

use crate::arguments::SourceArgs;
use crate::failure::Failure;
use crate::view;
use base_diag::Colour;
use kusion_generate::{Compiled, Outcome, spec_json, spec_yaml};
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Component, Path, PathBuf};

/// Arguments of `kusion compile`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    source: SourceArgs,
    /// Output file for one Spec, or output folder for several
    #[arg(long, short, value_name = "FILE|DIR")]
    output: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Form,
    /// Continue with the other stacks after one has failed
    #[arg(long)]
    keep_going: bool,
}

/// The format of a Spec.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum Form {
    /// YAML; one document per stack
    #[default]
    Yaml,
    /// JSON; one object per stack, with `project`, `stack` and `spec`
    Json,
}

/// Compiles stacks to Specs.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let Outcome { compiled, errors, n_stacks } = args.source.compile_each(args.keep_going)?;
    compiled.iter().for_each(tell);
    if !compiled.is_empty() {
        show(args, &compiled, n_stacks == 1)?;
    }
    if errors.is_empty() {
        return Ok(());
    }
    for broken in &errors {
        view::stack_error(&broken.error.named());
    }
    let failed = errors.iter().map(|it| it.stack.display().to_string()).collect();
    Err(Failure::SomeFailed { failed, n_stacks })
}

/// Prints or writes Specs; `is_alone` says that no other stack was found.
fn show(args: &Args, compiled: &[Compiled], is_alone: bool) -> Result<(), Failure> {
    let Some(output) = &args.output else {
        return view::result(&together(compiled, args.format, is_alone));
    };
    let base = args.source.folders.workdir.clone().unwrap_or_default();
    let output = base.join(output);
    let is_folder = output.is_dir() || output.as_os_str().to_string_lossy().ends_with('/');
    if let ([stack], true) = (compiled, is_alone && !is_folder) {
        return write(&output, &alone(stack, args.format));
    }
    let current = std::env::current_dir().unwrap_or_default();
    let base = current.join(base);
    let base = fs::canonicalize(&base).unwrap_or(base);
    for stack in compiled {
        let folder = &stack.stack.folder;
        let inner = folder.strip_prefix(&base).or_else(|_| folder.strip_prefix(&current));
        let inner = inner.unwrap_or(folder);
        let mut path = output.clone();
        // Nothing is written outside of the folder, wherever the stack is.
        path.extend(inner.components().filter(|it| matches!(it, Component::Normal(_))));
        if path == output {
            path.push(&stack.stack.name);
        }
        let extension = if args.format == Form::Json { "json" } else { "yaml" };
        path.as_mut_os_string().push(format!(".{extension}"));
        write(&path, &alone(stack, args.format))?;
    }
    Ok(())
}

fn alone(stack: &Compiled, form: Form) -> String {
    match form {
        Form::Yaml => spec_yaml(&stack.spec),
        Form::Json => spec_json(&stack.spec) + "\n",
    }
}

fn together(compiled: &[Compiled], form: Form, is_alone: bool) -> String {
    if let ([stack], true) = (compiled, is_alone) {
        return alone(stack, form);
    }
    let mut text = String::new();
    for stack in compiled {
        let (project, name) = (&stack.stack.project.name, &stack.stack.name);
        // Writing to a string does not fail.
        match form {
            Form::Yaml => {
                let _ = write!(text, "---\n# {project}/{name}\n{}", spec_yaml(&stack.spec));
            }
            Form::Json => {
                let names = serde_json::json!([project, name]);
                let spec = spec_json(&stack.spec);
                let _ = writeln!(
                    text,
                    "{{\"project\": {}, \"stack\": {}, \"spec\": {spec}}}",
                    names[0], names[1]
                );
            }
        }
    }
    text
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    if let Some(folder) = path.parent().filter(|it| !it.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(Failure::file("create", folder))?;
    }
    fs::write(path, text).map_err(Failure::file("write", path))
}

/// Writes the output of the program, warnings and notes on a stack to standard error.
fn tell(stack: &Compiled) {
    let mut out = std::io::stderr().lock();
    // A failure to write here cannot be reported.
    let _ = out.write_all(stack.printed.as_bytes());
    let warnings = stack.warnings.to_text(Colour::Never);
    let warnings = Some(&warnings).filter(|text| !text.is_empty());
    for note in warnings.into_iter().chain(&stack.notes) {
        let (project, name) = (&stack.stack.project.name, &stack.stack.name);
        let _ = writeln!(out, "note: {project}/{name}: {}", note.trim_end());
    }
    if stack.has_secrets() {
        let (project, name) = (&stack.stack.project.name, &stack.stack.name);
        let _ = writeln!(out, "note: {project}/{name}: the Spec contains secrets in plain text");
    }
}
