//! Where states are kept.

use crate::failure::Failure;
use kusion_generate::{BackendSetting, Stack};
use serde_json::{Map, Value};

/// Where states are kept, and under which name.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct BackendArgs {
    /// Address of the store of states: `sqlite:PATH`, `postgres://…` or `s3://BUCKET/PREFIX`;
    /// without one what `stack.yaml` or `project.yaml` says, else a file under `KUSION_HOME`
    #[arg(long, value_name = "URL", env = "KUSION_BACKEND", hide_env_values = true)]
    pub(crate) backend: Option<String>,
    /// Cell that is meant, where a stack has several places
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    pub(crate) cell: String,
}

impl BackendArgs {
    /// Returns the address for a stack; empty means the file under the folder of local data.
    pub(crate) fn address(&self, stack: &Stack) -> Result<String, Failure> {
        if let Some(address) = self.backend.as_ref().filter(|it| !it.is_empty()) {
            return Ok(address.clone());
        }
        let setting = stack.file.backend.as_ref().or(stack.project.file.backend.as_ref());
        match setting {
            None => Ok(String::new()),
            Some(BackendSetting::Url(address)) => Ok(address.clone()),
            Some(BackendSetting::Storage { storage_type, config }) => {
                of_storage(storage_type, config)
                    .map_err(|why| Failure::Backend { stack: stack.name.clone(), why })
            }
        }
    }
}

/// Makes the address of a setting that names a kind of storage.
fn of_storage(kind: &str, config: &Map<String, Value>) -> Result<String, String> {
    let text = |key: &str| config.get(key).and_then(Value::as_str).filter(|it| !it.is_empty());
    match kind {
        "local" => Ok(text("path").map_or_else(String::new, |path| format!("sqlite:{path}"))),
        "s3" => {
            let bucket = text("bucket").ok_or("the backend `s3` needs a `bucket`")?;
            let prefix = text("prefix").map(|it| format!("/{}", it.trim_matches('/')));
            let query: Vec<String> = ["endpoint", "region"]
                .into_iter()
                .filter_map(|key| Some(format!("{key}={}", text(key)?)))
                .collect();
            let query =
                if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
            Ok(format!("s3://{bucket}{}{query}", prefix.unwrap_or_default()))
        }
        _ => Err(format!("the kind of storage `{kind}` is not known; write an address instead")),
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
        check("s3", &json!({}), Err("the backend `s3` needs a `bucket`"));
        let unknown = "the kind of storage `oss` is not known; write an address instead";
        check("oss", &json!({}), Err(unknown));
    }
}
