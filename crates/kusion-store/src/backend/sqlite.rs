//! A backend in one `SQLite` file.
//!
//! Next to the file `F` is a small file `F.mark` with the number of the last write. It is written
//! after each write without a sync: it may lag behind, but a store with fewer writes has lost some,
//! and a missing store existed before.

mod mark;
mod read_only;
mod write;

use super::deadline::{self, MAX_KEYS, MAX_VALUE};
use super::{Backend, BackendError, Expected, PutError, Version, end_of};
use crate::error::StoreError;
use crate::frame::sum;
use async_trait::async_trait;
use bytes::Bytes;
use mark::Mark;
use sqlx::Row as _;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePool, SqlitePoolOptions,
    SqliteSynchronous,
};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use write::{Change, Writer};

/// The format of the tables.
const FORMAT: i64 = 2;
/// Files up to this size, in bytes, are checked completely when they are opened.
const CHECKED_SIZE: u64 = 32 << 20;

/// How long a process waits for other writers.
const PATIENCE: Duration = Duration::from_secs(30);
/// `SQLITE_BUSY`: another process is writing.
const BUSY: u32 = 5;
/// `SQLITE_FULL`: no space left on the device.
const FULL: u32 = 13;

/// Bytes in a file.
pub(crate) struct Sqlite {
    writer: Writer,
    /// Why it can only be read.
    read_only: Option<String>,
}

impl Sqlite {
    /// Opens the file, and creates it if it does not exist.
    pub(crate) async fn open(path: &Path) -> Result<Self, StoreError> {
        let place = path.display().to_string();
        let mark = Arc::new(Mark::beside(path));
        check_mark(path, &mark, &place)?;
        if let Err(error) = prepare(path) {
            let Some(why) = read_only::reason(&error) else {
                return Err(BackendError { place, message: error.to_string() }.into());
            };
            return read_only::open(path, mark, place, why).await;
        }
        let options = SqliteConnectOptions::new()
            .filename(path)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(PATIENCE)
            .foreign_keys(false)
            .statement_cache_capacity(16);
        let pool = connect(options).await.map_err(|error| failure(&place, &error))?;
        let store = Self { writer: Writer { pool, place, mark }, read_only: None };
        if let Err(error) = store.check(path).await {
            store.writer.pool.close().await;
            return Err(error);
        }
        Ok(store)
    }

    /// Creates the tables, or checks existing ones.
    async fn check(&self, path: &Path) -> Result<(), StoreError> {
        let mut connection = self.writer.begin().await?;
        let checked = self.check_within(path, &mut connection).await;
        self.writer.end(connection, checked).await
    }

    /// Checks a store that can only be read; `exists` if it has a file.
    async fn check_opened(&self, path: &Path, exists: bool) -> Result<(), StoreError> {
        let failed = |error: sqlx::Error| failure(&self.writer.place, &error);
        let mut connection = self.writer.pool.acquire().await.map_err(failed)?;
        if exists {
            self.check_within(path, &mut connection).await
        } else {
            create(&mut connection).await.map_err(failed)
        }
    }

    async fn check_within(
        &self,
        path: &Path,
        connection: &mut SqliteConnection,
    ) -> Result<(), StoreError> {
        let (place, mark) = (&self.writer.place, &self.writer.mark);
        let failed = |error: sqlx::Error| failure(place, &error);
        let damaged = |what: String| StoreError::damaged(place, what);
        let format: i64 = sqlx::query_scalar("PRAGMA user_version")
            .fetch_one(&mut *connection)
            .await
            .map_err(failed)?;
        match format {
            0 => {
                if let Some(count) = mark.read() {
                    return Err(damaged(lost(0, count, mark)));
                }
                return create(connection).await.map_err(failed);
            }
            FORMAT => {}
            other if other > 0 => {
                return Err(StoreError::format(place, other as u32, FORMAT as u32));
            }
            _ => return Err(damaged("wrong format number".to_owned())),
        }
        let size = std::fs::metadata(path).map_or(0, |it| it.len());
        if size <= CHECKED_SIZE {
            let found: String = sqlx::query_scalar("PRAGMA quick_check(1)")
                .fetch_one(&mut *connection)
                .await
                .map_err(failed)?;
            if found != "ok" {
                return Err(damaged(format!("{}; restore it from a backup", found.trim())));
            }
        }
        let (writes, rows) = counts(connection).await.map_err(failed)?;
        if let Some(count) = mark.read().filter(|it| writes < *it) {
            return Err(damaged(lost(writes, count, mark)));
        }
        let heads = sqlx::query("SELECT key, version, length, sum, head FROM item")
            .fetch_all(&mut *connection)
            .await
            .map_err(failed)?;
        if heads.len() as u64 != rows {
            let what =
                format!("{} values instead of {rows}; restore it from a backup", heads.len());
            return Err(damaged(what));
        }
        for head in &heads {
            Head::of(head).ok_or_else(|| {
                let key: String = head.try_get(0).unwrap_or_default();
                damaged(format!("wrong checksum of `{key}`"))
            })?;
        }
        Ok(())
    }
}

/// The part of a row that is read without its value.
struct Head {
    version: i64,
    length: i64,
    sum: i64,
}

impl Head {
    /// Reads and checks it.
    fn of(row: &sqlx::sqlite::SqliteRow) -> Option<Self> {
        let key: &str = row.try_get(0).ok()?;
        let head = Self {
            version: row.try_get(1).ok()?,
            length: row.try_get(2).ok()?,
            sum: row.try_get(3).ok()?,
        };
        let found: i64 = row.try_get(4).ok()?;
        (found == head.sum_with(key)).then_some(head)
    }

    fn sum_with(&self, key: &str) -> i64 {
        let parts = [self.version, self.length, self.sum].map(i64::to_le_bytes);
        sum(&[key.as_bytes(), &parts[0], &parts[1], &parts[2]]).into()
    }
}

#[async_trait]
impl Backend for Sqlite {
    fn place(&self) -> &str {
        &self.writer.place
    }

    async fn get(&self, key: &str) -> Result<Option<(Bytes, Version)>, StoreError> {
        let place = &self.writer.place;
        let row = sqlx::query(
            "SELECT key, version, length, sum, head, \
             CASE WHEN length(value) <= ?2 THEN value END FROM item WHERE key = ?1",
        )
        .bind(key)
        .bind(MAX_VALUE as i64)
        .fetch_optional(&self.writer.pool)
        .await
        .map_err(|error| failure(place, &error))?;
        let Some(row) = row else { return Ok(None) };
        let wrong = || StoreError::damaged(place, format!("wrong checksum of `{key}`"));
        let head = Head::of(&row).ok_or_else(wrong)?;
        deadline::check_size(place, key, usize::try_from(head.length).unwrap_or(usize::MAX))?;
        let value: Vec<u8> = row.try_get(5).map_err(|_| wrong())?;
        if value.len() as i64 != head.length || i64::from(sum(&[&value])) != head.sum {
            return Err(wrong());
        }
        Ok(Some((value.into(), Version(head.version.to_string()))))
    }

    async fn put(&self, key: &str, bytes: Bytes, expected: Expected) -> Result<Version, PutError> {
        deadline::check_size(&self.writer.place, key, bytes.len())?;
        self.writer.write(Change::Put { key: key.to_owned(), bytes, expected, after: None }).await
    }

    async fn put_after(&self, key: &str, bytes: Bytes, after: &str) -> Result<Version, PutError> {
        deadline::check_size(&self.writer.place, key, bytes.len())?;
        let (key, after, expected) = (key.to_owned(), Some(after.to_owned()), Expected::Absent);
        self.writer.write(Change::Put { key, bytes, expected, after }).await
    }

    fn read_only(&self) -> Option<StoreError> {
        let why = self.read_only.clone()?;
        Some(StoreError::ReadOnly { place: self.writer.place.clone(), why })
    }

    async fn list(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        let place = &self.writer.place;
        let keys: Vec<String> = sqlx::query_scalar(
            "SELECT key FROM item WHERE key >= ?1 AND key < ?2 ORDER BY key LIMIT ?3",
        )
        .bind(prefix)
        .bind(end_of(prefix))
        .bind(MAX_KEYS as i64 + 1)
        .fetch_all(&self.writer.pool)
        .await
        .map_err(|error| failure(place, &error))?;
        deadline::check_count(place, keys.len())?;
        Ok(keys)
    }

    async fn delete(&self, keys: &[String]) -> Result<(), StoreError> {
        match self.writer.write(Change::Delete(keys.to_vec())).await {
            Ok(_) | Err(PutError::Conflict) => Ok(()),
            Err(PutError::Failed(error)) => Err(error),
        }
    }

    async fn close(&self) {
        self.writer.pool.close().await;
    }
}

/// Renames a file and its companion files; returns the new name.
pub(crate) fn set_aside(path: &Path) -> Result<String, StoreError> {
    let place = path.display().to_string();
    let failed =
        |error: std::io::Error| BackendError { place: place.clone(), message: error.to_string() };
    let with = |suffix: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        std::path::PathBuf::from(name)
    };
    let free = (1..1000).map(|number| format!(".aside-{number}"));
    let free = free.into_iter().find(|it| !with(it).exists()).unwrap_or_default();
    std::fs::rename(path, with(&free)).map_err(failed)?;
    for beside in ["-wal", "-shm", ".mark"] {
        match std::fs::rename(with(beside), with(&format!("{free}{beside}"))) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(failed(error).into());
            }
            _ => {}
        }
    }
    Ok(with(&free).display().to_string())
}

/// Connects. When several processes initialize a new file concurrently, some fail immediately,
/// regardless of the timeout; they retry.
async fn connect(options: SqliteConnectOptions) -> Result<SqlitePool, sqlx::Error> {
    let begun = Instant::now();
    loop {
        let pool = SqlitePoolOptions::new()
            .max_connections(1)
            .acquire_timeout(PATIENCE * 2)
            .connect_with(options.clone())
            .await;
        match pool {
            Err(error) if primary_code(&error) == Some(BUSY) && begun.elapsed() < PATIENCE => {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            other => return other,
        }
    }
}

async fn create(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    // Keys have a separate index: otherwise a search would read large values completely.
    for statement in [
        "CREATE TABLE count (writes INTEGER NOT NULL, rows INTEGER NOT NULL)",
        "INSERT INTO count VALUES (0, 0)",
        "CREATE TABLE item (key TEXT NOT NULL PRIMARY KEY, version INTEGER NOT NULL, \
         length INTEGER NOT NULL, sum INTEGER NOT NULL, head INTEGER NOT NULL, \
         value BLOB NOT NULL)",
        "PRAGMA user_version = 2",
    ] {
        sqlx::query(statement).execute(&mut *connection).await?;
    }
    Ok(())
}

/// Returns the number of writes and the number of values.
async fn counts(connection: &mut SqliteConnection) -> Result<(u64, u64), sqlx::Error> {
    let row = sqlx::query("SELECT writes, rows FROM count").fetch_one(connection).await?;
    let (writes, rows): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
    Ok((writes.max(0) as u64, rows.max(0) as u64))
}

/// Fails if the store existed before and is missing now.
fn check_mark(path: &Path, mark: &Mark, place: &str) -> Result<(), StoreError> {
    let length = std::fs::metadata(path).map_or(0, |it| it.len());
    if !mark.exists() || length > 0 {
        return Ok(());
    }
    Err(StoreError::damaged(
        place,
        format!(
            "the file is missing or empty, but existed before; restore it from a backup, or \
             delete `{}` to start with an empty store",
            mark.path().display()
        ),
    ))
}

/// Creates folder and file, accessible to their owner only.
fn prepare(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
    if let Some(folder) = path.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    std::fs::OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
    Ok(())
}

fn lost(found: u64, expected: u64, mark: &Mark) -> String {
    format!(
        "found {found} of {expected} writes: the latest are lost; restore it from a backup, or \
         delete `{}` to continue without them",
        mark.path().display()
    )
}

/// Distinguishes damage from other failures.
fn failure(place: &str, error: &sqlx::Error) -> StoreError {
    match (primary_code(error), error) {
        // SQLITE_CORRUPT, SQLITE_NOTADB.
        (Some(11 | 26), _) => {
            StoreError::damaged(place, format!("{}; restore it from a backup", text(error)))
        }
        // A missing table or column, a value of another type.
        (Some(1), _)
        | (
            None,
            sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) | sqlx::Error::RowNotFound,
        ) => StoreError::damaged(place, text(error)),
        (Some(BUSY), _) => {
            let seconds = PATIENCE.as_secs();
            let message =
                format!("timed out after {seconds} s: the file is locked by another process");
            BackendError { place: place.to_owned(), message }.into()
        }
        (Some(FULL), _) => {
            let message = "the disk is full; free some space and run the command again".to_owned();
            BackendError { place: place.to_owned(), message }.into()
        }
        // SQLITE_READONLY
        (Some(8), _) => StoreError::ReadOnly { place: place.to_owned(), why: text(error) },
        _ => BackendError { place: place.to_owned(), message: text(error) }.into(),
    }
}

/// Returns the code of a failure without its details.
fn primary_code(error: &sqlx::Error) -> Option<u32> {
    let code = error.as_database_error()?.code()?;
    code.parse::<u32>().ok().map(|it| it & 0xff)
}

fn text(error: &sqlx::Error) -> String {
    match error.as_database_error() {
        Some(inner) => inner.message().to_owned(),
        None => error.to_string(),
    }
}
