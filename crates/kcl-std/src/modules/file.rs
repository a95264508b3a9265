//! `file`
//!
//! Paths are relative to the folder of the file that calls. What they lead to, by links or not,
//! must lie below one root: the Git work tree, else the outermost folder with `kcl.mod` or
//! `project.yaml`, else the working folder.

use super::glob;
use crate::args::{flag, get, only, strings, text, too_few};
use crate::function::{Function, Module};
use crate::host::{Host, too_much_memory};
use base_system::{FileAnswer, FileCall, FileKind, LEADS_OUT, root_of};
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
        Function::new("exists", |host, args| {
            let target = target(host, only(args, "filepath", "read")?, "exists")?;
            Ok(Value::Bool(target.call(host, FileCall::Facts).is_ok()))
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
            Some(key) => {
                host.check_io("file.read_env")?;
                Ok(host.system().env(text(key)).map_or(Value::Undefined, Value::str))
            }
            None => Err(Fault::new("read_env() requires 'key' argument")),
        }),
        Function::new("readbase64", |host, args| {
            let target = readable(host, only(args, "filepath", "readbase64")?, "readbase64")?;
            Ok(Value::str(BASE64.encode(&target.read(host)?)))
        }),
    ],
    constants: &[],
};

/// Folders nested deeper than this are not copied.
const MAX_DEPTH: usize = 128;

/// The folder that relative paths start at.
fn start(host: &dyn Host) -> Result<PathBuf> {
    let file = Path::new(host.current_file());
    if file.is_absolute()
        && let Some(folder) = file.parent()
    {
        return Ok(folder.to_owned());
    }
    working_folder(host)
}

fn working_folder(host: &dyn Host) -> Result<PathBuf> {
    if host.work_dir().is_absolute() {
        return Ok(host.work_dir().to_owned());
    }
    host.system().current_dir().map_err(|error| Fault::new(error.to_string()))
}

/// The folder that everything must lie in which a program reads or writes.
fn root(host: &dyn Host, start: &Path) -> Result<PathBuf> {
    Ok(root_of(host.system(), start, &["kcl.mod", "project.yaml"], &working_folder(host)?))
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

/// A file that an argument names.
pub(super) struct Target {
    given: String,
    path: PathBuf,
    /// Where it starts at.
    start: PathBuf,
    /// What it must lie below, unless everything is allowed.
    root: Option<PathBuf>,
}

impl Target {
    /// Finds the file that a text names. Relative paths start at `start`.
    fn new(host: &dyn Host, given: &str, start: PathBuf) -> Result<Self> {
        if !is_scoped(host) {
            return Ok(Self { given: given.into(), path: given.into(), start, root: None });
        }
        let root = root(host, &start)?;
        let path = Path::new(given);
        let climbs = path.components().any(|part| part == Component::ParentDir);
        let is_elsewhere = !path.starts_with(&start) && !path.starts_with(&root);
        if climbs || path.is_absolute() && is_elsewhere {
            return Err(escapes(given, &start));
        }
        Ok(Self { given: given.into(), path: start.join(path), start, root: Some(root) })
    }

    /// The same for an entry of a folder.
    fn entry(&self, path: PathBuf) -> Self {
        let (given, start, root) = (self.given.clone(), self.start.clone(), self.root.clone());
        Self { given, path, start, root }
    }

    /// Does something with the file.
    fn call(&self, host: &dyn Host, call: FileCall<'_>) -> io::Result<FileAnswer> {
        match &self.root {
            Some(root) => host.system().below(root, &self.path, call),
            None => call.run(host.system(), &self.path),
        }
    }

    /// The fault of a call that failed.
    fn fault(
        &self,
        error: &io::Error,
        what: impl FnOnce(&Path, &io::Error) -> String,
    ) -> Box<Fault> {
        if error.to_string() == LEADS_OUT {
            return escapes(&self.given, &self.start);
        }
        Fault::new(what(&self.path, error))
    }

    /// Reads the file.
    fn read(&self, host: &dyn Host) -> Result<Vec<u8>> {
        let limit = FileCall::Read(host.room() as u64);
        match self.call(host, limit) {
            Ok(FileAnswer::Bytes(bytes)) => Ok(bytes),
            Ok(_) => Ok(Vec::new()),
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => Err(too_much_memory()),
            Err(error) => Err(self.fault(&error, |path, error| {
                format!("failed to access the file '{}': {error}", path.display())
            })),
        }
    }

    /// Whether it is a folder.
    fn is_dir(&self, host: &dyn Host) -> bool {
        let answer = self.call(host, FileCall::Facts);
        matches!(answer, Ok(FileAnswer::Facts(facts)) if facts.kind == FileKind::Directory)
    }
}

/// The file that an argument names, for a function of the module.
fn target(host: &dyn Host, value: &Value, function: &str) -> Result<Target> {
    host.check_io(&format!("file.{function}"))?;
    Target::new(host, text(value), start(host)?)
}

/// Writes a file that is named from the working folder.
pub(super) fn dump(host: &dyn Host, name: &str, content: &str, function: &str) -> Result<Value> {
    host.check_io(function)?;
    let folder = host.system().current_dir().map_err(|error| Fault::new(error.to_string()))?;
    let file = start(host)?;
    let path = folder.join(name);
    let root = if is_scoped(host) { Some(root(host, &file)?) } else { None };
    if root.as_ref().is_some_and(|root| !path.starts_with(root)) {
        return Err(escapes(name, &file));
    }
    let target = Target { given: name.into(), path, start: file, root };
    match target.call(host, FileCall::Write(content.as_bytes())) {
        Ok(_) => Ok(Value::Undefined),
        Err(error) => {
            Err(target.fault(&error, |_, error| format!("Unable to write file '{name}': {error}")))
        }
    }
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

/// A file to read, which must not be one of a git revision.
fn readable(host: &dyn Host, value: &Value, function: &str) -> Result<Target> {
    let given = text(value);
    let Some((file, _)) = split_revision(given) else { return target(host, value, function) };
    host.check_io(&format!("file.{function}"))?;
    let path = Target::new(host, file, start(host)?)?.path;
    let is_git = |folder: &Path| host.system().exists(&folder.join(".git"));
    let reason = if path.ancestors().skip(1).any(is_git) {
        "revisions of git repositories are not supported".to_owned()
    } else {
        format!("file '{given}' uses ':ref' but no git repository was found")
    };
    Err(Fault::new(format!("failed to access the file '{given}': {reason}")))
}

fn read(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let target = readable(host, only(args, "filepath", "read")?, "read")?;
    let content = String::from_utf8(target.read(host)?).map_err(|_| {
        let path = target.path.display();
        Fault::new(format!(
            "failed to access the file '{path}': stream did not contain valid UTF-8"
        ))
    })?;
    Ok(Value::str(content))
}

fn find(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let pattern = get(args, 0, "pattern").ok_or_else(|| too_few("glob"))?;
    let target = target(host, pattern, "glob")?;
    let files = Files { host: &*host, target: &target };
    let found = glob::find(&files, &target.path.display().to_string());
    found.map(strings).map_err(|error| Fault::new(format!("Failed to read glob pattern: {error}")))
}

/// The files that a pattern may find.
pub(super) struct Files<'h> {
    host: &'h dyn Host,
    target: &'h Target,
}

impl Files<'_> {
    /// Whether a folder lies on the way to the root.
    fn is_above(&self, path: &str) -> bool {
        self.target.root.as_ref().is_some_and(|root| root.starts_with(path))
    }

    /// Whether something is there.
    pub(super) fn exists(&self, path: &str) -> bool {
        self.is_above(path)
            || self.target.entry(path.into()).call(self.host, FileCall::Facts).is_ok()
    }

    /// Whether a folder is there.
    pub(super) fn is_dir(&self, path: &str) -> bool {
        self.is_above(path) || self.target.entry(path.into()).is_dir(self.host)
    }

    /// The entries of a folder.
    pub(super) fn entries(&self, folder: &str) -> Vec<PathBuf> {
        match self.target.entry(folder.into()).call(self.host, FileCall::List) {
            Ok(FileAnswer::Entries(entries)) => entries,
            _ => Vec::new(),
        }
    }
}

fn abs(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let target = target(host, only(args, "filepath", "read")?, "abs")?;
    match target.call(host, FileCall::RealPath) {
        Ok(FileAnswer::Path(real)) => Ok(Value::str(real.display().to_string())),
        Err(error) => Err(target.fault(&error, |path, _| {
            format!("Could not get the absolute path of {}", path.display())
        })),
        Ok(_) => Ok(Value::Undefined),
    }
}

fn mkdir(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let target = target(host, only(args, "directory", "mkdir")?, "mkdir")?;
    match target.call(host, FileCall::CreateDirs) {
        Err(error)
            if error.kind() == io::ErrorKind::AlreadyExists && flag(args, 1, "exists", false) =>
        {
            Ok(Value::None)
        }
        Err(error) => Err(target.fault(&error, |path, error| {
            format!("Failed to create directory '{}': {error}", path.display())
        })),
        Ok(_) => Ok(Value::None),
    }
}

fn delete(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let target = target(host, only(args, "filepath", "delete")?, "delete")?;
    let failed =
        |path: &Path, error: &str| format!("failed to delete '{}': {error}", path.display());
    if target.is_dir(host) {
        return Err(Fault::new(failed(&target.path, "Is a directory (os error 21)")));
    }
    match target.call(host, FileCall::Remove) {
        Ok(_) => Ok(Value::None),
        Err(error) => Err(target.fault(&error, |path, error| failed(path, &error.to_string()))),
    }
}

/// The two files of a copy or a move.
fn from_to(host: &dyn Host, args: &CallArgs, function: &str) -> Result<(Target, Target)> {
    let argument = |index, name| {
        get(args, index, name)
            .ok_or_else(|| Fault::new(format!("{function}() missing '{name}_path' argument")))
    };
    let (from, to) = (argument(0, "src")?, argument(1, "dest")?);
    Ok((target(host, from, function)?, target(host, to, function)?))
}

fn cp(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let (from, to) = from_to(host, args, "cp")?;
    copy(host, &from, &to, MAX_DEPTH).map(|()| Value::None).map_err(|error| {
        from.fault(&error, |path, error| {
            let to = to.path.display();
            format!("Failed to copy from '{}' to '{to}': {error}", path.display())
        })
    })
}

fn copy(host: &dyn Host, from: &Target, to: &Target, depth: usize) -> io::Result<()> {
    if !from.is_dir(host) {
        return from.call(host, FileCall::CopyTo(&to.path)).map(drop);
    }
    if depth == 0 {
        return Err(io::Error::other("folders are nested too deeply"));
    }
    // Listed before anything is made, as the target may lie inside.
    let FileAnswer::Entries(entries) = from.call(host, FileCall::List)? else { return Ok(()) };
    to.call(host, FileCall::CreateDirs)?;
    for entry in entries {
        if let Some(name) = entry.file_name() {
            let to = to.entry(to.path.join(name));
            copy(host, &from.entry(entry), &to, depth - 1)?;
        }
    }
    Ok(())
}

fn mv(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let (from, to) = from_to(host, args, "mv")?;
    from.call(host, FileCall::MoveTo(&to.path)).map(|_| Value::None).map_err(|error| {
        from.fault(&error, |path, error| {
            let to = to.path.display();
            format!("Failed to move '{}' to '{to}': {error}", path.display())
        })
    })
}

fn size(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let target = target(host, only(args, "filepath", "size")?, "size")?;
    match target.call(host, FileCall::Facts) {
        Ok(FileAnswer::Facts(facts)) => Ok(Value::Int(facts.len as i64)),
        Ok(_) => Ok(Value::Undefined),
        Err(error) => Err(target.fault(&error, |path, error| {
            format!("failed to get size of '{}': {error}", path.display())
        })),
    }
}

fn write(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let missing = |name| Fault::new(format!("write() missing '{name}' argument"));
    let path = get(args, 0, "filepath").ok_or_else(|| missing("filepath"))?;
    let target = target(host, path, "write")?;
    let content = text(get(args, 1, "content").ok_or_else(|| missing("content"))?);
    match target.call(host, FileCall::Write(content.as_bytes())) {
        Ok(_) => Ok(Value::None),
        Err(error) => Err(target.fault(&error, |path, error| {
            format!("Failed to create file '{}': {error}", path.display())
        })),
    }
}

fn append(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let missing = |name| Fault::new(format!("append() requires '{name}' argument"));
    let path = get(args, 0, "filepath").ok_or_else(|| missing("filepath"))?;
    let target = target(host, path, "append")?;
    let content = text(get(args, 1, "content").ok_or_else(|| missing("content"))?);
    match target.call(host, FileCall::Append(content.as_bytes())) {
        Ok(_) => Ok(Value::None),
        Err(error) => Err(target.fault(&error, |path, error| {
            format!("Failed to open or create file '{}': {error}", path.display())
        })),
    }
}
