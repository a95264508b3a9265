//! `file`
//!
//! Paths are relative to the folder of the file that calls, and must not leave it.

use super::glob;
use crate::args::{flag, get, only, strings, text, too_few};
use crate::function::{Function, Module};
use crate::host::Host;
use data_encoding::BASE64;
use kcl_value::{CallArgs, Fault, Result, Value};
use std::io;
use std::path::{Component, Path, PathBuf};

pub(super) const MODULE: Module = Module {
    name: "file",
    functions: &[
        Function::new("read", read),
        Function::new("glob", find),
        Function::new("modpath", |host, _| {
            Ok(Value::str(host.module_root().display().to_string()))
        }),
        Function::new("workdir", |host, _| Ok(Value::str(host.work_dir().display().to_string()))),
        Function::new("current", |host, _| Ok(Value::str(host.current_file()))),
        Function::new("exists", |h, a| {
            let path = path(h, only(a, "filepath", "read")?)?;
            Ok(Value::Bool(h.system().exists(&path)))
        }),
        Function::new("abs", abs),
        Function::new("append", append),
        Function::new("mkdir", mkdir),
        Function::new("delete", delete),
        Function::new("cp", cp),
        Function::new("mv", mv),
        Function::new("size", size),
        Function::new("write", write),
        Function::new("read_env", |host, args| match get(args, 0, "key") {
            Some(key) => Ok(host.system().env(text(key)).map_or(Value::Undefined, Value::str)),
            None => Err(Fault::new("read_env() requires 'key' argument")),
        }),
        Function::new("readbase64", |host, args| {
            let path = readable(host, only(args, "filepath", "readbase64")?)?;
            let bytes = host.system().read(&path).map_err(|error| no_access(&path, &error))?;
            Ok(Value::str(BASE64.encode(&bytes)))
        }),
    ],
    constants: &[],
};

/// Folders nested deeper than this are not copied.
const MAX_DEPTH: usize = 128;

/// The folder that paths start at and must stay in.
fn root(host: &dyn Host) -> Result<PathBuf> {
    let file = Path::new(host.current_file());
    if file.is_absolute()
        && let Some(folder) = file.parent()
    {
        return Ok(folder.to_owned());
    }
    if host.work_dir().is_absolute() {
        return Ok(host.work_dir().to_owned());
    }
    host.system().current_dir().map_err(|error| Fault::new(error.to_string()))
}

/// Puts a path below the root, and refuses one that leaves it by its look.
fn below(root: &Path, given: &str) -> Result<PathBuf> {
    let path = Path::new(given);
    let climbs = path.components().any(|part| part == Component::ParentDir);
    if climbs || path.is_absolute() && !path.starts_with(root) {
        return Err(escapes(given, root));
    }
    Ok(root.join(path))
}

#[cold]
fn escapes(given: &str, root: &Path) -> Box<Fault> {
    Fault::new(format!("path '{given}' escapes module root '{}'", root.display()))
}

/// Whether paths must stay below the root: unless the environment says otherwise.
fn is_scoped(host: &dyn Host) -> bool {
    let is_off =
        |word: &str| ["off", "0", "false", "no"].iter().any(|off| off.eq_ignore_ascii_case(word));
    !host.system().env("KCL_FILE_SCOPE").is_some_and(|word| is_off(&word))
}

/// The path that an argument means.
fn path(host: &dyn Host, value: &Value) -> Result<PathBuf> {
    located(host, text(value))
}

/// The path that a text means; links must not lead out of the root, either.
fn located(host: &dyn Host, given: &str) -> Result<PathBuf> {
    if !is_scoped(host) {
        return Ok(given.into());
    }
    let root = root(host)?;
    let path = below(&root, given)?;
    let real_root = host.system().canonicalize(&root).unwrap_or_else(|_| root.clone());
    // What does not exist yet is where its nearest folder is.
    let real = path.ancestors().find_map(|path| host.system().canonicalize(path).ok());
    match real {
        Some(real) if !real.starts_with(&real_root) && !real_root.starts_with(&real) => {
            Err(escapes(given, &root))
        }
        _ => Ok(path),
    }
}

#[cold]
fn no_access(path: &Path, error: &io::Error) -> Box<Fault> {
    Fault::new(format!("failed to access the file '{}': {error}", path.display()))
}

/// The path and the git revision of `path:revision`.
fn split_revision(given: &str) -> Option<(&str, &str)> {
    let is_drive = matches!(given.as_bytes(), [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic());
    let (path, revision) = given.rsplit_once(':')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '/');
    let is_revision = !revision.is_empty()
        && !revision.starts_with(['.', '/'])
        && !revision.contains("..")
        && revision.chars().all(is_name);
    (is_revision && !(is_drive && path.len() == 1)).then_some((path, revision))
}

/// The path of a file to read, which must not be one of a git revision.
fn readable(host: &dyn Host, value: &Value) -> Result<PathBuf> {
    let given = text(value);
    let Some((file, _)) = split_revision(given) else { return located(host, given) };
    let path = located(host, file)?;
    let is_git = |folder: &Path| host.system().exists(&folder.join(".git"));
    let reason = if path.ancestors().skip(1).any(is_git) {
        "revisions of git repositories are not supported".to_owned()
    } else {
        format!("file '{given}' uses ':ref' but no git repository was found")
    };
    Err(Fault::new(format!("failed to access the file '{given}': {reason}")))
}

fn read(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let path = readable(host, only(args, "filepath", "read")?)?;
    let content = host.system().read_to_string(&path);
    content.map(Value::str).map_err(|error| no_access(&path, &error))
}

fn find(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let pattern = get(args, 0, "pattern").ok_or_else(|| too_few("glob"))?;
    let pattern = text(pattern);
    let pattern = if is_scoped(host) { below(&root(host)?, pattern)? } else { pattern.into() };
    let found = glob::find(host.system(), &pattern.display().to_string());
    found.map(strings).map_err(|error| Fault::new(format!("Failed to read glob pattern: {error}")))
}

fn abs(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let path = path(host, only(args, "filepath", "read")?)?;
    match host.system().canonicalize(&path) {
        Ok(real) => Ok(Value::str(real.display().to_string())),
        Err(_) => Err(Fault::new(format!("Could not get the absolute path of {}", path.display()))),
    }
}

fn mkdir(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let path = path(host, only(args, "directory", "mkdir")?)?;
    match host.system().create_dir_all(&path) {
        Err(error)
            if error.kind() == io::ErrorKind::AlreadyExists && flag(args, 1, "exists", false) =>
        {
            Ok(Value::None)
        }
        Err(error) => {
            Err(Fault::new(format!("Failed to create directory '{}': {error}", path.display())))
        }
        Ok(()) => Ok(Value::None),
    }
}

fn delete(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let path = path(host, only(args, "filepath", "delete")?)?;
    let done = if host.system().is_dir(&path) {
        Err("Is a directory (os error 21)".to_owned())
    } else {
        host.system().remove(&path).map_err(|error| error.to_string())
    };
    match done {
        Ok(()) => Ok(Value::None),
        Err(error) => Err(Fault::new(format!("failed to delete '{}': {error}", path.display()))),
    }
}

/// The two paths of a copy or a move.
fn from_to(host: &dyn Host, args: &CallArgs, function: &str) -> Result<(PathBuf, PathBuf)> {
    let argument = |index, name| {
        get(args, index, name)
            .ok_or_else(|| Fault::new(format!("{function}() missing '{name}_path' argument")))
    };
    let (from, to) = (argument(0, "src")?, argument(1, "dest")?);
    Ok((path(host, from)?, path(host, to)?))
}

fn cp(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let (from, to) = from_to(host, args, "cp")?;
    copy(host, &from, &to, MAX_DEPTH).map(|()| Value::None).map_err(|error| {
        Fault::new(format!(
            "Failed to copy from '{}' to '{}': {error}",
            from.display(),
            to.display()
        ))
    })
}

fn copy(host: &dyn Host, from: &Path, to: &Path, depth: usize) -> io::Result<()> {
    let system = host.system();
    if !system.is_dir(from) {
        return system.copy(from, to);
    }
    if depth == 0 {
        return Err(io::Error::other("folders are nested too deeply"));
    }
    // Listed before anything is made, as the target may lie inside.
    let entries = system.read_dir(from)?;
    system.create_dir_all(to)?;
    for entry in entries {
        if let Some(name) = entry.file_name() {
            copy(host, &entry, &to.join(name), depth - 1)?;
        }
    }
    Ok(())
}

fn mv(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let (from, to) = from_to(host, args, "mv")?;
    host.system().rename(&from, &to).map(|()| Value::None).map_err(|error| {
        Fault::new(format!("Failed to move '{}' to '{}': {error}", from.display(), to.display()))
    })
}

fn size(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let path = path(host, only(args, "filepath", "size")?)?;
    match host.system().metadata(&path) {
        Ok(facts) => Ok(Value::Int(facts.len as i64)),
        Err(error) => {
            Err(Fault::new(format!("failed to get size of '{}': {error}", path.display())))
        }
    }
}

fn write(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let missing = |name| Fault::new(format!("write() missing '{name}' argument"));
    let path = path(host, get(args, 0, "filepath").ok_or_else(|| missing("filepath"))?)?;
    let content = text(get(args, 1, "content").ok_or_else(|| missing("content"))?);
    host.system()
        .write(&path, content)
        .map(|()| Value::None)
        .map_err(|error| Fault::new(format!("Failed to create file '{}': {error}", path.display())))
}

fn append(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let missing = |name| Fault::new(format!("append() requires '{name}' argument"));
    let path = path(host, get(args, 0, "filepath").ok_or_else(|| missing("filepath"))?)?;
    let content = text(get(args, 1, "content").ok_or_else(|| missing("content"))?);
    host.system().append(&path, content).map(|()| Value::None).map_err(|error| {
        Fault::new(format!("Failed to open or create file '{}': {error}", path.display()))
    })
}
