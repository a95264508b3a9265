//! `kcl doc`

use crate::args::{Arity, Opt, Piece, split};
use crate::fetching::provider;
use crate::{Exit, terminal, values};
use base_system::{OsSystem, System as _};
use kcl_doc::{DocError, Docs, html, markdown, openapi, template};
use kcl_driver::{Input, RunOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What `kcl doc --help` says.
pub(crate) const HELP: &str = "\
Write documentation of schemas.

Usage: kcl doc generate [options] [files or folders]

Describes the schemas of a package and of those that it imports: attributes, types,
defaults, rules and examples, as their docstrings have them. Without files, the package
of the working folder is described.

Options:
      --file-path <path>           The file or folder, as a word does
      --format <format>            md (default), html or openapi
      --target <folder>            Write files there; without it, md and openapi are printed,
                                   and html is written to the folder docs
      --template <folder>          Use own templates in Handlebars: page.hbs for the page of all
                                   schemas, schema.hbs for a page of each schema
      --ignore-deprecated          Leave out what is deprecated
      --open                       Show the pages in a browser (html)
  -E, --external <name=folder>...  Give the folder of an external package
  -h, --help                       Print this text
";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    FilePath,
    Format,
    Target,
    Template,
    IgnoreDeprecated,
    Open,
    External,
    Help,
}

const fn opt(key: Key, short: Option<char>, long: &'static str, arity: Arity) -> Opt<Key> {
    Opt { key, short, long, arity }
}

const OPTIONS: &[Opt<Key>] = &[
    opt(Key::FilePath, None, "file-path", Arity::One),
    opt(Key::Format, None, "format", Arity::One),
    opt(Key::Target, None, "target", Arity::One),
    opt(Key::Template, None, "template", Arity::One),
    opt(Key::IgnoreDeprecated, None, "ignore-deprecated", Arity::None),
    opt(Key::Open, None, "open", Arity::None),
    opt(Key::External, Some('E'), "external", Arity::Many(|word| word.contains('='))),
    opt(Key::Help, Some('h'), "help", Arity::None),
];

/// The form of the documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Markdown,
    Html,
    OpenApi,
}

/// What the command line of `kcl doc generate` says.
struct Args {
    options: RunOptions,
    form: Form,
    target: Option<PathBuf>,
    template: Option<PathBuf>,
    ignore_deprecated: bool,
    open: bool,
}

/// Runs `kcl doc` with the words behind it.
pub(crate) fn run(words: &[String]) -> Exit {
    let rest = match words.split_first() {
        Some((word, rest)) if matches!(word.as_str(), "generate" | "gen" | "g") => rest,
        Some((word, _)) if word == "--help" || word == "-h" => return terminal::write_out(HELP),
        _ => return terminal::usage("expected 'kcl doc generate'"),
    };
    let args = match parse(rest) {
        Ok(Some(args)) => args,
        Ok(None) => return terminal::write_out(HELP),
        Err(message) => return terminal::usage(&message),
    };
    match read(&args.options) {
        Ok(docs) if args.ignore_deprecated => write(&args, &docs.without_deprecated()),
        Ok(docs) => write(&args, &docs),
        Err(exit) => exit,
    }
}

/// Describes the schemas of a program; what is wrong with the program is told, and does not stop
/// it.
pub(crate) fn read(options: &RunOptions) -> Result<Docs, Exit> {
    let colour = terminal::auto_colour();
    match Docs::read(&OsSystem, options) {
        Ok((docs, findings)) => {
            terminal::write_err(&findings.to_text(colour));
            Ok(docs)
        }
        Err(DocError::Load(error)) => {
            terminal::write_err(&error.to_text(colour));
            Err(Exit::User)
        }
        Err(error @ DocError::NoSchemas(_)) => {
            if let DocError::NoSchemas(findings) = &error {
                terminal::write_err(&findings.to_text(colour));
            }
            Err(terminal::fail(&error.to_string()))
        }
    }
}

fn write(args: &Args, docs: &Docs) -> Exit {
    if let Some(folder) = &args.template {
        return match write_templates(args, folder, docs) {
            Ok(exit) => exit,
            Err(message) => terminal::fail(&message),
        };
    }
    let (file, text) = match args.form {
        Form::Html => return write_site(args, docs),
        Form::Markdown => ("schemas.md", markdown::write(docs)),
        Form::OpenApi => {
            let document = openapi::write(docs, None, openapi::Form::Exact);
            let text = serde_json::to_string_pretty(&document).unwrap_or_default();
            ("openapi.json", format!("{text}\n"))
        }
    };
    match &args.target {
        None => terminal::write_out(&text),
        Some(target) => match write_file(target, file, &text) {
            Ok(path) => terminal::write_out(&format!("wrote {}\n", path.display())),
            Err(message) => terminal::fail(&message),
        },
    }
}

/// Writes the pages of the user's own templates.
fn write_templates(args: &Args, folder: &Path, docs: &Docs) -> Result<Exit, String> {
    let (ending, target) = match args.form {
        Form::Html => ("html", Some(args.target.clone().unwrap_or_else(|| "docs".into()))),
        Form::Markdown => ("md", args.target.clone()),
        Form::OpenApi => return Err("--template is for --format md and html".to_owned()),
    };
    let (page, schema) = (read_template(folder, "page")?, read_template(folder, "schema")?);
    if page.is_none() && schema.is_none() {
        return Err(no_templates(folder));
    }
    let failed = |name: &str| {
        let path = folder.join(name).display().to_string();
        move |message: String| format!("cannot use {path}: {message}")
    };
    let page = page.map(|it| template::fill(&it, docs)).transpose().map_err(failed("page.hbs"))?;
    let Some(target) = target else {
        return match (page, schema) {
            (Some(page), None) => Ok(terminal::write_out(&page)),
            _ => Err("schema.hbs makes several files: say where with --target".to_owned()),
        };
    };
    let mut n_files = 0;
    if let Some(page) = page {
        let file = if ending == "html" { "index.html" } else { "schemas.md" };
        write_file(&target, file, &page)?;
        n_files += 1;
    }
    for described in docs.schemas() {
        let Some(schema) = &schema else { break };
        let text = template::fill_schema(schema, described).map_err(failed("schema.hbs"))?;
        let package = described.package.replace('.', "-");
        let file = format!("{package}-{}.{ending}", described.name);
        write_file(&target, &file, &text)?;
        n_files += 1;
    }
    let files = if n_files == 1 { "file" } else { "files" };
    Ok(terminal::write_out(&format!("wrote {n_files} {files} to {}\n", target.display())))
}

fn read_template(folder: &Path, name: &str) -> Result<Option<String>, String> {
    let path = folder.join(name).with_extension("hbs");
    match OsSystem.read_to_string(&path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("cannot read {}: {error}", path.display())),
    }
}

fn no_templates(folder: &Path) -> String {
    let shown = folder.display();
    let is_go = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "gotmpl");
    match OsSystem.read_dir(folder) {
        Err(error) => format!("cannot read {shown}: {error}"),
        Ok(entries) if entries.iter().any(is_go) => format!(
            "templates of the reference (*.gotmpl) need Go: write {shown}/page.hbs or \
             {shown}/schema.hbs, in Handlebars"
        ),
        Ok(_) => format!("no template in {shown}: expected page.hbs or schema.hbs"),
    }
}

fn write_site(args: &Args, docs: &Docs) -> Exit {
    let target = args.target.clone().unwrap_or_else(|| "docs".into());
    let pages = html::write(docs);
    for page in &pages {
        if let Err(message) = write_file(&target, &page.file, &page.text) {
            return terminal::fail(&message);
        }
    }
    let index = target.join("index.html");
    let written = format!("wrote {} pages, start at {}\n", pages.len(), index.display());
    let exit = terminal::write_out(&written);
    if !args.open {
        return exit;
    }
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let quiet = || Stdio::null();
    let started =
        Command::new(program).arg(&index).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn();
    match started {
        Ok(_) => exit,
        Err(error) => {
            let index = index.display();
            terminal::fail(&format!("cannot start {program}: {error}; open {index} in a browser"))
        }
    }
}

/// Writes a file as a whole into a folder, which is made if it is missing.
fn write_file(folder: &Path, file: &str, text: &str) -> Result<PathBuf, String> {
    let path = folder.join(file);
    let fail = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
    OsSystem.create_dir_all(folder).map_err(fail)?;
    OsSystem.write(&path, text).map_err(fail)?;
    Ok(path)
}

fn parse(words: &[String]) -> Result<Option<Args>, String> {
    let mut args = Args {
        options: RunOptions {
            ignore_default_settings: true,
            provider: Some(provider()),
            ..RunOptions::default()
        },
        form: Form::Markdown,
        target: None,
        template: None,
        ignore_deprecated: false,
        open: false,
    };
    for piece in split(words, OPTIONS)? {
        match piece {
            Piece::Flag(Key::Help) => return Ok(None),
            Piece::Flag(Key::IgnoreDeprecated) => args.ignore_deprecated = true,
            Piece::Flag(Key::Open) => args.open = true,
            Piece::Value(Key::FilePath, word) | Piece::Word(word) => {
                args.options.inputs.push(Input::path(word));
            }
            Piece::Value(Key::Format, value) => {
                args.form = match value.as_str() {
                    "md" | "markdown" => Form::Markdown,
                    "html" => Form::Html,
                    "openapi" => Form::OpenApi,
                    _ => {
                        let expected = "expected md, html or openapi";
                        return Err(format!("invalid output format '{value}', {expected}"));
                    }
                }
            }
            Piece::Value(Key::Target, value) => args.target = Some(value.into()),
            Piece::Value(Key::Template, value) => args.template = Some(value.into()),
            Piece::Value(Key::External, value) => {
                args.options.packages.push(values::external(&value)?);
            }
            Piece::Flag(_) | Piece::Value(..) => {}
        }
    }
    if args.options.inputs.is_empty() {
        args.options.inputs.push(Input::path("."));
    }
    Ok(Some(args))
}
