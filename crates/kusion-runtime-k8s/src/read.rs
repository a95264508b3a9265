//! Reads many objects with few requests.

use crate::calls::Call;
use crate::discovery::Served;
use crate::key::ObjectKey;
use crate::object::{self, Named, RawList};
use crate::runtime::KubernetesRuntime;
use futures::stream::{self, StreamExt as _};
use kusion_runtime::{Live, RuntimeError, Target};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// How many objects a page of a list holds.
const PAGE: usize = 500;
/// From this many objects on, a list beats single requests.
const LIST_FROM: usize = 3;
/// From this many namespaces on, one list of all beats one list each.
const ALL_NAMESPACES_FROM: usize = 8;
/// How many items of a list cost about as much as one request.
const ITEMS_PER_REQUEST: u64 = 50;

/// The result for one target.
type Found = Result<Option<Live>, RuntimeError>;
/// Places in the answer, by namespace and name.
type Wanted = HashMap<(String, String), Vec<usize>>;
/// The requested objects of one kind, by namespace.
type Spaces = BTreeMap<String, Wanted>;

/// One task: a list of requested objects from one collection, or one object.
struct Job {
    served: Arc<Served>,
    /// The namespace that is listed; empty for all or for cluster-wide kinds.
    namespace: String,
    list: bool,
    wanted: Wanted,
}

pub(crate) async fn read(
    runtime: &KubernetesRuntime,
    targets: &[Target<'_>],
) -> Result<Vec<Found>, RuntimeError> {
    let mut found: Vec<Found> = Vec::with_capacity(targets.len());
    let mut kinds: BTreeMap<(String, String), (Arc<Served>, Spaces)> = BTreeMap::new();
    let mut unknown: BTreeSet<(String, String)> = BTreeSet::new();
    for (place, target) in targets.iter().enumerate() {
        found.push(Ok(None));
        let Some(key) = key_of(target) else {
            found[place] = Err(RuntimeError::Invalid(format!(
                "`{}` lacks apiVersion, kind or metadata.name",
                target.id
            )));
            continue;
        };
        let kind = (key.api_version.clone(), key.kind.clone());
        if unknown.contains(&kind) {
            continue;
        }
        let slot = if let Some(slot) = kinds.get_mut(&kind) {
            slot
        } else {
            let served = runtime.discovery.find_known(&runtime.calls, &kind.0, &kind.1).await?;
            let served = match served {
                Some(served) => Some(served),
                // One new discovery for all unknown kinds together.
                None if unknown.is_empty() => {
                    runtime.discovery.find(&runtime.calls, &kind.0, &kind.1).await?
                }
                None => None,
            };
            let Some(served) = served else {
                unknown.insert(kind);
                continue;
            };
            kinds.entry(kind).or_insert_with(|| (served, BTreeMap::new()))
        };
        let key = runtime.placed(&slot.0, key);
        let wanted = slot.1.entry(key.namespace.clone()).or_default();
        wanted.entry((key.namespace, key.name)).or_default().push(place);
    }
    let jobs: Vec<Job> =
        kinds.into_values().flat_map(|(served, spaces)| jobs(&served, spaces)).collect();
    let mut results = stream::iter(jobs)
        .map(|job| run(runtime, job))
        .buffer_unordered(runtime.options.parallel_calls.max(1));
    while let Some(answers) = results.next().await {
        for (place, answer) in answers? {
            found[place] = answer;
        }
    }
    Ok(found)
}

fn key_of(target: &Target<'_>) -> Option<ObjectKey> {
    match (target.desired, target.prior) {
        (Some(desired), _) => ObjectKey::of_object(&desired.attributes),
        (None, Some(prior)) => ObjectKey::parse(&prior.identity.key)
            .or_else(|| ObjectKey::of_object(&prior.resource.attributes)),
        (None, None) => None,
    }
}

/// Splits the requested objects of a kind into tasks.
fn jobs(served: &Arc<Served>, spaces: Spaces) -> Vec<Job> {
    let job = |namespace: String, list: bool, wanted: Wanted| Job {
        served: Arc::clone(served),
        namespace,
        list: list && served.can_list,
        wanted,
    };
    let lists = spaces.values().filter(|wanted| wanted.len() >= LIST_FROM).count();
    let total: usize = spaces.values().map(HashMap::len).sum();
    if lists >= ALL_NAMESPACES_FROM || (spaces.len() >= ALL_NAMESPACES_FROM && total >= 64) {
        let all = spaces.into_values().flatten().collect();
        return vec![job(String::new(), true, all)];
    }
    let mut out = Vec::new();
    for (namespace, wanted) in spaces {
        if wanted.len() >= LIST_FROM {
            out.push(job(namespace, true, wanted));
        } else {
            let singles = wanted.into_iter().map(|(key, places)| Wanted::from([(key, places)]));
            out.extend(singles.map(|wanted| job(namespace.clone(), false, wanted)));
        }
    }
    out
}

/// Runs a task. An error ends the whole reading; refusals of single objects are answers.
async fn run(runtime: &KubernetesRuntime, job: Job) -> Result<Vec<(usize, Found)>, RuntimeError> {
    let mut answers = Vec::with_capacity(job.wanted.len());
    let mut wanted = job.wanted;
    if job.list {
        match list(runtime, &job.served, &job.namespace, &mut wanted, &mut answers).await {
            Ok(true) => return Ok(answers),
            // The rest is read one by one: the list is too long, or not allowed.
            Ok(false) | Err(RuntimeError::Invalid(_)) => {}
            Err(error) => return Err(error),
        }
    }
    let mut singles = stream::iter(wanted)
        .map(|((namespace, name), places)| {
            let served = Arc::clone(&job.served);
            async move { (get(runtime, &served, namespace, name).await, places) }
        })
        .buffer_unordered(runtime.options.parallel_calls.max(1));
    while let Some((found, places)) = singles.next().await {
        if let Err(error) = &found
            && (error.is_transient() || matches!(error, RuntimeError::Unavailable(_)))
        {
            return Err(error.clone());
        }
        answers.extend(places.into_iter().map(|place| (place, found.clone())));
    }
    Ok(answers)
}

async fn get(
    runtime: &KubernetesRuntime,
    served: &Served,
    namespace: String,
    name: String,
) -> Found {
    let (api_version, kind) = (served.api_version.clone(), served.kind.clone());
    let key = ObjectKey { api_version, kind, namespace, name };
    runtime.get(served, &key).await
}

/// Reads a list page by page and picks the requested objects; returns false if single requests are
/// better for the rest.
async fn list(
    runtime: &KubernetesRuntime,
    served: &Arc<Served>,
    namespace: &str,
    wanted: &mut Wanted,
    answers: &mut Vec<(usize, Found)>,
) -> Result<bool, RuntimeError> {
    let path = served.collection(namespace);
    let mut next = String::new();
    loop {
        let answer = runtime.calls.send(Call::page(&path, PAGE, None, &next)).await?;
        // The continue token expired: the rest is read one by one.
        if answer.status == http::StatusCode::GONE {
            return Ok(false);
        }
        let Some(answer) = answer.found()? else { return Ok(true) };
        let (served, mark) = (Arc::clone(served), Arc::clone(&runtime.mark));
        let names = std::mem::take(wanted);
        // Much text: not on the threads that wait for the network.
        let (names, found, page) = tokio::task::spawn_blocking(move || {
            take_page(&answer.body, &served, &mark.manager, names)
        })
        .await
        .map_err(|error| runtime.calls.lost(&error.to_string()))?
        .map_err(|error| runtime.calls.lost(&format!("`{path}`: {error}")))?;
        *wanted = names;
        answers.extend(found);
        if page.next.is_empty() || wanted.is_empty() {
            return Ok(true);
        }
        if page.remaining_item_count / ITEMS_PER_REQUEST > wanted.len() as u64 {
            return Ok(false);
        }
        next = page.next;
    }
}

type Page = (Wanted, Vec<(usize, Found)>, object::ListMetadata);

fn take_page(
    text: &[u8],
    served: &Served,
    manager: &str,
    mut wanted: Wanted,
) -> Result<Page, String> {
    let list: RawList<'_> = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    let mut found = Vec::new();
    for item in list.items.unwrap_or_default() {
        let text = item.get();
        let named: Named = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let Some(places) = wanted.remove(&(named.metadata.namespace, named.metadata.name)) else {
            continue;
        };
        let live = object::decode(text.as_bytes(), served, manager)?;
        let (last, others) = places.split_last().map_or((None, &[][..]), |(l, o)| (Some(*l), o));
        found.extend(others.iter().map(|place| (*place, Ok(Some(live.clone())))));
        found.extend(last.map(|place| (place, Ok(Some(live)))));
    }
    Ok((wanted, found, list.metadata))
}
