//! Chooses devices on a node for claims, as the scheduler of a real cluster does.
//!
//! The devices are those of `ResourceSlices`. Devices that share counters, or that several claims may
//! have at a time, are not chosen.

use super::scheduler::{term_selects, tolerates};
use crate::controllers::kind::Kind;
use crate::controllers::meta::{self, int, items, text};
use crate::controllers::world::World;
use kusion_k8s_schema::devices::{DeviceSelectors, attribute};
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Value, json};
use std::sync::Arc;

/// How many choices are tried for one pod and node: a search has a limit on a real cluster, too.
const MOST_CHOICES: usize = 20_000;

/// Driver, pool and name of a device.
type DeviceId = (String, String, String);

/// Claims, each with its allocation.
type Allocations = Vec<(Arc<Value>, Value)>;

/// The devices of a cluster that are free, and what is asked of them.
pub(super) struct Devices {
    /// Slices of pools that are complete, in their newest generation.
    slices: Vec<Arc<Value>>,
    taken: FxHashSet<DeviceId>,
    /// Claims without devices, with the requests of each.
    claims: Vec<(Arc<Value>, Vec<Request>)>,
}

/// A request of a claim: the first way that can be met counts.
struct Request {
    name: String,
    ways: Vec<Way>,
}

/// One way to meet a request.
struct Way {
    /// `request` or `request/subrequest`.
    name: String,
    wanted: Value,
    selectors: [DeviceSelectors; 2],
}

/// A device that can be chosen on a node.
struct Candidate<'d> {
    id: DeviceId,
    device: &'d Value,
    slice: &'d Value,
}

impl Devices {
    /// Looks at the devices of a cluster and the requests of claims.
    ///
    /// # Errors
    /// The class of a request does not exist; what the scheduler says of the pod.
    pub(super) fn new(world: &World, claims: &[Arc<Value>]) -> Result<Self, String> {
        let mut read = Vec::new();
        for claim in claims.iter().filter(|it| it["status"]["allocation"].is_null()) {
            let requests = items(&claim["spec"]["devices"]["requests"]);
            let requests = requests.iter().map(|it| Request::read(world, it));
            read.push((Arc::clone(claim), requests.collect::<Result<_, _>>()?));
        }
        Ok(Self { slices: newest(world), taken: taken(world), claims: read })
    }

    /// Chooses devices on a node; returns the allocation of each claim, `None` if there are too few.
    ///
    /// # Errors
    /// A selector of a request cannot be evaluated.
    pub(super) fn choose(&self, node: &Value) -> Result<Option<Allocations>, String> {
        let candidates = self.candidates(node);
        let mut search =
            Search { devices: self, candidates: &candidates, chosen: Vec::new(), n: 0 };
        if !search.request(0, 0)? {
            return Ok(None);
        }
        let chosen = search.chosen;
        let allocations = self.claims.iter().enumerate().map(|(at, (claim, _))| {
            let mine = chosen.iter().filter(|it| it.claim == at);
            (Arc::clone(claim), allocation(claim, mine, &candidates, node))
        });
        Ok(Some(allocations.collect()))
    }

    /// The free devices that a node can use.
    fn candidates<'d>(&'d self, node: &Value) -> Vec<Candidate<'d>> {
        let mut found = Vec::new();
        for slice in &self.slices {
            let spec = &slice["spec"];
            for device in items(&spec["devices"]) {
                let place = if spec["perDeviceNodeSelection"] == true { device } else { spec };
                let is_shared = !items(&device["consumesCounters"]).is_empty()
                    || device["allowMultipleAllocations"] == true;
                if is_shared || !reaches(place, node) {
                    continue;
                }
                let [driver, pool] = [&spec["driver"], &spec["pool"]["name"]].map(text);
                let id = (driver.to_owned(), pool.to_owned(), text(&device["name"]).to_owned());
                found.push(Candidate { id, device, slice });
            }
        }
        found
    }
}

impl Request {
    fn read(world: &World, request: &Value) -> Result<Self, String> {
        let name = text(&request["name"]);
        let mut ways = Vec::new();
        if request["exactly"].is_object() {
            ways.push(Way::read(world, name.to_owned(), &request["exactly"])?);
        }
        for way in items(&request["firstAvailable"]) {
            let name = format!("{name}/{}", text(&way["name"]));
            ways.push(Way::read(world, name, way)?);
        }
        Ok(Self { name: name.to_owned(), ways })
    }
}

impl Way {
    fn read(world: &World, name: String, wanted: &Value) -> Result<Self, String> {
        let class = text(&wanted["deviceClassName"]);
        let found = world
            .get(Kind::DeviceClass, "", class)
            .ok_or_else(|| format!("request {name}: device class {class} does not exist"))?;
        let selectors = [&found["spec"]["selectors"], &wanted["selectors"]];
        Ok(Self { name, wanted: wanted.clone(), selectors: selectors.map(DeviceSelectors::read) })
    }

    fn is_admin(&self) -> bool {
        self.wanted["adminAccess"] == true
    }

    /// Whether a device is what is asked for, be it free or not.
    fn takes(&self, candidate: &Candidate<'_>) -> Result<bool, String> {
        let tolerations = items(&self.wanted["tolerations"]);
        let repels = |taint: &Value| {
            matches!(text(&taint["effect"]), "NoSchedule" | "NoExecute")
                && !tolerations.iter().any(|it| tolerates(it, taint))
        };
        if items(&candidate.device["taints"]).iter().any(repels) {
            return Ok(false);
        }
        for selectors in &self.selectors {
            if !selectors.take(&candidate.id.0, candidate.device)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// A device that was chosen for a request.
struct Chosen<'s> {
    claim: usize,
    request: &'s str,
    way: &'s Way,
    candidate: usize,
}

/// A search for devices for all requests, which goes back where it comes to an end.
struct Search<'s> {
    devices: &'s Devices,
    candidates: &'s [Candidate<'s>],
    chosen: Vec<Chosen<'s>>,
    /// How many choices were tried.
    n: usize,
}

impl<'s> Search<'s> {
    /// Meets a request of a claim and all that follow.
    fn request(&mut self, claim: usize, at: usize) -> Result<bool, String> {
        let Some((_, requests)) = self.devices.claims.get(claim) else { return Ok(true) };
        let Some(request) = requests.get(at) else { return self.request(claim + 1, 0) };
        for way in &request.ways {
            let mut fitting = Vec::new();
            for (index, candidate) in self.candidates.iter().enumerate() {
                if way.takes(candidate)? {
                    fitting.push(index);
                }
            }
            let is_all = way.wanted["allocationMode"] == "All";
            let n = if is_all { fitting.len() } else { count(&way.wanted) };
            if n == 0 || n > fitting.len() {
                continue;
            }
            let chosen = self.chosen.len();
            if self.pick((claim, at), &request.name, way, &fitting, n)? {
                return Ok(true);
            }
            self.chosen.truncate(chosen);
        }
        Ok(false)
    }

    /// Chooses `n` of the fitting devices, then goes on with the next request.
    fn pick(
        &mut self,
        (claim, at): (usize, usize),
        request: &'s str,
        way: &'s Way,
        fitting: &[usize],
        n: usize,
    ) -> Result<bool, String> {
        if n == 0 {
            return self.request(claim, at + 1);
        }
        for (skipped, &candidate) in fitting.iter().enumerate() {
            if fitting.len() - skipped < n {
                break;
            }
            self.n += 1;
            if self.n > MOST_CHOICES {
                return Ok(false);
            }
            if !self.is_free(way, candidate) || !self.agrees(claim, request, way, candidate) {
                continue;
            }
            self.chosen.push(Chosen { claim, request, way, candidate });
            if self.pick((claim, at), request, way, &fitting[skipped + 1..], n - 1)? {
                return Ok(true);
            }
            self.chosen.pop();
        }
        Ok(false)
    }

    fn is_free(&self, way: &Way, candidate: usize) -> bool {
        way.is_admin()
            || !self.devices.taken.contains(&self.candidates[candidate].id)
                && !self.chosen.iter().any(|it| it.candidate == candidate && !it.way.is_admin())
    }

    /// Whether a device keeps the constraints of a claim, beside those that were chosen.
    fn agrees(&self, claim: usize, request: &str, way: &Way, candidate: usize) -> bool {
        let constraints = items(&self.devices.claims[claim].0["spec"]["devices"]["constraints"]);
        constraints.iter().all(|constraint| {
            let named = items(&constraint["requests"]);
            let is_about = |request: &str, way: &str| {
                named.is_empty() || named.iter().any(|it| it == request || it == way)
            };
            if !is_about(request, &way.name) {
                return true;
            }
            let (name, differ) = match text(&constraint["matchAttribute"]) {
                "" => (text(&constraint["distinctAttribute"]), true),
                name => (name, false),
            };
            let value = |candidate: usize| {
                let it = &self.candidates[candidate];
                attribute(&it.id.0, it.device, name)
            };
            let Some(mine) = value(candidate) else { return name.is_empty() };
            self.chosen
                .iter()
                .filter(|it| it.claim == claim && is_about(it.request, &it.way.name))
                .all(|it| (value(it.candidate) == Some(mine)) != differ)
        })
    }
}

/// How many devices are asked for.
fn count(wanted: &Value) -> usize {
    usize::try_from(int(&wanted["count"], 1)).unwrap_or(0)
}

/// Whether the devices of a slice, or one of them, can be used on a node.
fn reaches(place: &Value, node: &Value) -> bool {
    let terms = items(&place["nodeSelector"]["nodeSelectorTerms"]);
    place["allNodes"] == true
        || place["nodeName"] == meta::name(node)
        || terms.iter().any(|term| term_selects(term, node))
}

/// The slices of each pool in its newest generation, if all are there.
fn newest(world: &World) -> Vec<Arc<Value>> {
    let mut pools: FxHashMap<(String, String), Vec<Arc<Value>>> = FxHashMap::default();
    for slice in world.cache.all(Kind::ResourceSlice) {
        let [driver, pool] = [&slice["spec"]["driver"], &slice["spec"]["pool"]["name"]].map(text);
        pools.entry((driver.to_owned(), pool.to_owned())).or_default().push(slice);
    }
    let generation = |slice: &Value| int(&slice["spec"]["pool"]["generation"], 0);
    let mut found = Vec::new();
    for slices in pools.into_values() {
        let newest = slices.iter().map(|it| generation(it)).max().unwrap_or(0);
        let slices = slices.into_iter().filter(|it| generation(it) == newest);
        let slices: Vec<Arc<Value>> = slices.collect();
        let n = slices.first().map_or(0, |it| int(&it["spec"]["pool"]["resourceSliceCount"], 0));
        if usize::try_from(n) == Ok(slices.len()) {
            found.extend(slices);
        }
    }
    found.sort_by(|a, b| meta::name(a).cmp(meta::name(b)));
    found
}

/// The devices that claims have.
fn taken(world: &World) -> FxHashSet<DeviceId> {
    let mut taken = FxHashSet::default();
    for claim in world.cache.all(Kind::ResourceClaim) {
        for result in items(&claim["status"]["allocation"]["devices"]["results"]) {
            if result["adminAccess"] != true {
                let [driver, pool, device] =
                    ["driver", "pool", "device"].map(|key| text(&result[key]).to_owned());
                taken.insert((driver, pool, device));
            }
        }
    }
    taken
}

/// What is recorded in a claim about its devices.
fn allocation<'c>(
    claim: &Value,
    chosen: impl Iterator<Item = &'c Chosen<'c>>,
    candidates: &[Candidate<'_>],
    node: &Value,
) -> Value {
    let mut results = Vec::new();
    let mut is_bound = false;
    for it in chosen {
        let candidate = &candidates[it.candidate];
        let (driver, pool, device) = &candidate.id;
        let mut result =
            json!({"request": it.way.name, "driver": driver, "pool": pool, "device": device});
        if it.way.is_admin() {
            result["adminAccess"] = true.into();
        }
        results.push(result);
        let spec = &candidate.slice["spec"];
        let place = if spec["perDeviceNodeSelection"] == true { candidate.device } else { spec };
        is_bound |= place["allNodes"] != true;
    }
    let mut devices = json!({"results": results});
    let config = items(&claim["spec"]["devices"]["config"]);
    for entry in config {
        let mut entry = entry.clone();
        entry["source"] = "FromClaim".into();
        meta::push(&mut devices, "config", entry);
    }
    let mut allocation = json!({"devices": devices});
    if is_bound {
        let rule = json!({"key": "metadata.name", "operator": "In", "values": [meta::name(node)]});
        allocation["nodeSelector"] = json!({"nodeSelectorTerms": [{"matchFields": [rule]}]});
    }
    allocation
}
