//! `kusion init`.

use crate::failure::Failure;
use crate::view;
use base_system::{OsSystem, System as _};
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

/// The placeholder for the name of the project in template files.
const NAME: &str = "@NAME@";

/// The placeholder for its id.
const ID: &str = "@ID@";

/// A template of a project.
struct Template {
    name: &'static str,
    about: &'static str,
    files: &'static [(&'static str, &'static str)],
}

macro_rules! template {
    ($name:literal, $about:literal, [$($file:literal),* $(,)?]) => {
        Template {
            name: $name,
            about: $about,
            files: &[$(
                ($file, include_str!(concat!("../../templates/", $name, "/", $file)))
            ),*],
        }
    };
}

const TEMPLATES: [Template; 2] = [
    template!(
        "web",
        "a web server with its own KCL model; stacks: dev, prod",
        [
            "kcl.mod",
            "project.yaml",
            "models/server.k",
            "models/objects.k",
            "base/base.k",
            "base/render.k",
            "dev/stack.yaml",
            "dev/kcl.yaml",
            "dev/main.k",
            "prod/stack.yaml",
            "prod/kcl.yaml",
            "prod/main.k",
        ]
    ),
    template!(
        "guestbook",
        "a web front end and a data store; stacks: dev, prod",
        [
            "kcl.mod",
            "project.yaml",
            "base/base.k",
            "base/render.k",
            "dev/stack.yaml",
            "dev/kcl.yaml",
            "dev/main.k",
            "prod/stack.yaml",
            "prod/kcl.yaml",
            "prod/main.k",
        ]
    ),
];

/// Arguments of `kusion init`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Template; `--list` shows all templates
    #[arg(default_value = "web")]
    template: String,
    /// Folder of the new project [default: a folder with the name of the project]
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Name of the project [default: the name of the folder or template]
    #[arg(long, value_name = "NAME", value_parser = name)]
    name: Option<String>,
    /// List the templates
    #[arg(long)]
    list: bool,
}

/// Creates a new project.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    if args.list {
        let mut text = String::new();
        for template in &TEMPLATES {
            // Writing to a string does not fail.
            let _ = writeln!(text, "{:10} {}", template.name, template.about);
        }
        return view::result(&text);
    }
    let Some(template) = TEMPLATES.iter().find(|it| it.name == args.template) else {
        let names: Vec<&str> = TEMPLATES.iter().map(|it| it.name).collect();
        return Err(Failure::Template { name: args.template.clone(), known: names.join(", ") });
    };
    let of_folder = || {
        let folder = args.folder.as_deref()?.file_name()?.to_str()?;
        name(folder).ok()
    };
    let project = match args.name.clone().or_else(of_folder) {
        Some(project) => project,
        None => ask_name(template.name)?,
    };
    let folder = args.folder.clone().unwrap_or_else(|| PathBuf::from(&project));
    for (file, _) in template.files {
        let path = folder.join(file);
        if path.symlink_metadata().is_ok() {
            return Err(Failure::Exists(path));
        }
    }
    let id = format!("{project}-{:016x}", OsSystem.random() as u64);
    for (file, text) in template.files {
        write(&folder.join(file), &text.replace(NAME, &project).replace(ID, &id))?;
    }
    let folder = folder.display();
    view::result(&format!(
        "created project `{project}` in {folder}\n\
         next: run `kusion compile {folder}/dev` to show its Spec, \
         or `kusion apply {folder}/dev --sandbox --watch` to try it in a sandbox\n"
    ))
}

/// Asks for the name of the project; without a terminal, the default is used.
fn ask_name(default: &str) -> Result<String, Failure> {
    let (stdin, mut stderr) = (std::io::stdin(), std::io::stderr());
    if !stdin.is_terminal() || !stderr.is_terminal() {
        return Ok(default.to_owned());
    }
    loop {
        let _ = write!(stderr, "Name of the project [{default}]: ");
        let mut line = String::new();
        let n_bytes = stdin.lock().read_line(&mut line).map_err(Failure::file("read", "stdin"))?;
        let word = line.trim();
        match name(word) {
            _ if word.is_empty() && n_bytes > 0 => return Ok(default.to_owned()),
            Ok(name) => return Ok(name),
            Err(_) if n_bytes == 0 => return Err(Failure::Declined),
            Err(expected) => {
                let _ = writeln!(stderr, "invalid name: {expected}");
            }
        }
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(Failure::file("create", folder))?;
    }
    fs::write(path, text).map_err(Failure::file("write", path))
}

/// Checks that a text is a valid project name, which is also the name of namespaces.
fn name(word: &str) -> Result<String, String> {
    let is_good = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    let ends = word.starts_with('-') || word.ends_with('-');
    if word.is_empty() || word.len() > 50 || ends || !word.bytes().all(is_good) {
        return Err("expected up to 50 lower-case letters, digits and inner dashes".to_owned());
    }
    Ok(word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use base_system::MemorySystem;
    use kusion_generate::{CompileOptions, compile};

    #[test]
    fn every_template_compiles() {
        for template in &TEMPLATES {
            let add = |system: MemorySystem, (file, text): &(&str, &str)| {
                system.with_file(
                    format!("/shop/{file}"),
                    text.replace(NAME, "shop").replace(ID, "shop-1"),
                )
            };
            let system = template.files.iter().fold(MemorySystem::new(), add);
            let options =
                CompileOptions { work_dir: Some("/shop".into()), ..CompileOptions::default() };
            let compiled = compile(&system, &options).expect("the template compiles");
            assert_eq!(compiled.len(), 2);
            for stack in compiled {
                assert!(stack.spec.resources.len() >= 4);
                assert_eq!(stack.notes, [""; 0]);
                assert_eq!(stack.stack.project.name, "shop");
                assert_eq!(stack.stack.project.file.id.as_deref(), Some("shop-1"));
            }
        }
    }

    #[test]
    fn names() {
        assert!(name("my-web1").is_ok());
        for wrong in ["", "A", "a_b", "-a", "a-", "a.b"] {
            assert!(name(wrong).is_err(), "{wrong}");
        }
    }
}
