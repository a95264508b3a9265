//! The operating system.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "this is the door to the operating system"
)]

#[cfg(unix)]
use crate::{FileAnswer, FileCall};
use crate::{FileKind, Metadata, System};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{env, fs, io};

/// The real files, environment and clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct OsSystem;

/// Returns how many bytes of address space this process may have; `None` without a limit.
#[cfg(unix)]
pub fn address_space() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::As).current
}

/// Returns how many bytes of address space this process may have; `None` without a limit.
#[cfg(not(unix))]
pub fn address_space() -> Option<u64> {
    None
}

/// The number of a file and the last change of its facts.
#[cfg(unix)]
fn identity(facts: &fs::Metadata) -> (u64, Duration) {
    use std::os::unix::fs::MetadataExt as _;
    let seconds = u64::try_from(facts.ctime()).unwrap_or(0);
    let nanos = u32::try_from(facts.ctime_nsec()).unwrap_or(0);
    (facts.ino(), Duration::new(seconds, nanos))
}

/// The number of a file and the last change of its facts.
#[cfg(not(unix))]
fn identity(_facts: &fs::Metadata) -> (u64, Duration) {
    (0, Duration::ZERO)
}

/// Writes a new file beside `path`, with its permissions if it exists. The name cannot be
/// predicted, and a link of that name is not followed.
fn write_temporary(path: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let permissions = fs::metadata(path).ok().map(|facts| facts.permissions());
    loop {
        let temporary = path.with_file_name(format!(".{name}.{:016x}.tmp", random_name()));
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if permissions.is_some() {
            use std::os::unix::fs::OpenOptionsExt as _;
            // Nobody reads it before it has the permissions of the old file.
            options.mode(0o600);
        }
        let mut file = match options.open(&temporary) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            other => other?,
        };
        let written = file.write_all(bytes).and_then(|()| match &permissions {
            Some(permissions) => file.set_permissions(permissions.clone()),
            None => Ok(()),
        });
        return match written {
            Ok(()) => Ok(temporary),
            Err(error) => {
                drop(fs::remove_file(&temporary));
                Err(error)
            }
        };
    }
}

/// The most that is read from a device or pipe, in bytes.
const MAX_SPECIAL: u64 = 256 << 20;

/// Whether a path is something other than a file or a folder: a pipe, a device, a socket.
fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|facts| !facts.is_file() && !facts.is_dir())
}

/// Whether a path names an open file of this process, as shells write it for `<(…)`, or
/// `/dev/null`. A user writes such a path on a command line; a link of a repository that leads
/// there has another name.
fn names_descriptor(path: &Path) -> bool {
    if path == Path::new("/dev/stdin") || path == Path::new("/dev/null") {
        return true;
    }
    let folders = ["/dev/fd", "/proc/self/fd"];
    let number = folders.iter().find_map(|folder| path.strip_prefix(folder).ok()?.to_str());
    number.is_some_and(|it| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Reads a regular file, or what [`names_descriptor`]. Anything else (a pipe, a terminal, a
/// device) is refused: nobody knows when it ends. Opening it does not wait for anyone.
fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut options = fs::OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    let mut file = options.open(path)?;
    let facts = file.metadata()?;
    if facts.is_file() || facts.is_dir() {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    if !names_descriptor(path) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    read_special(file)
}

/// Reads a device or pipe up to its end.
fn read_special(file: fs::File) -> io::Result<Vec<u8>> {
    let mut file = file.take(MAX_SPECIAL + 1);
    let mut bytes = Vec::new();
    loop {
        match file.read_to_end(&mut bytes) {
            // What was read before is kept.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(error) => return Err(error),
            Ok(_) if bytes.len() as u64 > MAX_SPECIAL => {
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the file is too large"));
            }
            Ok(_) => return Ok(bytes),
        }
    }
}

/// Returns a number that other processes cannot predict.
fn random_name() -> u64 {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(COUNT.fetch_add(1, Ordering::Relaxed));
    hasher.finish()
}

fn to_metadata(facts: &fs::Metadata) -> Metadata {
    let kind = if facts.is_dir() { FileKind::Directory } else { FileKind::File };
    let modified = facts
        .modified()
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
        .unwrap_or_default();
    let (inode, changed) = identity(facts);
    Metadata { kind, len: facts.len(), modified, changed, inode }
}

impl System for OsSystem {
    fn read_to_string(&self, path: &Path) -> io::Result<String> {
        String::from_utf8(read_file(path)?).map_err(|_| {
            io::Error::new(io::ErrorKind::InvalidData, "stream did not contain valid UTF-8")
        })
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        read_file(path)
    }

    fn read_dir(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        let mut paths =
            fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
        // All lie in one folder: their texts sort like their names.
        paths.sort_unstable_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
        Ok(paths)
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        fs::metadata(path).map(|facts| to_metadata(&facts))
    }

    fn link_metadata(&self, path: &Path) -> io::Result<Option<Metadata>> {
        let facts = fs::symlink_metadata(path)?;
        Ok(if facts.is_symlink() { None } else { Some(to_metadata(&facts)) })
    }

    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        fs::canonicalize(path)
    }

    fn write_bytes(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        if is_special(path) {
            // A device or pipe stays what it is: it is not replaced by a file.
            return fs::OpenOptions::new().write(true).open(path)?.write_all(bytes);
        }
        let temporary = write_temporary(path, bytes)?;
        fs::rename(&temporary, path).inspect_err(|_| drop(fs::remove_file(&temporary)))
    }

    fn append(&self, path: &Path, text: &str) -> io::Result<()> {
        fs::OpenOptions::new().create(true).append(true).open(path)?.write_all(text.as_bytes())
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        if fs::metadata(path)?.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
    }

    fn copy(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::copy(from, to).map(drop)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    #[cfg(unix)]
    fn below(&self, root: &Path, path: &Path, call: FileCall<'_>) -> io::Result<FileAnswer> {
        crate::below::os_below(root, path, call)
    }

    fn current_dir(&self) -> io::Result<PathBuf> {
        env::current_dir()
    }

    fn env(&self, name: &str) -> Option<String> {
        env::var(name).ok()
    }

    fn now(&self) -> Duration {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
    }

    fn utc_offset_seconds(&self) -> i32 {
        0
    }

    fn random(&self) -> u128 {
        // The standard library seeds its hashers from the operating system.
        let half = || u128::from(RandomState::new().build_hasher().finish());
        half() << 64 | half()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_writers_of_one_file_leave_a_whole_one() -> io::Result<()> {
        let folder = env::temp_dir().join(format!("base-system-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        let path = folder.join("file");
        let written = std::thread::scope(|scope| {
            let write = |byte: u8| {
                let path = &path;
                scope.spawn(move || {
                    (0..50).try_for_each(|_| {
                        OsSystem.write_bytes(path, &vec![byte; 5000 * usize::from(byte)])?;
                        let seen = OsSystem.read(path)?;
                        assert_eq!(seen.len(), 5000 * usize::from(seen[0]));
                        assert!(seen.iter().all(|byte| *byte == seen[0]));
                        Ok(())
                    })
                })
            };
            let threads: Vec<_> = (1..=8).map(write).collect();
            threads.into_iter().all(|thread| {
                let outcome: Option<io::Result<()>> = thread.join().ok();
                outcome.is_some_and(|outcome| outcome.is_ok())
            })
        });
        let left = OsSystem.read_dir(&folder)?;
        fs::remove_dir_all(&folder)?;
        assert!(written);
        assert_eq!(left, [path]);
        Ok(())
    }

    #[cfg(unix)]
    #[test]
    fn open_files_of_this_process_are_read_to_their_end() -> io::Result<()> {
        use std::os::fd::AsRawFd as _;
        let (reader, mut writer) = io::pipe()?;
        let path = PathBuf::from(format!("/dev/fd/{}", reader.as_raw_fd()));
        let sent = "text".repeat(100_000);
        let expected = sent.clone();
        let thread = std::thread::spawn(move || writer.write_all(sent.as_bytes()));
        assert_eq!(OsSystem.read_to_string(&path)?, expected);
        assert!(thread.join().is_ok_and(|it| it.is_ok()));
        Ok(())
    }

    #[cfg(unix)]
    #[test]
    fn pipes_are_not_waited_for_and_not_replaced() -> io::Result<()> {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let folder = env::temp_dir().join(format!("base-system-pipe-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        let path = folder.join("pipe");
        mknodat(CWD, &path, FileType::Fifo, Mode::from_raw_mode(0o600), 0)?;
        let error = OsSystem.read(&path).map(drop).map_err(|error| error.to_string());
        assert_eq!(error, Err("not a regular file".to_owned()));
        let link = folder.join("link");
        std::os::unix::fs::symlink("/dev/null", &link)?;
        let error = OsSystem.read_to_string(&link).map_err(|error| error.to_string());
        assert_eq!(error, Err("not a regular file".to_owned()), "not what it leads to");
        assert_eq!(OsSystem.read(Path::new("/dev/null"))?, b"");
        let reader = {
            let path = path.clone();
            std::thread::spawn(move || fs::read(path))
        };
        OsSystem.write_bytes(&path, b"text")?;
        let seen = reader.join().ok().and_then(Result::ok);
        let is_pipe = is_special(&path);
        fs::remove_dir_all(&folder)?;
        assert_eq!(seen.as_deref(), Some(&b"text"[..]));
        assert!(is_pipe, "it was not replaced");
        Ok(())
    }
}
