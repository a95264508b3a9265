//! Files below a folder on Unix, without a race.
//!
//! The way to a file is walked name by name, each opened from the folder before it without
//! following links. A link is read and its names take its place; one that climbs above the root,
//! or is absolute and not below it, is refused. So nothing that happens meanwhile can lead out.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "this is the door to the operating system"
)]

use super::{FileAnswer, FileCall, check_name, leads_out, names, too_large};
use crate::{FileKind, Metadata};
use rustix::fs::{self, AtFlags, Dir, FileType, Mode, OFlags, Stat};
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// How many links are followed on the way to one file.
const MAX_LINKS: usize = 40;

const FILE_MODE: Mode = Mode::from_raw_mode(0o666);
const FOLDER_MODE: Mode = Mode::from_raw_mode(0o777);

fn open_folder(at: impl std::os::fd::AsFd, name: &OsStr) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(fs::openat(at, name, flags, Mode::empty())?)
}

/// What a walk does at its end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// Follows a link.
    Follow,
    /// Takes a link as it is.
    Keep,
    /// Makes folders that are missing.
    Create,
}

/// A name in an open folder.
struct Place {
    /// The folders from the root on.
    folders: Vec<OwnedFd>,
    /// Their names, without that of the root.
    names: Vec<OsString>,
    /// The name in the last folder; empty for that folder itself.
    name: OsString,
}

impl Place {
    fn folder(&self) -> &OwnedFd {
        self.folders.last().expect("the root is open")
    }

    /// Facts about what is there; a link is not followed.
    fn stat(&self) -> io::Result<Stat> {
        if self.name.is_empty() {
            return Ok(fs::fstat(self.folder())?);
        }
        Ok(fs::statat(self.folder(), &self.name, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    fn open(&self, flags: OFlags) -> io::Result<std::fs::File> {
        // A pipe would wait for its other end.
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = std::fs::File::from(fs::openat(self.folder(), &self.name, flags, FILE_MODE)?);
        if file.metadata()?.is_file() {
            return Ok(file);
        }
        Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
    }

    fn path(&self, root: &Path) -> PathBuf {
        let mut path = root.to_path_buf();
        path.extend(&self.names);
        if !self.name.is_empty() {
            path.push(&self.name);
        }
        path
    }
}

/// The names of a link's target that lie below the root, and whether they start there.
fn link_names(root: &Path, target: &Path) -> io::Result<(bool, Vec<OsString>)> {
    let (is_absolute, rest) = match target.strip_prefix(root) {
        Ok(rest) => (true, rest),
        Err(_) if target.is_absolute() => return Err(leads_out()),
        Err(_) => (false, target),
    };
    let names = rest.components().filter(|part| *part != Component::CurDir);
    Ok((is_absolute, names.map(|part| part.as_os_str().to_owned()).collect()))
}

/// Walks from the root to a path below it.
fn walk(root: &Path, real_root: &Path, path: &Path, last: Last) -> io::Result<Place> {
    let mut ahead: VecDeque<OsString> = names(root, path)?.into_iter().map(Into::into).collect();
    let start =
        fs::open(real_root, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let (folders, names, name) = (vec![start], Vec::new(), OsString::new());
    let mut place = Place { folders, names, name };
    let mut links = 0;
    while let Some(name) = ahead.pop_front() {
        if name == ".." {
            if place.names.pop().is_none() {
                return Err(leads_out());
            }
            place.folders.pop();
            continue;
        }
        check_name(&name)?;
        let is_last = ahead.is_empty();
        let found = fs::statat(place.folder(), &name, AtFlags::SYMLINK_NOFOLLOW);
        let kind = match found {
            Ok(facts) => FileType::from_raw_mode(facts.st_mode),
            Err(rustix::io::Errno::NOENT) if last == Last::Create => {
                match fs::mkdirat(place.folder(), &name, FOLDER_MODE) {
                    Ok(()) | Err(rustix::io::Errno::EXIST) => FileType::Directory,
                    Err(error) => return Err(error.into()),
                }
            }
            Err(rustix::io::Errno::NOENT) if is_last => {
                place.name = name;
                return Ok(place);
            }
            Err(error) => return Err(error.into()),
        };
        if kind == FileType::Symlink && !(is_last && last == Last::Keep) {
            links += 1;
            if links > MAX_LINKS {
                return Err(rustix::io::Errno::LOOP.into());
            }
            let target = fs::readlinkat(place.folder(), &name, Vec::new())?;
            let target = OsString::from_vec(target.into_bytes());
            let (is_absolute, names) = link_names(real_root, Path::new(&target))?;
            if is_absolute {
                place.folders.truncate(1);
                place.names.clear();
            }
            names.into_iter().rev().for_each(|name| ahead.push_front(name));
            continue;
        }
        if is_last && last != Last::Create {
            place.name = name;
            return Ok(place);
        }
        let next = open_folder(place.folder(), &name)?;
        place.folders.push(next);
        place.names.push(name);
    }
    Ok(place)
}

fn to_metadata(facts: &Stat) -> Metadata {
    let time = |seconds: i64, nanos: i64| {
        Duration::new(u64::try_from(seconds).unwrap_or(0), u32::try_from(nanos).unwrap_or(0))
    };
    let is_folder = FileType::from_raw_mode(facts.st_mode) == FileType::Directory;
    Metadata {
        kind: if is_folder { FileKind::Directory } else { FileKind::File },
        len: u64::try_from(facts.st_size).unwrap_or(0),
        modified: time(facts.st_mtime, facts.st_mtime_nsec as i64),
        changed: time(facts.st_ctime, facts.st_ctime_nsec as i64),
        inode: facts.st_ino,
    }
}

fn read(place: &Place, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    place.open(OFlags::RDONLY)?.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(too_large()) } else { Ok(bytes) }
}

fn list(place: &Place) -> io::Result<Vec<OsString>> {
    let opened;
    let folder = if place.name.is_empty() {
        place.folder().as_fd()
    } else {
        opened = open_folder(place.folder(), &place.name)?;
        opened.as_fd()
    };
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let name = entry?.file_name().to_bytes().to_vec();
        if !matches!(name.as_slice(), b"." | b"..") {
            names.push(OsString::from_vec(name));
        }
    }
    names.retain(|name| check_name(name).is_ok());
    names.sort_unstable();
    Ok(names)
}

/// Writes a new file beside the place and moves it there.
fn replace(
    place: &Place,
    write: impl FnOnce(&mut std::fs::File) -> io::Result<()>,
) -> io::Result<()> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let (process, n) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let temporary = OsString::from(format!(".kcl.{process}.{n}.tmp"));
    if place.name.is_empty() {
        return Err(rustix::io::Errno::ISDIR.into());
    }
    let is_special =
        |it: Stat| !matches!(FileType::from_raw_mode(it.st_mode), FileType::RegularFile);
    if place.stat().is_ok_and(is_special) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = place.folder();
    // A private file stays private.
    let mode = place.stat().ok().map(|facts| Mode::from_raw_mode(facts.st_mode & 0o777));
    let mut file = std::fs::File::from(fs::openat(folder, &temporary, flags, FILE_MODE)?);
    let done = mode
        .map_or(Ok(()), |mode| Ok(fs::fchmod(&file, mode)?))
        .and_then(|()| write(&mut file))
        .and_then(|()| Ok(fs::renameat(folder, &temporary, folder, &place.name)?));
    if done.is_err() {
        // The first error is the one to tell.
        fs::unlinkat(folder, &temporary, AtFlags::empty()).ok();
    }
    done
}

/// Does an operation on a file below a folder.
pub(crate) fn below(root: &Path, path: &Path, call: FileCall<'_>) -> io::Result<FileAnswer> {
    let real_root = std::fs::canonicalize(root)?;
    let last = match call {
        FileCall::CreateDirs => Last::Create,
        FileCall::Remove | FileCall::MoveTo(_) => Last::Keep,
        _ => Last::Follow,
    };
    let place = walk(root, &real_root, path, last)?;
    match call {
        FileCall::Read(limit) => return read(&place, limit).map(FileAnswer::Bytes),
        FileCall::Facts => return place.stat().map(|facts| FileAnswer::Facts(to_metadata(&facts))),
        FileCall::List => {
            let names = list(&place)?;
            return Ok(FileAnswer::Entries(names.iter().map(|name| path.join(name)).collect()));
        }
        FileCall::RealPath => {
            place.stat()?;
            return Ok(FileAnswer::Path(place.path(&real_root)));
        }
        FileCall::Write(bytes) => replace(&place, |file| file.write_all(bytes))?,
        FileCall::Append(bytes) => {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND;
            place.open(flags)?.write_all(bytes)?;
        }
        FileCall::CreateDirs => {}
        FileCall::Remove => fs::unlinkat(place.folder(), &place.name, AtFlags::empty())?,
        FileCall::CopyTo(to) => {
            let mut from = place.open(OFlags::RDONLY)?;
            let to = walk(root, &real_root, to, Last::Follow)?;
            replace(&to, |file| io::copy(&mut from, file).map(drop))?;
        }
        FileCall::MoveTo(to) => {
            let to = walk(root, &real_root, to, Last::Keep)?;
            fs::renameat(place.folder(), &place.name, to.folder(), &to.name)?;
        }
    }
    Ok(FileAnswer::Done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::sync::atomic::AtomicBool;

    /// A folder `inside` beside a folder `out`, each with a file `d/f`; removed at the end.
    struct Folders(PathBuf);

    impl Folders {
        fn new(name: &str) -> io::Result<Self> {
            let folder = format!("base-system-below-{name}-{}", std::process::id());
            let folder = std::env::temp_dir().canonicalize()?.join(folder);
            for (path, text) in [("inside/d", "in"), ("out/d", "out")] {
                std::fs::create_dir_all(folder.join(path))?;
                std::fs::write(folder.join(path).join("f"), text)?;
            }
            Ok(Self(folder))
        }

        fn path(&self, path: &str) -> PathBuf {
            self.0.join(path)
        }

        fn read(&self, path: &str) -> io::Result<Vec<u8>> {
            let root = self.path("inside");
            match below(&root, &root.join(path), FileCall::Read(100))? {
                FileAnswer::Bytes(bytes) => Ok(bytes),
                other => Err(io::Error::other(format!("{other:?}"))),
            }
        }
    }

    impl Drop for Folders {
        fn drop(&mut self) {
            std::fs::remove_dir_all(&self.0).ok();
        }
    }

    #[test]
    fn links_are_followed_below_the_root_only() -> io::Result<()> {
        let folders = Folders::new("links")?;
        let root = folders.path("inside");
        symlink("d/../d", root.join("inner"))?;
        symlink(root.join("d/f"), root.join("absolute"))?;
        symlink("../out/d", root.join("outer"))?;
        symlink("d/../../inside/d", root.join("detour"))?;
        symlink("self", root.join("self"))?;
        std::fs::create_dir(root.join(".Git"))?;
        std::fs::write(root.join(".Git/f"), "in")?;
        symlink(".Git", root.join("git"))?;
        assert_eq!(folders.read("d/f")?, b"in");
        assert_eq!(folders.read("inner/f")?, b"in");
        assert_eq!(folders.read("absolute")?, b"in");
        for path in ["outer/f", "detour/f", ".Git/f", "git/f", "self", "d", "d/../../out/d/f"] {
            assert!(folders.read(path).is_err(), "{path}");
        }
        let limit = FileCall::Read(1);
        let error = below(&root, &root.join("d/f"), limit).err().map(|error| error.kind());
        assert_eq!(error, Some(io::ErrorKind::FileTooLarge));
        Ok(())
    }

    #[test]
    fn a_folder_that_becomes_a_link_does_not_lead_out() -> io::Result<()> {
        let folders = Folders::new("race")?;
        let root = folders.path("inside");
        symlink(folders.path("out/d"), root.join("link"))?;
        let is_done = AtomicBool::new(false);
        let (mut n_inside, mut n_outside) = (0, 0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let rename = |from: &str, to: &str| {
                    std::fs::rename(root.join(from), root.join(to)).ok();
                };
                while !is_done.load(Ordering::Relaxed) {
                    rename("d", "aside");
                    rename("link", "d");
                    rename("d", "link");
                    rename("aside", "d");
                }
            });
            for _ in 0..20_000 {
                match folders.read("d/f") {
                    Ok(bytes) if bytes == b"in" => n_inside += 1,
                    Ok(_) => n_outside += 1,
                    Err(_) => {}
                }
            }
            is_done.store(true, Ordering::Relaxed);
        });
        assert!(n_inside > 0 && n_outside == 0, "{n_inside} {n_outside}");
        Ok(())
    }
}
