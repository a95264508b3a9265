//! A `PostgreSQL` server: how it is reached, and why a call to it failed.

use super::super::BackendError;
use super::super::deadline::{CONNECT, HANDSHAKE, within};
#[cfg(target_os = "linux")]
use super::guard::Guard;
use crate::error::StoreError;
use sqlx::ConnectOptions as _;
use sqlx::postgres::{PgConnectOptions, PgConnection};

/// A server, and how messages name it.
pub(super) struct Server {
    /// As the URL says.
    direct: PgConnectOptions,
    place: String,
    /// The relay that limits what the server sends, and how to connect to it.
    #[cfg(target_os = "linux")]
    guarded: Option<(Guard, PgConnectOptions)>,
}

impl Server {
    /// Prepares connections to a server; none is made.
    pub(super) fn new(direct: PgConnectOptions) -> Result<Self, StoreError> {
        let database = direct.get_database().unwrap_or(direct.get_username());
        let place = format!("postgres://{}:{}/{database}", direct.get_host(), direct.get_port());
        #[cfg(target_os = "linux")]
        let guarded = if is_remote(&direct) {
            let started = Guard::start(&direct);
            Some(started.map_err(|error| failed(&place, &format!("no local socket: {error}")))?)
        } else {
            None
        };
        Ok(Self {
            direct,
            place,
            #[cfg(target_os = "linux")]
            guarded,
        })
    }

    /// Returns how to connect.
    pub(super) fn options(&self) -> &PgConnectOptions {
        #[cfg(target_os = "linux")]
        if let Some((_, options)) = &self.guarded {
            return options;
        }
        &self.direct
    }

    /// Returns the name of the server and database, without user and password.
    pub(super) fn place(&self) -> &str {
        &self.place
    }

    /// Connects once; fails with the reason.
    pub(super) async fn reach(&self) -> Result<PgConnection, StoreError> {
        if is_remote(&self.direct) {
            let host = self.direct.get_host().trim_matches(['[', ']']);
            let open = async {
                let socket = tokio::net::TcpStream::connect((host, self.direct.get_port())).await;
                socket.map_err(|error| {
                    failed(&self.place, &format!("the server cannot be reached: {error}"))
                })
            };
            within(&self.place, CONNECT, open).await?;
        }
        let greet = async { self.options().connect().await.map_err(|it| self.failure(&it)) };
        within(&self.place, HANDSHAKE, greet).await
    }

    /// Returns the error of a failed call.
    pub(super) fn failure(&self, error: &sqlx::Error) -> StoreError {
        #[cfg(target_os = "linux")]
        if let Some((guard, _)) = &self.guarded
            && !matches!(error, sqlx::Error::Database(_))
            && let Some(why) = guard.why()
        {
            return failed(&self.place, &why);
        }
        failure(&self.place, error)
    }
}

/// Whether a server is reached through the network.
fn is_remote(options: &PgConnectOptions) -> bool {
    options.get_socket().is_none() && !options.get_host().starts_with('/')
}

fn failed(place: &str, message: &str) -> StoreError {
    BackendError { place: place.to_owned(), message: message.to_owned() }.into()
}

fn failure(place: &str, error: &sqlx::Error) -> StoreError {
    match error {
        sqlx::Error::Tls(inner) => failed(
            place,
            &format!(
                "no encrypted connection: {inner}; add `sslmode=disable` to the URL to connect \
                 without encryption"
            ),
        ),
        sqlx::Error::Database(inner) => failed(place, inner.message()),
        sqlx::Error::Io(inner) => failed(place, &format!("the connection failed: {inner}")),
        other => failed(place, &other.to_string()),
    }
}
