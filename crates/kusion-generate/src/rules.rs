//! Rules of a stack in its `stack.yaml`: what plans ignore and may delete, the only cluster, and
//! how long operations wait.

use kusion_model::parse_duration;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use std::time::Duration;

/// The only cluster of a stack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(expecting = "a map with the keys `context` and `id`")]
pub struct ClusterPin {
    /// The context of the kubeconfig.
    #[serde(default)]
    pub context: Option<String>,
    /// The id of the cluster: the uid of its namespace `kube-system`.
    #[serde(default)]
    pub id: Option<String>,
    /// Unused fields, as written.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// How long operations on a stack wait, unless the command line says otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(expecting = "a map with the keys `step`, `ready` and `lock`")]
pub struct Timeouts {
    /// For one step.
    #[serde(default, deserialize_with = "duration")]
    pub step: Option<Duration>,
    /// Until all resources are ready.
    #[serde(default, deserialize_with = "duration")]
    pub ready: Option<Duration>,
    /// For the lock of the stack.
    #[serde(default, deserialize_with = "duration")]
    pub lock: Option<Duration>,
    /// Unused fields, as written.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a duration, such as `30s` or `5m`")]
    enum Written {
        Seconds(u64),
        Text(String),
    }
    let text = match Written::deserialize(deserializer)? {
        Written::Seconds(seconds) => seconds.to_string(),
        Written::Text(text) => text,
    };
    parse_duration(&text).map(Some).map_err(serde::de::Error::custom)
}
