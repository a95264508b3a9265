//! Archives of packages: what they may contain.
//!
//! An entry must be a file, a folder or a symbolic link that stays in the package. Owners, modes and
//! times are ignored. Everything is limited.

use crate::error::FetchError;
use flate2::read::GzDecoder;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use tar::{Archive, Entry, EntryType};

/// How large all files of a package may be together, in bytes.
pub(crate) const MAX_SIZE: u64 = 1 << 30;
/// How many entries a package may have.
pub(crate) const MAX_ENTRIES: usize = 100_000;
/// How large an entry may be that only describes the next one, in bytes.
const MAX_EXTENSION: u64 = 64 << 10;
/// How long the path of an entry may be, and how deep.
const MAX_PATH: usize = 1024;
const MAX_DEPTH: usize = 60;

/// Unpacks an archive (`.tar`, also with gzip) into an empty folder. `what` names it in errors.
pub fn unpack(archive: &Path, folder: &Path, what: &str) -> Result<(), FetchError> {
    let damaged = |error: io::Error| {
        FetchError::refused(format!("the archive of {what}"), format!("it is damaged: {error}"))
    };
    let mut writer = Writer::new(folder, what);
    // Long names are read as a whole: look at their sizes first.
    let mut heads = Archive::new(open(archive)?);
    for entry in heads.entries().map_err(damaged)?.raw(true) {
        let entry = entry.map_err(damaged)?;
        let is_extension = matches!(
            entry.header().entry_type(),
            EntryType::GNULongName
                | EntryType::GNULongLink
                | EntryType::XHeader
                | EntryType::XGlobalHeader
        );
        if is_extension && entry.size() > MAX_EXTENSION {
            return Err(writer.refuse("", "has a name that is too long"));
        }
    }
    let mut entries = Archive::new(open(archive)?);
    for entry in entries.entries().map_err(damaged)? {
        add_entry(&mut entry.map_err(damaged)?, &mut writer)?;
    }
    writer.finish()
}

/// Opens an archive, also one with gzip.
fn open(archive: &Path) -> Result<Box<dyn Read>, FetchError> {
    let start = || File::open(archive).map_err(FetchError::file("open", archive));
    let mut head = [0; 2];
    let n = start()?.read(&mut head).map_err(FetchError::file("read", archive))?;
    let is_packed = n == 2 && head == [0x1f, 0x8b];
    let reader: Box<dyn Read> =
        if is_packed { Box::new(GzDecoder::new(start()?)) } else { Box::new(start()?) };
    // An archive with nothing but zeros in it must end, too.
    Ok(Box::new(reader.take(2 * MAX_SIZE)))
}

fn add_entry(entry: &mut Entry<'_, impl Read>, writer: &mut Writer<'_>) -> Result<(), FetchError> {
    let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
    match entry.header().entry_type() {
        EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {
            let size = entry.size();
            writer.file(&name, size, entry)
        }
        EntryType::Directory => writer.folder(&name),
        EntryType::Symlink => {
            let target = entry.link_name_bytes();
            let target = target.map(|it| String::from_utf8_lossy(&it).into_owned());
            writer.link(&name, &target.unwrap_or_default())
        }
        EntryType::XGlobalHeader | EntryType::XHeader => Ok(()),
        EntryType::Link => Err(writer.refuse(&name, "is a hard link")),
        _ => Err(writer.refuse(&name, "is neither a file nor a folder nor a link")),
    }
}

/// Writes the entries of a package below a folder.
pub(crate) struct Writer<'w> {
    root: &'w Path,
    what: &'w str,
    n_entries: usize,
    size: u64,
    links: Vec<(PathBuf, String)>,
}

impl<'w> Writer<'w> {
    pub(crate) fn new(root: &'w Path, what: &'w str) -> Self {
        Self { root, what, n_entries: 0, size: 0, links: Vec::new() }
    }

    fn refuse(&self, entry: &str, why: &str) -> FetchError {
        let entry: String = entry.escape_debug().take(200).collect();
        FetchError::Archive { what: self.what.to_owned(), entry, why: why.to_owned() }
    }

    /// Returns where an entry goes; refuses a path that leaves the folder.
    fn place(&mut self, name: &str) -> Result<PathBuf, FetchError> {
        self.n_entries += 1;
        if self.n_entries > MAX_ENTRIES {
            return Err(self.refuse(name, &format!("is one of more than {MAX_ENTRIES}")));
        }
        if name.len() > MAX_PATH || name.contains('\0') || name.contains('\\') {
            return Err(self.refuse(name, "has a path that is too long or not portable"));
        }
        let mut path = PathBuf::new();
        for part in Path::new(name).components() {
            match part {
                Component::Normal(part) => path.push(part),
                Component::CurDir => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                    return Err(self.refuse(name, "leaves the folder of the package"));
                }
            }
        }
        if path.components().count() > MAX_DEPTH {
            return Err(self.refuse(name, "is nested too deep"));
        }
        Ok(self.root.join(path))
    }

    pub(crate) fn folder(&mut self, name: &str) -> Result<(), FetchError> {
        let path = self.place(name)?;
        fs::create_dir_all(&path).map_err(FetchError::file("create", &path))
    }

    /// Writes a file of a size. Links are made at the end, so no path leads through one.
    pub(crate) fn file(
        &mut self,
        name: &str,
        size: u64,
        content: &mut dyn Read,
    ) -> Result<(), FetchError> {
        let path = self.place(name)?;
        self.size = self.size.saturating_add(size);
        if self.size > MAX_SIZE {
            return Err(self.refuse(name, &format!("makes it larger than {MAX_SIZE} bytes")));
        }
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(FetchError::file("create", parent))?;
        }
        let made = File::options().write(true).create_new(true).open(&path);
        let mut file = match made {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(self.refuse(name, "is in it twice"));
            }
            made => made.map_err(FetchError::file("create", &path))?,
        };
        let n = io::copy(&mut content.take(size), &mut file)
            .map_err(FetchError::file("write", &path))?;
        if n != size {
            return Err(self.refuse(name, "is not complete"));
        }
        Ok(())
    }

    pub(crate) fn link(&mut self, name: &str, target: &str) -> Result<(), FetchError> {
        let path = self.place(name)?;
        let parts = name.split('/').filter(|it| !matches!(*it, "" | "."));
        if target.len() > MAX_PATH || !stays(parts.count().saturating_sub(1), target) {
            return Err(self.refuse(name, "is a link that leads out of the package"));
        }
        self.links.push((path, target.to_owned()));
        Ok(())
    }

    /// Makes the links, and checks where they lead when all of them are there.
    pub(crate) fn finish(self) -> Result<(), FetchError> {
        let root = fs::canonicalize(self.root).map_err(FetchError::file("open", self.root))?;
        // All folders before the first link: then none is made through a link, and a link in the
        // place of a folder is refused.
        for parent in self.links.iter().filter_map(|(path, _)| path.parent()) {
            fs::create_dir_all(parent).map_err(FetchError::file("create", parent))?;
        }
        let refuse = |path: &Path, why: &str| {
            let name = path.strip_prefix(self.root).unwrap_or(path).display().to_string();
            self.refuse(&name, why)
        };
        for (path, target) in &self.links {
            symlink(target, path).map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => {
                    refuse(path, "is in it twice, as a link and as something else")
                }
                _ => FetchError::file("create", path)(error),
            })?;
        }
        for (path, _) in &self.links {
            match fs::canonicalize(path) {
                Ok(found) if found.starts_with(&root) => {}
                Ok(_) => return Err(refuse(path, "is a link that leads out of the package")),
                // What it leads to is not part of the package.
                Err(_) => fs::remove_file(path).map_err(FetchError::file("remove", path))?,
            }
        }
        Ok(())
    }
}

/// Whether the target of a link, which is so many folders deep, stays in the package by its words.
fn stays(mut depth: usize, target: &str) -> bool {
    for part in Path::new(target).components() {
        match part {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir if depth > 0 => depth -= 1,
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return false,
        }
    }
    !target.is_empty()
}

#[cfg(unix)]
fn symlink(target: &str, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

#[cfg(not(unix))]
fn symlink(_target: &str, _path: &Path) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "links are not supported here"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tar::{Builder, Header};
    use testkit::Rng;

    /// A folder that is removed at the end.
    struct Scratch(PathBuf);

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn scratch(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("kcl-archive-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    fn archive() -> Vec<u8> {
        let mut builder = Builder::new(Vec::new());
        for (kind, name, content) in [
            (EntryType::Directory, "a", ""),
            (EntryType::Regular, "a/b.k", "x = 1\n"),
            (EntryType::Symlink, "a/c.k", "b.k"),
            (EntryType::Regular, "kcl.mod", "[package]\n"),
        ] {
            let mut header = Header::new_gnu();
            header.set_entry_type(kind);
            header.set_mode(0o644);
            if kind == EntryType::Symlink {
                header.set_size(0);
                builder.append_link(&mut header, name, content).unwrap();
            } else {
                header.set_size(content.len() as u64);
                builder.append_data(&mut header, name, content.as_bytes()).unwrap();
            }
        }
        let mut header = Header::new_gnu();
        header.set_size(2);
        builder.append_data(&mut header, "long/".repeat(40) + "x.k", &b"y\n"[..]).unwrap();
        builder.into_inner().unwrap()
    }

    #[test]
    fn changed_archives_never_write_elsewhere() {
        let scratch = scratch("changed");
        let (file, target) = (scratch.0.join("archive"), scratch.0.join("target"));
        let whole = archive();
        let mut random = Rng::new(7, 0);
        let mut n_accepted = 0;
        for round in 0..400 {
            let mut bytes = whole.clone();
            for _ in 0..round % 5 {
                let at = random.below(bytes.len());
                bytes[at] = [b'.', b'/', 0, b'0', b'2', 0xff][random.below(6)];
            }
            fs::write(&file, &bytes).unwrap();
            fs::create_dir(&target).unwrap();
            n_accepted += usize::from(unpack(&file, &target, "x").is_ok());
            fs::remove_dir_all(&target).unwrap();
            assert_eq!(fs::read_dir(&scratch.0).unwrap().count(), 1, "round {round}");
        }
        assert!(n_accepted >= 80, "{n_accepted}");
    }

    #[test]
    fn no_link_is_made_through_another_link() {
        let scratch = scratch("links");
        let (file, target) = (scratch.0.join("archive"), scratch.0.join("target"));
        let mut builder = Builder::new(Vec::new());
        // By their words, all three stay in the package.
        for (name, to) in [("a", "."), ("a/up", ".."), ("a/up/evil", "kcl.mod")] {
            let mut header = Header::new_gnu();
            header.set_entry_type(EntryType::Symlink);
            header.set_size(0);
            builder.append_link(&mut header, name, to).unwrap();
        }
        fs::write(&file, builder.into_inner().unwrap()).unwrap();
        fs::create_dir(&target).unwrap();
        let message = unpack(&file, &target, "x").unwrap_err().to_string();
        assert!(message.contains("the entry `a` is in it twice, as a link"), "{message}");
        assert!(fs::symlink_metadata(scratch.0.join("evil")).is_err());
    }

    #[test]
    fn a_name_that_would_fill_the_memory_is_refused() {
        let scratch = scratch("name");
        let (file, target) = (scratch.0.join("archive"), scratch.0.join("target"));
        let mut builder = Builder::new(Vec::new());
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::GNULongName);
        header.set_size(1 << 20);
        header.set_cksum();
        builder.append(&header, vec![b'a'; 1 << 20].as_slice()).unwrap();
        fs::write(&file, builder.into_inner().unwrap()).unwrap();
        let message = unpack(&file, &target, "x").unwrap_err().to_string();
        assert!(message.contains("has a name that is too long"), "{message}");
    }
}
