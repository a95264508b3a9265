//! Watches services; everything else is ready as soon as it exists.

use super::{Inner, identity};
use crate::address::Address;
use crate::items::{self, Kind};
use futures::stream::{self, BoxStream, StreamExt as _};
use kusion_model::{Health, Resource, ResourceId, ResourceState, ResourceType};
use kusion_runtime::{Live, Progress, RuntimeError, Target};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// The time between two reads of services.
const PAUSE: Duration = Duration::from_secs(2);

type Told = Result<Progress, RuntimeError>;

struct Watch {
    inner: Arc<Inner>,
    /// Services, as they are recorded.
    services: Vec<ResourceState>,
    told: BTreeMap<ResourceId, Health>,
    ready: VecDeque<Told>,
    is_first: bool,
}

pub(super) fn watch(
    inner: Arc<Inner>,
    targets: Vec<(ResourceId, Live)>,
) -> BoxStream<'static, Told> {
    let mut watch = Watch {
        inner,
        services: Vec::new(),
        told: BTreeMap::new(),
        ready: VecDeque::new(),
        is_first: true,
    };
    for (id, live) in targets {
        match Address::of_id(&id) {
            Ok(address) if address.kind == Kind::Service => {
                watch.services.push(recorded(&id, live));
            }
            _ => watch.ready.push_back(Ok(progress(id, Health::ready("it exists")))),
        }
    }
    stream::unfold(watch, |mut watch| async move {
        loop {
            if let Some(told) = watch.ready.pop_front() {
                return Some((told, watch));
            }
            if watch.services.is_empty() {
                // The engine ends the watch.
                std::future::pending::<()>().await;
            }
            if !std::mem::take(&mut watch.is_first) {
                tokio::time::sleep(PAUSE).await;
            }
            watch.look().await;
        }
    })
    .boxed()
}

/// Returns a service as it was when the watch began: what runs is expected to run.
fn recorded(id: &ResourceId, live: Live) -> ResourceState {
    let mut attributes = live.attributes.into_value();
    if let Some(fields) = attributes.as_object_mut() {
        fields.retain(|name, _| matches!(name.as_str(), "running" | "enabled" | "manager"));
    }
    let resource = Resource {
        resource_type: ResourceType::new(super::RESOURCE_TYPE),
        attributes: attributes.into(),
        depends_on: Vec::new(),
        extensions: serde_json::Map::new(),
        id: id.clone(),
    };
    ResourceState::new(resource, identity(id), 0)
}

impl Watch {
    async fn look(&mut self) {
        let targets: Vec<Target<'_>> = self
            .services
            .iter()
            .map(|it| Target { id: &it.resource.id, desired: None, prior: Some(it) })
            .collect();
        let found = self.inner.read_all(&targets).await;
        for (state, found) in self.services.iter().zip(found) {
            let id = &state.resource.id;
            let health = match found {
                Ok(Some(live)) => match Address::of_id(id) {
                    Ok(address) => {
                        let (item, _) = items::parse(&address, &state.resource.attributes);
                        item.health(&live.attributes)
                    }
                    Err(_) => continue,
                },
                Ok(None) => Health::failed("Missing", "the service does not exist"),
                Err(fault) => Health::progressing(fault.to_string()),
            };
            if self.told.get(id) != Some(&health) {
                self.told.insert(id.clone(), health.clone());
                self.ready.push_back(Ok(progress(id.clone(), health)));
            }
        }
    }
}

fn progress(id: ResourceId, health: Health) -> Progress {
    Progress { id, health, related: Vec::new(), settling_since: None }
}
