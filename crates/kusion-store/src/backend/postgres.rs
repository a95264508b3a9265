//! A backend in tables of `PostgreSQL`.

mod address;
#[cfg(target_os = "linux")]
mod guard;
mod server;

use super::deadline::{self, ANSWER, CONNECT, MAX_KEYS, MAX_VALUE};
use super::{Backend, Expected, PutError, Version, end_of};
use crate::error::StoreError;
use async_trait::async_trait;
use bytes::Bytes;
use server::Server;
use sqlx::postgres::{PgPool, PgPoolOptions};
use sqlx::{Connection as _, Row as _};
use std::time::Duration;

/// The format of the tables.
const FORMAT: i64 = 2;
/// The advisory lock that a process holds while it creates the tables.
const SETUP_LOCK: i64 = 0x6b75_7369_6f6e;
/// How long a call waits for a connection.
const ACQUIRE: Duration = Duration::from_secs(6);
/// Values up to this size, in bytes, are read without asking for their size first.
const SMALL: i64 = 4 << 20;

/// Settings of a session: a write is durable when it returns, also on synchronous standbys, and a
/// call does not wait for locks longer than its caller.
const SETTINGS: &str = "SELECT set_config('synchronous_commit', CASE \
     WHEN current_setting('synchronous_commit') IN ('on', 'remote_apply') \
     THEN current_setting('synchronous_commit') ELSE 'on' END, false), \
     set_config('lock_timeout', '10s', false)";

/// Bytes in a table.
pub(crate) struct Postgres {
    pool: PgPool,
    server: Server,
    /// Why it can only be read.
    read_only: Option<&'static str>,
    /// Whether there are no tables, and none can be created.
    is_empty: bool,
}

impl Postgres {
    /// Opens the database, and creates the tables if they do not exist.
    pub(crate) async fn open(url: &str) -> Result<Self, StoreError> {
        let mut store = Self::connect(url).await?;
        store.prepare().await?;
        Ok(store)
    }

    async fn connect(url: &str) -> Result<Self, StoreError> {
        let server = Server::new(address::parse(url)?)?;
        // A pool retries and then hides the reason of a failure.
        let first = server.reach().await?;
        tokio::spawn(first.close());
        let pool = PgPoolOptions::new()
            .max_connections(4)
            .acquire_timeout(ACQUIRE)
            .after_connect(|connection, _| {
                Box::pin(async { sqlx::query(SETTINGS).execute(connection).await.map(drop) })
            })
            .connect_lazy_with(server.options().clone());
        Ok(Self { pool, server, read_only: None, is_empty: false })
    }

    /// Renames the tables; returns the new name of the one with the values.
    pub(crate) async fn set_aside(url: &str) -> Result<String, StoreError> {
        let store = Self::connect(url).await?;
        let name = format!("kusion_item_{}", jiff::Timestamp::now().as_second());
        let rename = async {
            let mut transaction = store.pool.begin().await?;
            for statement in [
                format!("ALTER TABLE kusion_item RENAME TO {name}"),
                format!("ALTER INDEX kusion_item_pkey RENAME TO {name}_pkey"),
                "DROP TABLE kusion_format".to_owned(),
            ] {
                let statement = sqlx::AssertSqlSafe(statement);
                sqlx::query(statement).execute(&mut *transaction).await?;
            }
            transaction.commit().await
        };
        store.call(ANSWER, rename).await?;
        store.pool.close().await;
        Ok(format!("table `{name}` of {}", store.place()))
    }

    /// Checks what the server promises, and creates the tables if they do not exist.
    async fn prepare(&mut self) -> Result<(), StoreError> {
        let look = sqlx::query_as(
            "SELECT to_regclass('kusion_item') IS NOT NULL \
                 AND to_regclass('kusion_format') IS NOT NULL, \
             pg_is_in_recovery(), current_setting('transaction_read_only') = 'on', \
             current_setting('synchronous_commit')",
        );
        let (exists, is_standby, is_read_only, commit): (bool, bool, bool, String) =
            self.call(ANSWER, look.fetch_one(&self.pool)).await?;
        self.read_only = match (is_standby, is_read_only) {
            (true, _) => Some("the server is a standby"),
            (_, true) => Some("transactions are read-only for this user or database"),
            _ => None,
        };
        if !matches!(commit.as_str(), "on" | "remote_apply") {
            let what = format!(
                "`synchronous_commit` is `{commit}` and cannot be changed: a crash of the server \
                 would lose confirmed writes"
            );
            return Err(StoreError::Address(format!("{}: {what}", self.place())));
        }
        if !exists {
            if self.read_only.is_some() {
                self.is_empty = true;
                return Ok(());
            }
            self.call(ANSWER, self.create()).await?;
        }
        let format = sqlx::query_scalar("SELECT max(format) FROM kusion_format");
        let found: Option<i64> = self.call(ANSWER, format.fetch_one(&self.pool)).await?;
        match found {
            Some(FORMAT) => Ok(()),
            Some(found) => Err(StoreError::format(self.place(), found as u32, FORMAT as u32)),
            None => Err(StoreError::damaged(self.place(), "table `kusion_format` is empty")),
        }
    }

    async fn create(&self) -> Result<(), sqlx::Error> {
        let mut transaction = self.pool.begin().await?;
        sqlx::query("SELECT pg_advisory_xact_lock($1)")
            .bind(SETUP_LOCK)
            .execute(&mut *transaction)
            .await?;
        for statement in [
            "CREATE TABLE IF NOT EXISTS kusion_format (format bigint NOT NULL)",
            "INSERT INTO kusion_format SELECT 2 WHERE NOT EXISTS (SELECT FROM kusion_format)",
            "CREATE SEQUENCE IF NOT EXISTS kusion_version",
            "CREATE TABLE IF NOT EXISTS kusion_item (key text COLLATE \"C\" PRIMARY KEY, \
             version bigint NOT NULL, value bytea NOT NULL)",
        ] {
            sqlx::query(statement).execute(&mut *transaction).await?;
        }
        transaction.commit().await
    }

    /// Runs a call with a time limit; its error has the reason of the failure.
    async fn call<T>(
        &self,
        limit: Duration,
        call: impl Future<Output = Result<T, sqlx::Error>>,
    ) -> Result<T, StoreError> {
        match tokio::time::timeout(limit, call).await {
            Ok(Ok(done)) => Ok(done),
            // The server cannot be reached; the pool does not say why.
            Ok(Err(sqlx::Error::PoolTimedOut)) => match self.server.reach().await {
                Ok(_) => Err(deadline::silent(self.place(), ACQUIRE)),
                Err(error) => Err(error),
            },
            Ok(Err(error)) => Err(self.server.failure(&error)),
            Err(_) => Err(deadline::silent(self.place(), limit)),
        }
    }

    /// Reads the value of a large key.
    async fn large(
        &self,
        key: &str,
        version: i64,
        size: usize,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        deadline::check_size(self.place(), key, size)?;
        let query = sqlx::query_scalar(
            "SELECT value FROM kusion_item WHERE key = $1 AND version = $2 AND length(value) <= $3",
        )
        .bind(key)
        .bind(version)
        .bind(MAX_VALUE as i64);
        self.call(deadline::limit(size), query.fetch_optional(&self.pool)).await
    }
}

#[async_trait]
impl Backend for Postgres {
    fn place(&self) -> &str {
        self.server.place()
    }

    fn read_only(&self) -> Option<StoreError> {
        let why = self.read_only?.to_owned();
        Some(StoreError::ReadOnly { place: self.place().to_owned(), why })
    }

    async fn get(&self, key: &str) -> Result<Option<(Bytes, Version)>, StoreError> {
        let failed = |error: sqlx::Error| self.server.failure(&error);
        if self.is_empty {
            return Ok(None);
        }
        loop {
            let query = sqlx::query(
                "SELECT version, length(value)::bigint, \
                 CASE WHEN length(value) <= $2 THEN value END FROM kusion_item WHERE key = $1",
            )
            .bind(key)
            .bind(SMALL);
            let row = self.call(ANSWER, query.fetch_optional(&self.pool)).await?;
            let Some(row) = row else { return Ok(None) };
            let version: i64 = row.try_get(0).map_err(failed)?;
            let size: i64 = row.try_get(1).map_err(failed)?;
            let value: Option<Vec<u8>> = row.try_get(2).map_err(failed)?;
            let value = match value {
                Some(value) => Some(value),
                None => self.large(key, version, size.max(0) as usize).await?,
            };
            // Otherwise it was replaced meanwhile.
            if let Some(value) = value {
                return Ok(Some((value.into(), Version(version.to_string()))));
            }
        }
    }

    async fn put(&self, key: &str, bytes: Bytes, expected: Expected) -> Result<Version, PutError> {
        deadline::check_size(self.place(), key, bytes.len())?;
        let query = match &expected {
            Expected::Absent => sqlx::query_scalar(
                "INSERT INTO kusion_item (key, version, value) \
                 VALUES ($1, nextval('kusion_version'), $2) \
                 ON CONFLICT (key) DO NOTHING RETURNING version",
            )
            .bind(key)
            .bind(bytes.as_ref()),
            Expected::Is(version) => sqlx::query_scalar(
                "UPDATE kusion_item SET version = nextval('kusion_version'), value = $2 \
                 WHERE key = $1 AND version = $3 RETURNING version",
            )
            .bind(key)
            .bind(bytes.as_ref())
            .bind(version.0.parse::<i64>().unwrap_or(-1)),
        };
        let limit = deadline::limit(bytes.len());
        let version: Option<i64> = self.call(limit, query.fetch_optional(&self.pool)).await?;
        version.map(|it| Version(it.to_string())).ok_or(PutError::Conflict)
    }

    async fn put_after(&self, key: &str, bytes: Bytes, after: &str) -> Result<Version, PutError> {
        deadline::check_size(self.place(), key, bytes.len())?;
        let query = sqlx::query_scalar(
            "INSERT INTO kusion_item (key, version, value) \
             SELECT $1, nextval('kusion_version'), $2 \
             WHERE EXISTS (SELECT FROM kusion_item WHERE key = $3) \
             ON CONFLICT (key) DO NOTHING RETURNING version",
        )
        .bind(key)
        .bind(bytes.as_ref())
        .bind(after);
        let limit = deadline::limit(bytes.len());
        let version: Option<i64> = self.call(limit, query.fetch_optional(&self.pool)).await?;
        version.map(|it| Version(it.to_string())).ok_or(PutError::Conflict)
    }

    async fn list(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        if self.is_empty {
            return Ok(Vec::new());
        }
        let query = sqlx::query_scalar(
            "SELECT key FROM kusion_item WHERE key >= $1 AND key < $2 ORDER BY key LIMIT $3",
        )
        .bind(prefix)
        .bind(end_of(prefix))
        .bind(MAX_KEYS as i64 + 1);
        let keys: Vec<String> = self.call(ANSWER, query.fetch_all(&self.pool)).await?;
        deadline::check_count(self.place(), keys.len())?;
        Ok(keys)
    }

    async fn delete(&self, keys: &[String]) -> Result<(), StoreError> {
        let query = sqlx::query("DELETE FROM kusion_item WHERE key = ANY($1)").bind(keys);
        self.call(ANSWER, query.execute(&self.pool)).await.map(drop)
    }

    async fn close(&self) {
        // A server that does not answer does not answer to a farewell, either.
        let _ = tokio::time::timeout(CONNECT, self.pool.close()).await;
    }
}
