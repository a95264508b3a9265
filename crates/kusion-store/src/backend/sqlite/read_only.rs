//! Stores on file systems that cannot be written: everything but writing works.

use super::{Mark, Sqlite, Writer, failure};
use crate::error::StoreError;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Returns why a store can only be read, if an error says so.
pub(super) fn reason(error: &io::Error) -> Option<String> {
    let is_refused =
        matches!(error.kind(), io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied);
    is_refused.then(|| error.to_string())
}

/// Opens a store for reading. A store that does not exist is empty.
pub(super) async fn open(
    path: &Path,
    mark: Arc<Mark>,
    place: String,
    why: String,
) -> Result<Sqlite, StoreError> {
    let exists = std::fs::metadata(path).is_ok_and(|it| it.len() > 0);
    let options = if exists {
        let options = SqliteConnectOptions::new().filename(path).read_only(true);
        // Without a log, nothing can be missing from the file, and no lock files are needed.
        options.immutable(!has_log(path))
    } else {
        SqliteConnectOptions::new().in_memory(true)
    };
    let pool = SqlitePoolOptions::new().max_connections(1).idle_timeout(None).max_lifetime(None);
    let pool = pool.connect_with(options).await.map_err(|error| failure(&place, &error))?;
    let writer = Writer { pool, place, mark };
    let store = Sqlite { writer, read_only: Some(why) };
    let checked = store.check_opened(path, exists).await;
    if let Err(error) = checked {
        store.writer.pool.close().await;
        return Err(error);
    }
    Ok(store)
}

/// Whether the log beside the file contains writes.
fn has_log(path: &Path) -> bool {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    std::fs::metadata(PathBuf::from(name)).is_ok_and(|it| it.len() > 0)
}
