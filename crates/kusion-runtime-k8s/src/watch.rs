//! How resources fare, told as it changes.

pub(crate) mod events;

use crate::health;
use crate::runtime::KubernetesRuntime;
use futures::stream::{self, BoxStream, StreamExt as _};
use kusion_model::ResourceId;
use kusion_runtime::{Live, Progress, RuntimeError};

/// Watches resources.
#[expect(clippy::unused_async, reason = "connections are made here")]
pub(crate) async fn watch(
    _runtime: KubernetesRuntime,
    targets: Vec<(ResourceId, Live)>,
) -> Result<BoxStream<'static, Result<Progress, RuntimeError>>, RuntimeError> {
    let items = targets.into_iter().map(|(id, live)| {
        let health = health::of_object(&live.attributes);
        Ok(Progress { id, health, related: Vec::new() })
    });
    Ok(stream::iter(items).boxed())
}
