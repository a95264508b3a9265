//! What tests of hosts share: an SSH server with many ports, each of which is a host, and resources.
//!
//! Knows nothing of the engine.

mod server;
mod stand_ins;

pub use server::{Behaviour, Server};
pub use stand_ins::{StandIns, Supervisor};

use kusion_model::{Resource, ResourceId, ResourceType};
use kusion_runtime_host::{HostSettings, Hosts, Limits, RESOURCE_TYPE, Ssh};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Returns a resource on a host.
pub fn resource(kind: &str, host: &str, name: &str, attributes: Value) -> Resource {
    Resource {
        id: ResourceId::new(format!("host:{kind}:{host}:{name}")),
        resource_type: ResourceType::new(RESOURCE_TYPE),
        attributes: attributes.into(),
        depends_on: Vec::new(),
        extensions: serde_json::Map::new(),
    }
}

/// Returns settings without an SSH server.
pub fn settings(hosts: Hosts) -> HostSettings {
    let ssh = Ssh {
        program: "ssh".into(),
        config: None,
        environment: std::env::vars_os().collect(),
        folder: std::env::temp_dir(),
    };
    HostSettings { hosts, ssh, limits: Limits::default() }
}

/// A folder that is removed at the end of a test.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// Creates a folder.
    pub fn new(name: &str) -> std::io::Result<Self> {
        let name = format!("kusion-hosts-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path)?;
        Ok(Self(path))
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Returns the path of a file in it, as a text.
    pub fn join(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    /// Returns the paths of all files and folders below it, sorted.
    pub fn files(&self) -> Vec<String> {
        let (mut all, mut open) = (Vec::new(), vec![self.0.clone()]);
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                let below = path.strip_prefix(&self.0).unwrap_or(&path);
                all.push(below.display().to_string());
                if entry.file_type().is_ok_and(|it| it.is_dir()) {
                    open.push(path);
                }
            }
        }
        all.sort();
        all
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
