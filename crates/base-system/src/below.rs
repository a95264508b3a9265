//! Files below a folder, for code that is not trusted.
//!
//! A program may name files, but what it names must lie in one folder, whatever links say, and
//! never in a `.git` folder. [`System::below`] does one operation on such a file.

#[cfg(unix)]
mod unix;

#[cfg(unix)]
pub(crate) use unix::below as os_below;

use crate::{Metadata, System};
use std::io;
use std::path::{Component, Path, PathBuf};

/// An operation on a file below a folder.
#[derive(Clone, Copy, Debug)]
pub enum FileCall<'c> {
    /// Reads a file as a whole, if it has at most so many bytes.
    Read(u64),
    /// Facts about what is there, following links.
    Facts,
    /// Lists a directory.
    List,
    /// The real path.
    RealPath,
    /// Writes a file as a whole; readers never see half of it.
    Write(&'c [u8]),
    /// Appends to a file, making it if needed.
    Append(&'c [u8]),
    /// Makes a directory and what lies above it.
    CreateDirs,
    /// Removes a file, or a link.
    Remove,
    /// Copies a file.
    CopyTo(&'c Path),
    /// Moves a file, directory or link.
    MoveTo(&'c Path),
}

impl FileCall<'_> {
    /// Whether it changes anything.
    pub fn is_change(self) -> bool {
        !matches!(self, Self::Read(_) | Self::Facts | Self::List | Self::RealPath)
    }

    /// Does the operation on any file.
    ///
    /// # Errors
    ///
    /// As the methods of [`System`], and if a file is too large.
    pub fn run<S: System + ?Sized>(self, system: &S, path: &Path) -> io::Result<FileAnswer> {
        let done = match self {
            Self::Read(limit) if system.metadata(path)?.len > limit => return Err(too_large()),
            Self::Read(_) => return system.read(path).map(FileAnswer::Bytes),
            Self::Facts => return system.metadata(path).map(FileAnswer::Facts),
            Self::List => return system.read_dir(path).map(FileAnswer::Entries),
            Self::RealPath => return system.canonicalize(path).map(FileAnswer::Path),
            Self::Write(bytes) => system.write_bytes(path, bytes),
            Self::Append(bytes) => system.append(path, &String::from_utf8_lossy(bytes)),
            Self::CreateDirs => system.create_dir_all(path),
            Self::Remove => system.remove(path),
            Self::CopyTo(to) => system.copy(path, to),
            Self::MoveTo(to) => system.rename(path, to),
        };
        done.map(|()| FileAnswer::Done)
    }
}

/// What an operation gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileAnswer {
    /// Nothing: it changed something.
    Done,
    /// What a file holds.
    Bytes(Vec<u8>),
    /// Facts.
    Facts(Metadata),
    /// The paths of the entries of a directory, sorted by name.
    Entries(Vec<PathBuf>),
    /// A real path.
    Path(PathBuf),
}

/// The folder that code which is not trusted is kept in: the Git work tree that `start` lies in,
/// else the outermost folder above it with one of the files `markers`, else `default` if `start`
/// lies in it, else `start`.
pub fn root_of(system: &dyn System, start: &Path, markers: &[&str], default: &Path) -> PathBuf {
    let above = || start.ancestors();
    if let Some(work_tree) = above().find(|folder| system.exists(&folder.join(".git"))) {
        return work_tree.to_owned();
    }
    let is_marked = |folder: &&Path| markers.iter().any(|name| system.is_file(&folder.join(name)));
    if let Some(outermost) = above().filter(is_marked).last() {
        return outermost.to_owned();
    }
    if start.starts_with(default) { default.to_owned() } else { start.to_owned() }
}

/// The names on the way from a folder to a path below it.
///
/// # Errors
///
/// If the path leads out of the folder by its look, or into a `.git` folder.
fn names<'p>(root: &Path, path: &'p Path) -> io::Result<Vec<&'p std::ffi::OsStr>> {
    let rest = path.strip_prefix(root).map_err(|_| leads_out())?;
    let mut names = Vec::new();
    for part in rest.components() {
        match part {
            Component::Normal(name) => names.push(name),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(leads_out());
            }
        }
    }
    names.iter().try_for_each(|name| check_name(name))?;
    Ok(names)
}

/// Refuses the folder in which Git keeps a repository.
fn check_name(name: &std::ffi::OsStr) -> io::Result<()> {
    if name.eq_ignore_ascii_case(".git") {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "the folder `.git` may not be used",
        ));
    }
    Ok(())
}

/// The message of the error for a path that leads out of the root.
pub const LEADS_OUT: &str = "the path leads out of the root";

#[cold]
fn leads_out() -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, LEADS_OUT)
}

#[cold]
fn too_large() -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, "the file is too large")
}

/// Does an operation on a system without links, or where they can only be looked at.
pub(crate) fn plain_below<S: System + ?Sized>(
    system: &S,
    root: &Path,
    path: &Path,
    call: FileCall<'_>,
) -> io::Result<FileAnswer> {
    let check = |path: &Path| -> io::Result<()> {
        names(root, path)?;
        let real_root = system.canonicalize(root)?;
        // What does not exist yet is where its nearest folder is.
        let real = path.ancestors().find_map(|path| system.canonicalize(path).ok());
        match real {
            Some(real) if real.starts_with(&real_root) || real_root.starts_with(&real) => Ok(()),
            _ => Err(leads_out()),
        }
    };
    check(path)?;
    if let FileCall::CopyTo(to) | FileCall::MoveTo(to) = call {
        check(to)?;
    }
    call.run(system, path)
}
