//! What tests of Terraform providers share: the programs of the providers, and resources of them.
//!
//! `.ci/terraform-providers` builds the programs. Knows nothing of the engine.

pub mod cases;
pub mod oracle;

use async_trait::async_trait;
use kusion_model::{Resource, ResourceId, ResourceType};
use kusion_runtime_terraform::{
    Guard, Limits, NotFound, ProviderAddress, ProviderSource, TerraformRuntime, TerraformSettings,
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use testkit::Missing;

/// The resource type that selects the runtime.
pub const TERRAFORM: &str = "Terraform";

/// The folder of the programs, and the providers in it.
#[derive(Clone, Debug)]
pub struct Programs(PathBuf);

impl Programs {
    /// Finds the programs.
    pub fn find() -> Result<Self, Missing> {
        let folder = std::env::var_os("KUSION_TEST_PROVIDERS").map(PathBuf::from).or_else(|| {
            let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"));
            let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home);
            Some(cache?.join("kusion-terraform-providers"))
        });
        let missing =
            || Missing::new("the Terraform providers of the tests: run `.ci/terraform-providers`");
        let programs = Self(folder.ok_or_else(missing)?);
        for name in ["probe", "legacy", "time", "local"] {
            if !programs.program_of(name).is_file() {
                return Err(missing());
            }
        }
        Ok(programs)
    }

    /// Returns the program of a provider.
    pub fn program_of(&self, name: &str) -> PathBuf {
        self.0.join(format!("terraform-provider-{name}"))
    }

    /// Returns a runtime of these providers, with this program as their guard.
    pub fn runtime(&self) -> Arc<TerraformRuntime> {
        Arc::new(TerraformRuntime::new(TerraformSettings {
            source: Arc::new(self.clone()),
            environment: std::env::vars_os().collect(),
            guard: std::env::current_exe().ok().map(|program| Guard { program }),
            limits: Limits::default(),
            configs: std::collections::BTreeMap::new(),
            consent: None,
            pool: Arc::default(),
        }))
    }
}

#[async_trait]
impl ProviderSource for Programs {
    async fn program(&self, address: &ProviderAddress, _: &str) -> Result<PathBuf, NotFound> {
        Ok(self.program_of(&address.name))
    }
}

/// Returns a resource of a type, whose provider is the first part of the type. Its objects are in a
/// folder.
pub fn resource(type_name: &str, name: &str, folder: &Path, attributes: Value) -> Resource {
    let provider = type_name.split('_').next().unwrap_or_default();
    let mut extensions = serde_json::Map::new();
    extensions.insert("provider".to_owned(), format!("kusion/{provider}/1.0.0").into());
    extensions.insert("resourceType".to_owned(), type_name.into());
    if matches!(provider, "probe" | "legacy") {
        extensions.insert("providerMeta".to_owned(), json!({"folder": folder}));
    }
    Resource {
        id: ResourceId::new(format!("kusion:{provider}:{type_name}:{name}")),
        resource_type: ResourceType::new(TERRAFORM),
        attributes: attributes.into(),
        depends_on: Vec::new(),
        extensions,
    }
}

/// A folder that is removed at the end of a test.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// Creates a folder.
    pub fn new(name: &str) -> std::io::Result<Self> {
        let name = format!("kusion-terraform-suite-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path)?;
        Ok(Self(path))
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Returns the names of its files, sorted.
    pub fn files(&self) -> Vec<String> {
        let files = std::fs::read_dir(&self.0).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            files.map(|it| it.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
