//! The locks of a sandbox: of several commands on one name, one runs at a time, and of several
//! servers of one name, one runs.

use crate::failure::Failure;
use crate::home;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a server waits for another one of its name that is stopping.
const PATIENCE: Duration = Duration::from_secs(10);

/// Waits until no other command works on a sandbox; the lock is released with the value.
pub(super) fn command(name: &str) -> Result<File, Failure> {
    // Beside the folder of the sandbox, which is deleted while the lock is held.
    let folder = home::sandbox(name)?;
    let path = folder.with_extension("lock");
    if let Some(parent) = folder.parent() {
        create_private(parent)?;
    }
    let file = open(&path)?;
    file.lock().map_err(Failure::file("lock", &path))?;
    Ok(file)
}

/// Makes this process the only server of its name; the lock is released with the value.
pub(super) fn server(name: &str) -> Result<File, Failure> {
    let path = home::sandbox(name)?.join("server.lock");
    let file = open(&path)?;
    let end = Instant::now() + PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if Instant::now() < end => {
                std::thread::sleep(Duration::from_millis(10));
            }
            Err(TryLockError::WouldBlock) => {
                let message = format!("another process runs the sandbox `{name}`");
                return Err(Failure::Background(message));
            }
            Err(TryLockError::Error(error)) => return Err(Failure::file("lock", &path)(error)),
        }
    }
}

/// Creates a folder that only its owner can use.
pub(super) fn create_private(folder: &Path) -> Result<(), Failure> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(folder).map_err(Failure::file("create folder", folder))
}

fn open(path: &Path) -> Result<File, Failure> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(Failure::file("write", path))
}
