//! `kusion compile`.

use crate::arguments::{SourceArgs, quoted, trusts_by_environment};
use crate::failure::Failure;
use crate::view;
use crate::view::style::one_line;
use base_diag::Colour;
use clap::ValueEnum as _;
use kusion_app::wire::{OriginsDocument, StackOrigins};
use kusion_generate::{Compiled, Outcome, spec_json, spec_yaml};
use kusion_model::leaf_origins;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Component, Path, PathBuf};

/// Arguments of `kusion compile`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    source: SourceArgs,
    /// Output format: `yaml` or `json`
    #[arg(long, short, value_name = "FORMAT", value_parser = output)]
    output: Option<Output>,
    /// File for one Spec, or folder for several
    #[arg(long, value_name = "FILE|DIR")]
    out: Option<PathBuf>,
    /// Show what set each value of the Specs instead of the Specs, as JSON: file, line, the selector
    /// of the layer, and what a computed value was computed from
    #[arg(long, conflicts_with_all = ["output", "format", "out"])]
    origins: bool,
    /// Earlier name of `--output`
    #[arg(long, value_enum, hide = true)]
    format: Option<Form>,
    /// Continue with the other stacks after one has failed
    #[arg(long)]
    keep_going: bool,
}

/// The value of `--output`.
#[derive(Debug, Clone)]
enum Output {
    /// The format.
    Form(Form),
    /// A file or folder, as earlier versions read every value.
    File(PathBuf),
}

fn output(word: &str) -> Result<Output, String> {
    match Form::from_str(word, false) {
        Ok(form) => Ok(Output::Form(form)),
        Err(_) if word.is_empty() => Err("expected `yaml` or `json`".to_owned()),
        Err(_) => Ok(Output::File(PathBuf::from(word))),
    }
}

/// The format of a Spec.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum Form {
    /// YAML; one document per stack
    #[default]
    #[value(alias = "text")]
    Yaml,
    /// JSON; one object per stack, with `project`, `stack`, `cell` if there is one, and `spec`
    Json,
}

/// Where and how Specs are written.
struct Target {
    form: Form,
    /// The file or folder; `None` for standard output.
    out: Option<PathBuf>,
}

impl Target {
    /// Returns what the options say.
    fn of(args: &Args) -> Result<Self, Failure> {
        let (form, file) = match &args.output {
            Some(Output::Form(form)) => (Some(*form), None),
            Some(Output::File(file)) => (None, Some(file.clone())),
            None => (None, None),
        };
        if form.is_some() && args.format.is_some_and(|it| Some(it) != form) {
            return Err(Failure::Usage("`--output` and `--format` differ".to_owned()));
        }
        let out = match (args.out.clone(), file) {
            (Some(_), Some(file)) => {
                let file = one_line(&file.display().to_string());
                let text = format!("invalid format `{file}`: expected `yaml` or `json`");
                return Err(Failure::Usage(text));
            }
            (None, Some(file)) => {
                let shown = quoted(&one_line(&file.display().to_string()));
                view::warning(&format!(
                    "`{shown}` is not a format (`yaml` or `json`), so it is the name of a file; \
                     write `--out {shown}`"
                ));
                Some(file)
            }
            (out, None) => out,
        };
        Ok(Self { form: form.or(args.format).unwrap_or_default(), out })
    }
}

/// Compiles stacks to Specs.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let target = Target::of(args)?;
    let Outcome { compiled, errors, n_stacks, .. } =
        args.source.compile_each(args.keep_going, trusts_by_environment())?;
    compiled.iter().for_each(tell);
    if args.origins {
        view::result(&origins(&compiled))?;
    } else if !compiled.is_empty() {
        show(args, &target, &compiled, n_stacks == 1)?;
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
fn show(
    args: &Args,
    target: &Target,
    compiled: &[Compiled],
    is_alone: bool,
) -> Result<(), Failure> {
    let Some(output) = &target.out else {
        return view::result(&together(compiled, target.form, is_alone));
    };
    let base = args.source.folders.workdir.clone().unwrap_or_default();
    let output = base.join(output);
    let is_folder = output.is_dir() || output.as_os_str().to_string_lossy().ends_with('/');
    if let ([stack], true) = (compiled, is_alone && !is_folder) {
        return write(&output, &alone(stack, target.form));
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
        if let Some(cell) = &stack.stack.cell {
            path.as_mut_os_string().push(format!("@{}", cell.name));
        }
        let extension = if target.form == Form::Json { "json" } else { "yaml" };
        path.as_mut_os_string().push(format!(".{extension}"));
        write(&path, &alone(stack, target.form))?;
    }
    Ok(())
}

/// Returns what set the values of Specs.
fn origins(compiled: &[Compiled]) -> String {
    let stacks = compiled.iter().map(|it| StackOrigins {
        project: &it.stack.project.name,
        stack: &it.stack.name,
        cell: it.stack.cell_name(),
        leaves: leaf_origins(&it.spec, &it.origins),
    });
    OriginsDocument::new(stacks.collect()).text()
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
                let name = stack.stack.full_name();
                let _ = write!(text, "---\n# {name}\n{}", spec_yaml(&stack.spec));
            }
            Form::Json => {
                let names = serde_json::json!([project, name, stack.stack.cell_name()]);
                let cell = match &stack.stack.cell {
                    Some(_) => format!("\"cell\": {}, ", names[2]),
                    None => String::new(),
                };
                let spec = spec_json(&stack.spec);
                let _ = writeln!(
                    text,
                    "{{\"project\": {}, \"stack\": {}, {cell}\"spec\": {spec}}}",
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
        let name = stack.stack.full_name();
        let _ = writeln!(out, "note: {name}: {}", note.trim_end());
    }
    if stack.has_secrets() {
        let name = stack.stack.full_name();
        let _ = writeln!(out, "note: {name}: the Spec contains secrets in plain text");
    }
}
