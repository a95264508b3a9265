//! From a kubeconfig to a client.

use crate::credentials;
use kube::client::ClientBuilder;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use kusion_runtime::RuntimeError;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The source of a connection to a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClusterSource {
    /// The sources of kubectl: a given file, else the files of `KUBECONFIG`, else the one in the
    /// home folder, else the service account of the pod.
    Found {
        /// The file of `--kubeconfig`.
        kubeconfig: Option<PathBuf>,
        /// The context; `None` means the current one.
        context: Option<String>,
        /// Who wrote the file.
        owner: ConfigOwner,
    },
    /// The text of a kubeconfig.
    Text(String),
}

impl Default for ClusterSource {
    fn default() -> Self {
        Self::Found { kubeconfig: None, context: None, owner: ConfigOwner::User }
    }
}

/// Who wrote a kubeconfig. Decides what its helper programs see of the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigOwner {
    /// The user: helper programs get all but the variables of kusion.
    User,
    /// The author of a repository: helper programs get `PATH`, `HOME` and the locale.
    Repository,
}

impl ConfigOwner {
    /// Returns whether helper programs may see an environment variable.
    fn shows(self, name: &str) -> bool {
        match self {
            Self::User => !name.starts_with("KUSION_"),
            Self::Repository => {
                matches!(name, "PATH" | "HOME" | "LANG" | "LANGUAGE") || name.starts_with("LC_")
            }
        }
    }

    /// Hides environment variables from the helper programs of a kubeconfig.
    fn restrict(self, kubeconfig: &mut Kubeconfig) {
        let names = std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned());
        let hidden: Vec<String> = names.filter(|name| !self.shows(name)).collect();
        let users = kubeconfig.auth_infos.iter_mut().filter_map(|it| it.auth_info.as_mut());
        for user in users {
            if let Some(exec) = &mut user.exec {
                exec.drop_env = Some(hidden.clone());
            }
        }
    }
}

/// Options of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Number of concurrent calls.
    pub parallel_calls: usize,
    /// Maximum number of calls per second; `None` means no limit.
    pub calls_per_second: Option<u32>,
    /// Timeout of one call.
    pub call_timeout: Duration,
    /// Timeout of a deletion.
    pub delete_timeout: Duration,
    /// A namespace for dry runs of objects whose own namespace does not exist yet. Only for clusters
    /// where such a dry run has no side effects, such as a sandbox.
    pub stand_in_namespace: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            parallel_calls: 16,
            calls_per_second: None,
            call_timeout: Duration::from_mins(1),
            delete_timeout: Duration::from_mins(5),
            stand_in_namespace: None,
        }
    }
}

/// A client with the details of its server.
pub(crate) struct Connection {
    pub(crate) client: Client,
    pub(crate) server: String,
    pub(crate) default_namespace: String,
}

/// Where a connection leads, and who the user is, as messages say it.
struct Target {
    config: Config,
    user: String,
}

/// Creates a client. No request is sent.
pub(crate) async fn connect(source: &ClusterSource) -> Result<Connection, RuntimeError> {
    let Target { mut config, user } = match source {
        ClusterSource::Text(text) => {
            let kubeconfig = Kubeconfig::from_yaml(text)
                .map_err(|error| unavailable(format!("cannot read the kubeconfig: {error}")))?;
            of_kubeconfig(kubeconfig, None, "the kubeconfig", ConfigOwner::User).await?
        }
        ClusterSource::Found { kubeconfig: Some(path), context, owner } => {
            let read = credentials::read(path).map_err(|error| unreadable(path, &*error))?;
            let place = format!("`{}`", path.display());
            of_kubeconfig(read, context.as_deref(), &place, *owner).await?
        }
        ClusterSource::Found { kubeconfig: None, context, .. } => find(context.as_deref()).await?,
    };
    // The engine decides what is retried, and reports it.
    config.default_retry = false;
    if needs_no_certificates(&config) {
        // Otherwise all certificates of the system are read, which takes longer than most requests.
        config.root_cert = Some(Vec::new());
    }
    let server = config.cluster_url.to_string();
    if config.cluster_url.scheme().is_none() {
        return Err(unavailable(format!("the server `{server}` of the kubeconfig is not a URL")));
    }
    let default_namespace = config.default_namespace.clone();
    let token = credentials::settle(&mut config, &user).await.map_err(unavailable)?;
    let builder = ClientBuilder::try_from(config)
        .map_err(|error| unavailable(format!("cannot connect to `{server}`: {}", chain(&error))))?;
    let client = match token {
        Some(token) => builder.with_layer(&token).build(),
        None => builder.build(),
    };
    Ok(Connection { client, server, default_namespace })
}

/// Returns the address of the server of a source, if a kubeconfig contains it.
pub fn server_of(source: &ClusterSource) -> Option<String> {
    let (kubeconfig, context) = match source {
        ClusterSource::Text(text) => (Kubeconfig::from_yaml(text).ok()?, None),
        ClusterSource::Found { kubeconfig: Some(path), context, .. } => {
            (credentials::read(path).ok()?, context.as_deref())
        }
        ClusterSource::Found { kubeconfig: None, context, .. } => {
            let mut merged = Kubeconfig::default();
            for path in default_paths().iter().filter(|it| it.exists()) {
                merged = merged.merge(credentials::read(path).ok()?).ok()?;
            }
            (merged, context.as_deref())
        }
    };
    let name = context.or(kubeconfig.current_context.as_deref())?;
    let context = kubeconfig.contexts.iter().find(|it| it.name == name)?.context.as_ref()?;
    let cluster = kubeconfig.clusters.iter().find(|it| it.name == context.cluster)?;
    cluster.cluster.as_ref()?.server.clone()
}

/// Returns whether the connection uses no certificates.
fn needs_no_certificates(config: &Config) -> bool {
    let is_plain = config.cluster_url.scheme_str() == Some("http");
    is_plain && config.proxy_url.is_none() && config.root_cert.is_none()
}

async fn find(context: Option<&str>) -> Result<Target, RuntimeError> {
    let paths = default_paths();
    let mut merged = Kubeconfig::default();
    let mut found = Vec::new();
    for path in &paths {
        if !path.exists() {
            continue;
        }
        let read = credentials::read(path).map_err(|error| unreadable(path, &*error))?;
        merged = merged.merge(read).map_err(|error| unreadable(path, &error))?;
        found.push(format!("`{}`", path.display()));
    }
    if !found.is_empty() {
        return of_kubeconfig(merged, context, &found.join(", "), ConfigOwner::User).await;
    }
    if let Some(context) = context {
        let message = format!("cannot find the context `{context}`: no kubeconfig");
        return Err(unavailable(format!("{message} (looked for {})", list(&paths))));
    }
    let config = Config::incluster().map_err(|_| {
        unavailable(format!(
            "no kubeconfig found (looked for {}), and not running inside a pod",
            list(&paths)
        ))
    })?;
    Ok(Target { config, user: "the service account".to_owned() })
}

/// The files in which kubectl looks.
fn default_paths() -> Vec<PathBuf> {
    let listed: Vec<PathBuf> = std::env::var_os("KUBECONFIG")
        .map(|value| {
            std::env::split_paths(&value).filter(|path| !path.as_os_str().is_empty()).collect()
        })
        .unwrap_or_default();
    if !listed.is_empty() {
        return listed;
    }
    std::env::home_dir().map(|home| home.join(".kube").join("config")).into_iter().collect()
}

async fn of_kubeconfig(
    mut kubeconfig: Kubeconfig,
    context: Option<&str>,
    place: &str,
    owner: ConfigOwner,
) -> Result<Target, RuntimeError> {
    owner.restrict(&mut kubeconfig);
    let mut names: Vec<String> =
        kubeconfig.contexts.iter().map(|context| format!("`{}`", context.name)).collect();
    names.sort_unstable();
    let there = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    match (context, kubeconfig.current_context.as_deref().filter(|name| !name.is_empty())) {
        (Some(name), _) | (None, Some(name)) => {
            if !kubeconfig.contexts.iter().any(|context| context.name == name) {
                let message = format!("{place} has no context `{name}`; available: {there}");
                return Err(unavailable(message));
            }
        }
        (None, None) => {
            let message = format!("{place} has no current context; available: {there}");
            return Err(unavailable(message));
        }
    }
    if let Some(file) = credentials::odd_file(&kubeconfig) {
        let message = format!("cannot use {place}: `{}` is not a regular file", file.display());
        return Err(unavailable(message));
    }
    let user = format!("user `{}` of {place}", user_of(&kubeconfig, context).unwrap_or_default());
    let has_proxy = kubeconfig
        .clusters
        .iter()
        .any(|it| it.cluster.as_ref().is_some_and(|it| it.proxy_url.is_some()));
    let options = KubeConfigOptions { context: context.map(str::to_owned), ..Default::default() };
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &options)
        .await
        .map_err(|error| unavailable(format!("cannot use {place}: {}", chain(&error))))?;
    // A proxy of the environment cannot reach this machine, and must not see what stays on it.
    if !has_proxy && config.cluster_url.host().is_some_and(is_loopback) {
        config.proxy_url = None;
    }
    Ok(Target { config, user })
}

/// Returns the name of the user of a context.
fn user_of(kubeconfig: &Kubeconfig, context: Option<&str>) -> Option<String> {
    let name = context.or(kubeconfig.current_context.as_deref())?;
    let found = kubeconfig.contexts.iter().find(|it| it.name == name)?;
    found.context.as_ref()?.user.clone()
}

/// Returns whether a host is this machine.
fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|it| it.is_loopback())
}

pub(crate) fn unreadable(path: &Path, error: &dyn std::error::Error) -> RuntimeError {
    unavailable(format!("cannot read the kubeconfig `{}`: {}", path.display(), chain(error)))
}

fn unavailable(message: String) -> RuntimeError {
    RuntimeError::Unavailable(message)
}

fn list(paths: &[PathBuf]) -> String {
    let texts: Vec<String> = paths.iter().map(|path| format!("`{}`", path.display())).collect();
    texts.join(", ")
}

/// Writes an error with its causes, each of them once.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let more = cause.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{is_loopback, needs_no_certificates};
    use kube::Config;

    #[test]
    fn this_machine_is_not_reached_through_a_proxy() {
        assert!(["localhost", "127.0.0.1", "127.8.0.1", "[::1]"].into_iter().all(is_loopback));
        assert!(!["127.example.com", "10.0.0.1", "kubernetes"].into_iter().any(is_loopback));
    }

    #[test]
    fn certificates_are_read_where_somebody_proves_who_they_are() {
        let config = |url: &'static str| Config::new(http::Uri::from_static(url));
        assert!(needs_no_certificates(&config("http://127.0.0.1:1")));
        assert!(!needs_no_certificates(&config("https://127.0.0.1:1")));
        let mut behind_proxy = config("http://127.0.0.1:1");
        behind_proxy.proxy_url = Some(http::Uri::from_static("https://127.0.0.1:2"));
        assert!(!needs_no_certificates(&behind_proxy));
    }
}
