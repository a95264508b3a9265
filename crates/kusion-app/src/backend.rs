//! The state store of a stack.

use crate::app::Site;
use crate::error::AppError;
use base_system::{OsSystem, System as _};
use kusion_generate::{BackendSetting, Stack};
use kusion_model::Place;
use serde_json::{Map, Value};
use std::path::{Component, Path};

/// The file for states of sandboxes, below the folder for local data: they end with their sandbox,
/// so they are separate from other states.
const SANDBOXES: &str = "sqlite:sandbox.db";

/// Returns the URL of the store of a stack: the requested one, else the setting of its files, else
/// the default of the user, else a file in the folder for local data.
pub(crate) fn address(stack: &Stack, site: &Site, place: &Place) -> Result<String, AppError> {
    if let Some(address) = site.backend.as_deref().filter(|it| !it.is_empty()) {
        return Ok(address.to_owned());
    }
    let setting = setting(stack)?;
    Ok(default_address(setting.as_deref().or(default_of_user(site, place)), place))
}

/// Returns the URL of the store of a stack without files.
pub(crate) fn address_without_files(site: &Site, place: &Place) -> String {
    let asked = site.backend.as_deref().filter(|it| !it.is_empty());
    default_address(asked.or(default_of_user(site, place)), place)
}

/// Returns the default of the user, which is not for temporary places.
fn default_of_user<'a>(site: &'a Site, place: &Place) -> Option<&'a str> {
    site.default_backend.as_deref().filter(|_| !place.is_temporary())
}

/// Returns a URL, else that of the file for a place in the folder for local data.
fn default_address(url: Option<&str>, place: &Place) -> String {
    match url.filter(|it| !it.is_empty()) {
        Some(url) => url.to_owned(),
        None if place.is_temporary() => SANDBOXES.to_owned(),
        None => String::new(),
    }
}

/// Returns the URL of the store in the files of a stack.
pub(crate) fn setting(stack: &Stack) -> Result<Option<String>, AppError> {
    let setting = stack.file.backend.as_ref().or(stack.project.file.backend.as_ref());
    let Some(setting) = setting else { return Ok(None) };
    let address = match setting {
        BackendSetting::Url(address) => address.clone(),
        BackendSetting::Storage { storage_type, config, .. } => of_storage(storage_type, config)
            .map_err(|why| AppError::Backend { stack: stack.name.clone(), why })?,
    };
    Ok(Some(address).filter(|it| !it.is_empty()))
}

/// The risk of a store whose URL comes from a repository.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Risk {
    /// The URL, without passwords.
    pub(crate) shown: String,
    /// What using it does, as a verb and its object.
    pub(crate) effect: String,
}

/// Returns the risk of a store. Without risk are a file below the folder for local data, and a
/// bucket at the service that the user's own settings name.
pub(crate) fn risk(address: &str) -> Option<Risk> {
    let (scheme, rest) = address.split_once(':').unwrap_or(("", address));
    let rest = rest.strip_prefix("//").unwrap_or(rest);
    let (before, query) = rest.split_once('?').unwrap_or((rest, ""));
    let is_plain = |text: &str| {
        text.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'.' | b'_'))
    };
    let effect = match scheme {
        "memory" => return None,
        "sqlite" | "file" => {
            let path = Path::new(rest);
            let is_below = path.components().all(|it| matches!(it, Component::Normal(_)));
            // Other names could be those of other local data, such as the key.
            if is_below && path.extension().is_some_and(|it| it == "db") {
                return None;
            }
            format!("writes to the file `{rest}`")
        }
        "s3" => {
            let (bucket, _) = before.split_once('/').unwrap_or((before, ""));
            let mut unsafe_keys = query
                .split('&')
                .filter(|it| !it.is_empty())
                .filter(|pair| !pair.strip_prefix("region=").is_some_and(is_plain));
            match unsafe_keys.next() {
                None if is_plain(bucket) => return None,
                None => "sends your cloud credentials to an unusual address".to_owned(),
                Some(pair) => {
                    let key = pair.split('=').next().unwrap_or_default();
                    format!("sends your cloud credentials to where `{key}` says")
                }
            }
        }
        _ => "sends the states of stacks, and your database password, to that server".to_owned(),
    };
    let shown = match before.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}://{host}"),
        None if scheme == "s3" => address.to_owned(),
        None => format!("{scheme}://{before}"),
    };
    Some(Risk { shown, effect })
}

/// Returns the addresses of the local stores that exist.
pub(crate) fn local(home: &Path) -> Vec<String> {
    let files = [("state.db", String::new()), ("sandbox.db", SANDBOXES.to_owned())];
    let existing =
        files.into_iter().filter(|(file, _)| OsSystem.metadata(&home.join(file)).is_ok());
    existing.map(|(_, address)| address).collect()
}

/// Returns the URL for a setting with a storage type.
fn of_storage(kind: &str, config: &Map<String, Value>) -> Result<String, String> {
    let text = |key: &str| config.get(key).and_then(Value::as_str).filter(|it| !it.is_empty());
    match kind {
        "local" => Ok(text("path").map_or_else(String::new, |path| format!("sqlite:{path}"))),
        "s3" => {
            let bucket = text("bucket").ok_or("the backend `s3` requires a `bucket`")?;
            let prefix = text("prefix").map(|it| format!("/{}", it.trim_matches('/')));
            let query: Vec<String> = ["endpoint", "region"]
                .into_iter()
                .filter_map(|key| Some(format!("{key}={}", text(key)?)))
                .collect();
            let query =
                if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
            Ok(format!("s3://{bucket}{}{query}", prefix.unwrap_or_default()))
        }
        _ => Err(format!("unknown storage type `{kind}`; use a URL instead")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(kind: &str, config: &Value, expected: Result<&str, &str>) {
        let config = config.as_object().cloned().unwrap_or_default();
        let found = of_storage(kind, &config);
        assert_eq!(found.as_deref().map_err(String::as_str), expected);
    }

    #[test]
    fn addresses_of_strangers_are_risky() {
        for harmless in [
            "memory:",
            "sqlite:a.db",
            "sqlite:team/a.db",
            "s3://b",
            "s3://b/p",
            "s3://b/p?region=eu-1",
        ] {
            assert_eq!(risk(harmless), None, "{harmless}");
        }
        for (risky, effect) in [
            ("sqlite:/etc/x", "writes to the file `/etc/x`"),
            ("sqlite:../x.db", "writes to the file `../x.db`"),
            ("sqlite:trust.json", "writes to the file `trust.json`"),
            ("sqlite:///x", "writes to the file `/x`"),
            ("s3://b?endpoint=http://h", "sends your cloud credentials to where `endpoint` says"),
            (
                "s3://b?region=r&allow_http=true",
                "sends your cloud credentials to where `allow_http` says",
            ),
            (
                "s3://b?region=evil.example/%23",
                "sends your cloud credentials to where `region` says",
            ),
            ("s3://a@evil.example/p", "sends your cloud credentials to an unusual address"),
        ] {
            assert_eq!(risk(risky).map(|it| it.effect).as_deref(), Some(effect), "{risky}");
        }
        let postgres = risk("postgres://me:secret@db.example/x?password=y").expect("risky");
        assert_eq!(postgres.shown, "postgres://db.example/x");
        assert!(risk("https://h").is_some() && risk("state.db").is_some());
    }

    #[test]
    fn settings_become_addresses() {
        check("local", &json!({}), Ok(""));
        check("local", &json!({"path": "a.db"}), Ok("sqlite:a.db"));
        check("s3", &json!({"bucket": "b"}), Ok("s3://b"));
        let full = json!({"bucket": "b", "prefix": "/x/", "endpoint": "http://h", "region": "r"});
        check("s3", &full, Ok("s3://b/x?endpoint=http://h&region=r"));
        check("s3", &json!({}), Err("the backend `s3` requires a `bucket`"));
        let unknown = "unknown storage type `oss`; use a URL instead";
        check("oss", &json!({}), Err(unknown));
    }
}
