//! Writes: one transaction each, which ends in every case.
//!
//! The library's own transactions are not used: `SQLite` rolls a transaction back when the disk is
//! full, and the library would then refuse to begin another one.

use super::{Head, counts, failure, mark::Mark};
use crate::backend::{Expected, PutError, Version};
use crate::error::StoreError;
use crate::frame::sum;
use bytes::Bytes;
use sqlx::Sqlite as Db;
use sqlx::pool::PoolConnection;
use sqlx::sqlite::{SqliteConnection, SqlitePool};
use std::sync::Arc;

/// A change of the store.
pub(super) enum Change {
    /// Writes a key if the precondition is met, and if the key `after` exists.
    Put { key: String, bytes: Bytes, expected: Expected, after: Option<String> },
    /// Removes keys.
    Delete(Vec<String>),
}

/// Writes changes.
#[derive(Clone)]
pub(super) struct Writer {
    pub(super) pool: SqlitePool,
    pub(super) place: String,
    pub(super) mark: Arc<Mark>,
}

impl Writer {
    /// Begins a transaction.
    pub(super) async fn begin(&self) -> Result<PoolConnection<Db>, StoreError> {
        let failed = |error: sqlx::Error| failure(&self.place, &error);
        let mut connection = self.pool.acquire().await.map_err(failed)?;
        match sqlx::query("BEGIN IMMEDIATE").execute(&mut *connection).await {
            Ok(_) => Ok(connection),
            Err(error) => {
                let _ = connection.close().await;
                Err(failed(error))
            }
        }
    }

    /// Ends a transaction: makes it durable if it succeeded, otherwise rolls it back.
    pub(super) async fn end<T, E: From<StoreError>>(
        &self,
        mut connection: PoolConnection<Db>,
        done: Result<T, E>,
    ) -> Result<T, E> {
        let error = match done {
            Ok(value) => match sqlx::query("COMMIT").execute(&mut *connection).await {
                Ok(_) => return Ok(value),
                Err(error) => failure(&self.place, &error).into(),
            },
            Err(error) => error,
        };
        // Fails if the database has rolled back already.
        if sqlx::query("ROLLBACK").execute(&mut *connection).await.is_err() {
            let _ = connection.close().await;
        }
        Err(error)
    }

    /// Makes a change; returns the new version. It runs in a task: a caller that no longer waits
    /// leaves no transaction behind.
    pub(super) async fn write(&self, change: Change) -> Result<Version, PutError> {
        let (writer, place) = (self.clone(), self.place.clone());
        let task = tokio::spawn(async move {
            let mut connection = writer.begin().await?;
            let done = writer.apply(&mut connection, change).await;
            let version = writer.end(connection, done).await?;
            writer.mark.write(version);
            Ok(Version(version.to_string()))
        });
        task.await.unwrap_or_else(|_| {
            let message = "the write was interrupted".to_owned();
            Err(super::BackendError { place, message }.into())
        })
    }

    async fn apply(
        &self,
        connection: &mut SqliteConnection,
        change: Change,
    ) -> Result<u64, PutError> {
        let failed = |error: sqlx::Error| PutError::Failed(failure(&self.place, &error));
        let (writes, _) = counts(connection).await.map_err(failed)?;
        let version = writes + 1;
        let rows = match change {
            Change::Put { key, bytes, expected, after } => {
                let (found, is_after): (Option<i64>, bool) = sqlx::query_as(
                    "SELECT (SELECT version FROM item WHERE key = ?1), \
                     ?2 IS NULL OR EXISTS (SELECT 1 FROM item WHERE key = ?2)",
                )
                .bind(&key)
                .bind(after)
                .fetch_one(&mut *connection)
                .await
                .map_err(failed)?;
                let holds = match (&expected, found) {
                    (Expected::Absent, None) => true,
                    (Expected::Is(wanted), Some(version)) => wanted.0 == version.to_string(),
                    _ => false,
                };
                if !holds || !is_after {
                    return Err(PutError::Conflict);
                }
                insert(connection, &key, &bytes, version).await.map_err(failed)?;
                i64::from(found.is_none())
            }
            Change::Delete(keys) => -remove(connection, &keys).await.map_err(failed)?,
        };
        sqlx::query("UPDATE count SET writes = ?1, rows = rows + ?2")
            .bind(version as i64)
            .bind(rows)
            .execute(connection)
            .await
            .map_err(failed)?;
        Ok(version)
    }
}

async fn insert(
    connection: &mut SqliteConnection,
    key: &str,
    bytes: &[u8],
    version: u64,
) -> Result<(), sqlx::Error> {
    let head =
        Head { version: version as i64, length: bytes.len() as i64, sum: sum(&[bytes]).into() };
    sqlx::query(
        "INSERT OR REPLACE INTO item (key, version, length, sum, head, value) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )
    .bind(key)
    .bind(head.version)
    .bind(head.length)
    .bind(head.sum)
    .bind(head.sum_with(key))
    .bind(bytes)
    .execute(connection)
    .await?;
    Ok(())
}

/// Removes keys; returns how many there were.
async fn remove(connection: &mut SqliteConnection, keys: &[String]) -> Result<i64, sqlx::Error> {
    let mut removed = 0;
    for key in keys {
        let query = sqlx::query("DELETE FROM item WHERE key = ?1").bind(key);
        removed += query.execute(&mut *connection).await?.rows_affected() as i64;
    }
    Ok(removed)
}
