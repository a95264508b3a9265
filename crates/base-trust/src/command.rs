//! Commands that a repository names.

use base_system::{FileKind, System, root_of};
use blake3::Hasher;
use std::io;
use std::path::{Component, Path, PathBuf};
use thiserror::Error;

/// The most files of a program's folder.
const MAX_FILES: usize = 1000;
/// The most bytes of them.
const MAX_BYTES: u64 = 64 << 20;
/// How deep its folders may be nested.
const MAX_DEPTH: usize = 20;
/// Files that say that a folder holds more than a program.
const MARKERS: &[&str] = &["kcl.mod", "project.yaml", "stack.yaml", ".git"];

/// A command of a repository, ready to be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryCommand {
    /// The program and its arguments. Files of the repository are absolute paths.
    pub words: Vec<String>,
    /// The folder that it must run in: that of the first file of the repository that it names, else
    /// the root of the file system, so that it finds nothing of the repository by chance.
    pub folder: PathBuf,
    /// A fingerprint of the words, and of all files in the folders of the files that they name.
    pub digest: String,
}

/// Why a command of a repository cannot be started.
#[derive(Debug, Error)]
pub enum CommandError {
    /// Programs load files beside them, so that all of them must be part of the fingerprint.
    #[error(
        "`{}` must be in a folder of its own, such as `plugins/`: all files of the folder are \
         trusted together", .0.display()
    )]
    Shared(PathBuf),
    /// The folder of the program is too large.
    #[error("the folder `{}` has more than {MAX_FILES} files or {} MiB", .0.display(), MAX_BYTES >> 20)]
    TooLarge(PathBuf),
    /// A link leads to another folder.
    #[error("`{}` is a link to a folder", .0.display())]
    Link(PathBuf),
    /// A file cannot be read.
    #[error("cannot read `{}`: {error}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
}

/// Reads a command of a repository, whose relative paths start from a folder.
///
/// # Errors
///
/// If it cannot be said what the command would run.
pub fn inspect_command(
    system: &dyn System,
    base: &Path,
    words: &[String],
) -> Result<RepositoryCommand, CommandError> {
    let real = |path: &Path| system.canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let base = real(base);
    let repository = root_of(system, &base, &["kcl.mod", "project.yaml"], &base);
    let mut hasher = Hasher::new();
    let mut found =
        RepositoryCommand { words: Vec::new(), folder: "/".into(), digest: String::new() };
    let mut folders: Vec<PathBuf> = Vec::new();
    for word in words {
        add(&mut hasher, word.as_bytes());
        let path = real(&normal(&base.join(word)));
        let is_own = !word.is_empty() && path.starts_with(&repository) && system.is_file(&path);
        let folder = path.parent().filter(|_| is_own);
        let Some(folder) = folder else {
            found.words.push(word.clone());
            continue;
        };
        found.words.push(path.display().to_string());
        if folder == repository || MARKERS.iter().any(|it| system.exists(&folder.join(it))) {
            return Err(CommandError::Shared(PathBuf::from(word)));
        }
        if folders.is_empty() {
            folder.clone_into(&mut found.folder);
        }
        if !folders.iter().any(|it| it == folder) {
            folders.push(folder.to_owned());
        }
    }
    for folder in folders {
        let mut reader =
            FolderReader { system, root: &folder, hasher: &mut hasher, n_files: 0, n_bytes: 0 };
        reader.add_folder(&folder, 0)?;
    }
    found.digest = hasher.finalize().to_hex().to_string();
    Ok(found)
}

/// Takes `.` and `..` out of a path.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            part => normal.push(part),
        }
    }
    normal
}

fn add(hasher: &mut Hasher, bytes: &[u8]) {
    hasher.update(&(bytes.len() as u64).to_le_bytes());
    hasher.update(bytes);
}

struct FolderReader<'a> {
    system: &'a dyn System,
    root: &'a Path,
    hasher: &'a mut Hasher,
    n_files: usize,
    n_bytes: u64,
}

impl FolderReader<'_> {
    fn add_folder(&mut self, folder: &Path, depth: usize) -> Result<(), CommandError> {
        let too_large = || CommandError::TooLarge(self.root.to_owned());
        let unreadable = |path: &Path| {
            let path = path.to_owned();
            move |error| CommandError::Unreadable { path, error }
        };
        if depth > MAX_DEPTH {
            return Err(too_large());
        }
        for path in self.system.read_dir(folder).map_err(unreadable(folder))? {
            let facts = self.system.metadata(&path).map_err(unreadable(&path))?;
            let is_link = self.system.link_metadata(&path).map_err(unreadable(&path))?.is_none();
            self.n_files += 1;
            self.n_bytes += if facts.kind == FileKind::File { facts.len } else { 0 };
            if self.n_files > MAX_FILES || self.n_bytes > MAX_BYTES {
                return Err(CommandError::TooLarge(self.root.to_owned()));
            }
            let name = path.strip_prefix(self.root).unwrap_or(&path);
            add(self.hasher, name.as_os_str().as_encoded_bytes());
            match facts.kind {
                FileKind::Directory if is_link => return Err(CommandError::Link(path)),
                FileKind::Directory => self.add_folder(&path, depth + 1)?,
                FileKind::File => {
                    let bytes = self.system.read(&path).map_err(unreadable(&path))?;
                    add(self.hasher, &bytes);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base_system::MemorySystem;

    fn repository() -> MemorySystem {
        MemorySystem::new()
            .with_file("/r/.git/HEAD", "")
            .with_file("/r/app/kcl.mod", "")
            .with_file("/r/app/top.py", "")
            .with_file("/r/app/plugins/cmdb.py", "import hosts")
            .with_file("/r/app/plugins/lib/hosts.py", "a")
            .with_file("/r/tools/x.sh", "")
            .with_file("/usr/bin/python3", "")
    }

    fn inspect(system: &MemorySystem, words: &[&str]) -> Result<RepositoryCommand, String> {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        let found = inspect_command(system, Path::new("/r/app"), &words);
        found.map_err(|error| error.to_string())
    }

    #[test]
    fn all_files_beside_a_program_are_part_of_the_fingerprint() {
        let system = repository();
        let before = inspect(&system, &["python3", "plugins/cmdb.py"]).unwrap();
        assert_eq!(before.words, ["python3", "/r/app/plugins/cmdb.py"]);
        assert_eq!(before.folder, Path::new("/r/app/plugins"));
        assert_eq!(inspect(&system, &["python3", "plugins/cmdb.py"]), Ok(before.clone()));
        let other = inspect(&system, &["python3", "-v", "plugins/cmdb.py"]).unwrap();
        assert_ne!(before.digest, other.digest, "the words count");
        for (path, text) in [("plugins/json.py", ""), ("plugins/lib/hosts.py", "b")] {
            let system = repository();
            system.write(&Path::new("/r/app").join(path), text).unwrap();
            let after = inspect(&system, &["python3", "plugins/cmdb.py"]).unwrap();
            assert_ne!(before.digest, after.digest, "{path}");
        }
        system.write(Path::new("/r/app/main.k"), "a = 1").unwrap();
        assert_eq!(inspect(&system, &["python3", "plugins/cmdb.py"]), Ok(before));
    }

    #[test]
    fn a_program_is_in_a_folder_of_its_own() {
        let system = repository();
        let why = inspect(&system, &["python3", "top.py"]).unwrap_err();
        assert!(why.starts_with("`top.py` must be in a folder of its own"), "{why}");
        let elsewhere = inspect(&system, &["../tools/x.sh"]).unwrap();
        assert_eq!(elsewhere.words, ["/r/tools/x.sh"]);
        assert_eq!(elsewhere.folder, Path::new("/r/tools"));
    }

    #[test]
    fn without_a_file_of_the_repository_a_command_runs_elsewhere() {
        let found = inspect(&repository(), &["/usr/bin/python3", "-m", "cmdb"]).unwrap();
        assert_eq!(found.words, ["/usr/bin/python3", "-m", "cmdb"]);
        assert_eq!(found.folder, Path::new("/"));
    }
}
