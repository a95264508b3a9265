//! A place where operations are killed.

use crate::stacks::{Variant, spec};
use anyhow::{Context as _, Result, bail, ensure};
use kusion_model::{Phase, Place, ResourceId, StackKey};
use kusion_runtime_fake::FileRuntime;
use kusion_sandbox::{Sandbox, Scope, Selection};
use kusion_secret::Sealer;
use kusion_store::{Store, StoreKey};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// What operations change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Infrastructure {
    /// Files whose names the runtime chooses.
    Folder,
    /// An embedded cluster.
    Cluster,
    /// Files of this machine, as a host.
    Host,
}

/// A state, an infrastructure and a driver.
pub struct Arena {
    driver: PathBuf,
    root: PathBuf,
    place: String,
    size: usize,
    /// A name that no other arena has: several may share a store.
    name: String,
    backend: String,
    sandbox: Option<Sandbox>,
}

/// How a run ended that was to be killed.
#[derive(Debug)]
pub enum Run {
    /// It was killed.
    Killed,
    /// It got through.
    Finished,
    /// It ended with an error of its own.
    Refused(String),
}

/// What the state says.
pub(crate) struct Known {
    /// The identities of the objects that it knows.
    pub(crate) resources: BTreeMap<ResourceId, String>,
    /// The identities of objects that replacements have left behind.
    pub(crate) leftovers: BTreeSet<String>,
    /// The resources with calls that have no ending.
    pub(crate) pending: BTreeSet<ResourceId>,
    /// Whether a release is open.
    pub(crate) is_open: bool,
}

/// An operation that has paused itself.
pub struct Paused(Child);

impl Arena {
    /// Makes a place below `root` for stacks of `size` resources; states lie in a file.
    pub fn new(driver: &Path, root: &Path, what: Infrastructure, size: usize) -> Result<Self> {
        std::fs::create_dir_all(root.join("home"))?;
        let (place, sandbox) = match what {
            Infrastructure::Folder => (format!("folder:{}", root.join("things").display()), None),
            Infrastructure::Host => (format!("host:{}", root.join("files").display()), None),
            Infrastructure::Cluster => {
                let sandbox = Sandbox::start(kusion_sandbox::Options::default())?;
                let path = root.join("kubeconfig");
                std::fs::write(&path, sandbox.kubeconfig())?;
                (format!("kubeconfig:{}", path.display()), Some(sandbox))
            }
        };
        Ok(Self {
            driver: driver.into(),
            root: root.into(),
            place,
            size,
            name: format!("a{:016x}", fastrand::u64(..)),
            backend: String::new(),
            sandbox,
        })
    }

    /// Keeps states at another address.
    #[must_use]
    pub fn with_backend(self, backend: &str) -> Self {
        Self { backend: backend.to_owned(), ..self }
    }

    fn command(&self, what: &str) -> Command {
        let mut command = Command::new(&self.driver);
        command.arg(self.root.join("home")).arg(&self.place).arg(self.size.to_string()).arg(what);
        command.env("KUSION_BACKEND", &self.backend).env("KUSION_PLACE", &self.name);
        // As over a network: many kills hit between an effect and its record.
        command.env("KUSION_LATENCY_MS", "6");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs an operation to its end; returns the points that it passed.
    pub fn run(&self, what: &str) -> Result<Vec<String>> {
        let output = self.command(what).output()?;
        if !output.status.success() {
            bail!("`{what}` failed: {}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
    }

    /// Runs an operation that ends itself at a point.
    pub fn kill_at(&self, what: &str, point: &str) -> Result<Output> {
        Ok(self.command(what).env("KUSION_DIE_AT", point).output()?)
    }

    /// Runs an operation, one step at a time, until it pauses itself at a point. With several at
    /// a time it could be paused while it writes to the file, which nobody else can do then.
    pub fn pause_at(&self, what: &str, point: &str) -> Result<Paused> {
        let mut command = self.command(what);
        let child = command.env("KUSION_PAUSE_AT", point).env("KUSION_PARALLEL", "1").spawn()?;
        let pid = Pid::from_raw(i32::try_from(child.id())?);
        match waitpid(pid, Some(WaitPidFlag::WUNTRACED))? {
            WaitStatus::Stopped(..) => Ok(Paused(child)),
            other => bail!("`{what}` did not pause at `{point}`: {other:?}"),
        }
    }

    /// Runs an operation to its end, after whoever holds the stack.
    pub fn run_after(&self, what: &str, patience: Duration) -> Result<()> {
        let seconds = patience.as_secs().to_string();
        let output = self.command(what).env("KUSION_LOCK_WAIT", seconds).output()?;
        let error = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "`{what}` failed: {error}");
        Ok(())
    }

    /// Runs an operation and kills it after a time, unless it has ended before.
    pub fn kill_after(&self, what: &str, time: Duration) -> Result<Run> {
        let mut child: Child = self.command(what).stdout(Stdio::null()).spawn()?;
        std::thread::sleep(time);
        child.kill()?;
        let output = child.wait_with_output()?;
        Ok(match output.status.code() {
            None => Run::Killed,
            Some(0) => Run::Finished,
            Some(_) => Run::Refused(String::from_utf8_lossy(&output.stderr).into_owned()),
        })
    }

    /// Checks that the state and the infrastructure hold exactly a stack; none means that both
    /// are empty.
    pub fn check(&self, variant: Option<Variant>) -> Result<()> {
        let Known { resources, leftovers, pending, is_open } = self.state()?;
        ensure!(leftovers.is_empty(), "these objects are left over: {leftovers:?}");
        ensure!(pending.is_empty(), "these calls have no ending: {pending:?}");
        ensure!(!is_open, "a release still runs");
        let mut wanted: BTreeMap<ResourceId, String> = BTreeMap::new();
        if let Some(variant) = variant {
            let spec = spec(&self.place, self.size, variant);
            for resource in spec.resources {
                wanted.insert(resource.id, shape(&resource.attributes));
            }
        }
        let known: Vec<&ResourceId> = resources.keys().collect();
        ensure!(known == wanted.keys().collect::<Vec<_>>(), "the state knows {known:?}");
        let live = self.live()?;
        for (id, keys) in &live {
            ensure!(keys.len() == 1, "{id} exists {} times", keys.len());
            let known = resources.get(id).with_context(|| format!("{id} is an orphan"))?;
            ensure!(*known == keys[0].0, "{id} is {} and known as {known}", keys[0].0);
            ensure!(wanted[id] == keys[0].1, "{id} is {}, wanted {}", keys[0].1, wanted[id]);
        }
        ensure!(live.len() == wanted.len(), "{} of {} exist", live.len(), wanted.len());
        Ok(())
    }

    /// Reads the state.
    pub(crate) fn state(&self) -> Result<Known> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(self.read_state())
    }

    async fn read_state(&self) -> Result<Known> {
        let sealer = Sealer::new([7; 32], "a test");
        let store_key = StoreKey::new(sealer.fingerprint(), sealer.store_key());
        let store = Store::open(&self.backend, &self.root.join("home"), store_key).await?;
        let place = Place::Named(self.name.clone());
        let state = store.read(&StackKey::new("crash", "test", place)).await?;
        store.close().await;
        let in_cluster = self.sandbox.is_some();
        let leftovers = state.resources.values().flat_map(|it| &it.leftovers);
        let leftovers = leftovers.map(|it| it.identity.key.clone()).collect();
        let known = state.resources.into_iter().map(|(id, it)| {
            let identity = if in_cluster { it.identity.uid } else { Some(it.identity.key) };
            (id, identity.unwrap_or_default())
        });
        Ok(Known {
            resources: known.collect(),
            leftovers,
            pending: state.pending.into_iter().map(|it| it.id).collect(),
            is_open: state.releases.iter().any(|it| it.phase == Phase::Running),
        })
    }

    /// Returns the objects that exist: identity and shape, by resource.
    pub(crate) fn live(&self) -> Result<BTreeMap<ResourceId, Vec<(String, String)>>> {
        let mut live: BTreeMap<ResourceId, Vec<(String, String)>> = BTreeMap::new();
        if let Some(folder) = self.place.strip_prefix("host:") {
            return files(folder);
        }
        let Some(sandbox) = &self.sandbox else {
            let path = self.place.trim_start_matches("folder:");
            let runtime = FileRuntime::open(Path::new(path), "crash/test")?;
            for object in runtime.folder().objects()? {
                let shape = shape(&Value::Object(object.attributes));
                live.entry(object.resource).or_default().push((object.id, shape));
            }
            return Ok(live);
        };
        for (plural, namespace) in [("namespaces", ""), ("configmaps", "crash")] {
            let resource = kusion_sandbox::Resource::new("", "v1", plural);
            let scope = if namespace.is_empty() { Scope::All } else { Scope::Namespace(namespace) };
            let (objects, _) = sandbox
                .api()
                .list(&resource, scope, Selection::default())
                .map_err(|status| anyhow::anyhow!("{status:?}"))?;
            for object in objects {
                let text = |path: &str| object.pointer(path).and_then(Value::as_str);
                let name = text("/metadata/name").unwrap_or_default();
                let id = match (plural, name) {
                    ("namespaces", "crash") => "v1:Namespace:crash".to_owned(),
                    ("configmaps", name) if name.starts_with('c') => {
                        format!("v1:ConfigMap:crash:{name}")
                    }
                    _ => continue,
                };
                let uid = text("/metadata/uid").unwrap_or_default().to_owned();
                live.entry(ResourceId::new(id)).or_default().push((uid, shape(&object)));
            }
        }
        Ok(live)
    }
}

impl Paused {
    /// Returns the number of the process.
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// Lets it go on to its end.
    pub fn go_on(self) -> Result<Output> {
        kill(Pid::from_raw(i32::try_from(self.0.id())?), Signal::SIGCONT)?;
        Ok(self.0.wait_with_output()?)
    }
}

/// Returns the folder and all files in it; hidden ones are leftovers of scripts.
fn files(folder: &str) -> Result<BTreeMap<ResourceId, Vec<(String, String)>>> {
    let mut live: BTreeMap<ResourceId, Vec<(String, String)>> = BTreeMap::new();
    let mut add = |id: String, shape: String| {
        live.entry(ResourceId::new(id.as_str())).or_default().push((id, shape));
    };
    if !Path::new(folder).is_dir() {
        return Ok(live);
    }
    add(format!("host:directory:here:{folder}"), String::new());
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        // A script that still runs may be about to remove it.
        let Ok(content) = std::fs::read_to_string(Path::new(folder).join(&name)) else { continue };
        if !name.starts_with(".kusion-") {
            add(format!("host:file:here:{folder}/{name}"), content);
        }
    }
    Ok(live)
}

/// Returns the values by which variants differ.
fn shape(attributes: &Value) -> String {
    ["/data/value", "/plain", "/fixed", "/content"]
        .iter()
        .filter_map(|path| attributes.pointer(path).and_then(Value::as_str))
        .collect::<Vec<_>>()
        .join(" ")
}
