//! The state store of a stack.

use crate::error::AppError;
use base_system::{OsSystem, System as _};
use kusion_generate::{BackendSetting, Stack};
use kusion_model::Place;
use serde_json::{Map, Value};
use std::path::Path;

/// The file for states of sandboxes, below the folder for local data: they end with their sandbox,
/// so they are separate from other states.
const SANDBOXES: &str = "sqlite:sandbox.db";

/// Returns the URL of the store of a stack: the requested one, else the setting of its files, else
/// a file in the folder for local data.
pub(crate) fn address(
    stack: &Stack,
    asked: Option<&str>,
    place: &Place,
) -> Result<String, AppError> {
    if let Some(address) = asked.filter(|it| !it.is_empty()) {
        return Ok(address.to_owned());
    }
    let setting = stack.file.backend.as_ref().or(stack.project.file.backend.as_ref());
    let address = match setting {
        None => String::new(),
        Some(BackendSetting::Url(address)) => address.clone(),
        Some(BackendSetting::Storage { storage_type, config }) => of_storage(storage_type, config)
            .map_err(|why| AppError::Backend { stack: stack.name.clone(), why })?,
    };
    let is_default = address.is_empty() && place.is_temporary();
    Ok(if is_default { SANDBOXES.to_owned() } else { address })
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
