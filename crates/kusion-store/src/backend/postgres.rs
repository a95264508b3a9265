//! A backend in tables of `PostgreSQL`.

use super::{Backend, BackendError, Expected, PutError, Version, end_of};
use crate::error::StoreError;
use async_trait::async_trait;
use bytes::Bytes;
use sqlx::Row as _;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use std::str::FromStr as _;
use std::time::Duration;

/// The format of the tables.
const FORMAT: i64 = 2;
/// The advisory lock that a process holds while it creates the tables.
const SETUP_LOCK: i64 = 0x6b75_7369_6f6e;

/// Bytes in a table.
pub(crate) struct Postgres {
    pool: PgPool,
    place: String,
}

impl Postgres {
    /// Opens the database, and creates the tables if they do not exist.
    pub(crate) async fn open(url: &str) -> Result<Self, StoreError> {
        let store = Self::connect(url).await?;
        store.prepare().await?;
        Ok(store)
    }

    async fn connect(url: &str) -> Result<Self, StoreError> {
        let options = PgConnectOptions::from_str(url)
            .map_err(|error| StoreError::Address(format!("invalid store URL: {error}")))?
            .application_name("kusion");
        let database = options.get_database().unwrap_or(options.get_username());
        let place = format!("postgres://{}:{}/{database}", options.get_host(), options.get_port());
        let pool = PgPoolOptions::new()
            .max_connections(4)
            .acquire_timeout(Duration::from_secs(30))
            .connect_with(options)
            .await
            .map_err(|error| failure(&place, &error))?;
        Ok(Self { pool, place })
    }

    /// Renames the tables; returns the new name of the one with the values.
    pub(crate) async fn set_aside(url: &str) -> Result<String, StoreError> {
        let store = Self::connect(url).await?;
        let failed = |error: sqlx::Error| failure(&store.place, &error);
        let mut transaction = store.pool.begin().await.map_err(failed)?;
        let name = format!("kusion_item_{}", jiff::Timestamp::now().as_second());
        for statement in [
            format!("ALTER TABLE kusion_item RENAME TO {name}"),
            format!("ALTER INDEX kusion_item_pkey RENAME TO {name}_pkey"),
            "DROP TABLE kusion_format".to_owned(),
        ] {
            let statement = sqlx::AssertSqlSafe(statement);
            sqlx::query(statement).execute(&mut *transaction).await.map_err(failed)?;
        }
        transaction.commit().await.map_err(failed)?;
        store.pool.close().await;
        Ok(format!("table `{name}` of {}", store.place))
    }

    async fn prepare(&self) -> Result<(), StoreError> {
        let failed = |error: sqlx::Error| failure(&self.place, &error);
        let mut transaction = self.pool.begin().await.map_err(failed)?;
        sqlx::query("SELECT pg_advisory_xact_lock($1)")
            .bind(SETUP_LOCK)
            .execute(&mut *transaction)
            .await
            .map_err(failed)?;
        for statement in [
            "CREATE TABLE IF NOT EXISTS kusion_format (format bigint NOT NULL)",
            "INSERT INTO kusion_format SELECT 2 WHERE NOT EXISTS (SELECT FROM kusion_format)",
            "CREATE SEQUENCE IF NOT EXISTS kusion_version",
            "CREATE TABLE IF NOT EXISTS kusion_item (key text COLLATE \"C\" PRIMARY KEY, \
             version bigint NOT NULL, value bytea NOT NULL)",
        ] {
            sqlx::query(statement).execute(&mut *transaction).await.map_err(failed)?;
        }
        let found: i64 = sqlx::query_scalar("SELECT max(format) FROM kusion_format")
            .fetch_one(&mut *transaction)
            .await
            .map_err(failed)?;
        if found != FORMAT {
            return Err(StoreError::format(&self.place, found as u32, FORMAT as u32));
        }
        transaction.commit().await.map_err(failed)
    }
}

#[async_trait]
impl Backend for Postgres {
    fn place(&self) -> &str {
        &self.place
    }

    async fn get(&self, key: &str) -> Result<Option<(Bytes, Version)>, StoreError> {
        let failed = |error: sqlx::Error| failure(&self.place, &error);
        let row = sqlx::query("SELECT version, value FROM kusion_item WHERE key = $1")
            .bind(key)
            .fetch_optional(&self.pool)
            .await
            .map_err(failed)?;
        let Some(row) = row else { return Ok(None) };
        let version: i64 = row.try_get(0).map_err(failed)?;
        let value: Vec<u8> = row.try_get(1).map_err(failed)?;
        Ok(Some((value.into(), Version(version.to_string()))))
    }

    async fn put(&self, key: &str, bytes: Bytes, expected: Expected) -> Result<Version, PutError> {
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
        let version: Option<i64> =
            query.fetch_optional(&self.pool).await.map_err(|error| failure(&self.place, &error))?;
        version.map(|it| Version(it.to_string())).ok_or(PutError::Conflict)
    }

    async fn list(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        sqlx::query_scalar("SELECT key FROM kusion_item WHERE key >= $1 AND key < $2 ORDER BY key")
            .bind(prefix)
            .bind(end_of(prefix))
            .fetch_all(&self.pool)
            .await
            .map_err(|error| failure(&self.place, &error))
    }

    async fn delete(&self, keys: &[String]) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM kusion_item WHERE key = ANY($1)")
            .bind(keys)
            .execute(&self.pool)
            .await
            .map_err(|error| failure(&self.place, &error))?;
        Ok(())
    }

    async fn close(&self) {
        self.pool.close().await;
    }
}

fn failure(place: &str, error: &sqlx::Error) -> StoreError {
    BackendError { place: place.to_owned(), message: error.to_string() }.into()
}
