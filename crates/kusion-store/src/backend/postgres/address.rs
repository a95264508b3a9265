//! URLs of `PostgreSQL`: what they mean, and why some are refused.

use crate::error::StoreError;
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use std::str::FromStr as _;

/// How to write what has a meaning in a URL.
const ESCAPES: &str = "in user names and passwords, write `#` as `%23`, `/` as `%2F`, `?` as `%3F`, \
                       `@` as `%40` and `%` as `%25`";

/// Parses a URL. Without `sslmode`, a connection to another machine must be encrypted.
pub(super) fn parse(url: &str) -> Result<PgConnectOptions, StoreError> {
    let wrong = |what: &str| {
        StoreError::Address(format!("invalid store URL `postgres://…`: {what}; {ESCAPES}"))
    };
    if let Some(what) = misplaced(url) {
        return Err(wrong(what));
    }
    let options = PgConnectOptions::from_str(url).map_err(|error| wrong(&error.to_string()))?;
    let is_chosen = has_option(url, &["sslmode", "ssl-mode"])
        || std::env::var("PGSSLMODE").is_ok_and(|it| !it.is_empty());
    let options = options.application_name("kusion");
    Ok(if is_chosen || is_local(&options) { options } else { options.ssl_mode(PgSslMode::Require) })
}

/// Finds a character of a password that ended the part of the URL with the password. What follows
/// it would be taken for a database, and shown.
fn misplaced(url: &str) -> Option<&'static str> {
    let rest = url.split_once("://")?.1;
    if rest.contains('#') {
        return Some("`#` has no meaning in it");
    }
    let (before, query) = rest.split_once('?').unwrap_or((rest, ""));
    let path = before.split_once('/').map_or("", |it| it.1);
    let is_value = |it: &str| it.split_once('=').map_or("", |it| it.1).contains('@');
    let after_query = query.split('&').any(|it| it.contains('@') && !is_value(it));
    (path.contains('@') || after_query).then_some("`@` after `/` or `?`")
}

fn has_option(url: &str, names: &[&str]) -> bool {
    let query = url.split_once('?').map_or("", |it| it.1);
    query.split('&').any(|it| names.contains(&it.split_once('=').unwrap_or((it, "")).0))
}

/// Whether the server is on this machine.
pub(super) fn is_local(options: &PgConnectOptions) -> bool {
    let host = options.get_host().trim_matches(['[', ']']);
    options.get_socket().is_some()
        || host.starts_with('/')
        || host == "localhost"
        || host.parse::<std::net::IpAddr>().is_ok_and(|it| it.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_machines_are_reached_with_encryption_unless_the_url_says_otherwise() {
        let mode = |url: &str| format!("{:?}", parse(url).expect("valid").get_ssl_mode());
        assert_eq!(mode("postgres://u:p@db.example.com/a"), "Require");
        assert_eq!(mode("postgres://u:p@10.1.2.3/a"), "Require");
        assert_eq!(mode("postgres://u:p@db.example.com/a?sslmode=disable"), "Disable");
        assert_eq!(mode("postgres://u:p@db.example.com/a?sslmode=verify-full"), "VerifyFull");
        for local in ["127.0.0.1", "localhost", "[::1]", "127.0.0.9:99"] {
            assert_eq!(mode(&format!("postgres://u:p@{local}/a")), "Prefer", "{local}");
        }
    }

    #[test]
    fn what_may_be_a_password_is_never_shown() {
        for url in [
            "postgres://u:SECRET#w@host/db",
            "postgres://u:SECRET/w@host/db",
            "postgres://u:1/SECRET@host/db",
            "postgres://u:1?SECRET@host/db",
            "postgres://u:SECRET@host:SECRET/db",
        ] {
            let text = parse(url).expect_err("refused").to_string();
            assert!(!text.contains("SECRET") && text.contains("%23"), "{url}: {text}");
        }
        parse("postgres://host/db?user=a@b&sslmode=disable").expect("valid");
    }
}
