//! Credentials of registries: those of `kcl registry login`, and those of docker and podman.

use base_system::System;
use data_encoding::BASE64;
use kcl_pkg::{Repository, is_safe_word, package_home};
use serde_json::{Map, Value, json};
use std::fmt;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The largest file of credentials, and the largest answer of a helper, in bytes.
const MAX_SIZE: u64 = 1 << 20;

/// The name that docker uses for its own registry.
const DOCKER_HUB: &str = "https://index.docker.io/v1/";

/// What identifies a user to a registry.
#[derive(Clone, PartialEq, Eq)]
pub enum Credential {
    /// User and password.
    Password {
        /// The user.
        user: String,
        /// The password.
        password: String,
    },
    /// A token that is exchanged for others.
    Token(String),
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credential(hidden)")
    }
}

impl Credential {
    /// Returns the value of `Authorization` for user and password.
    pub(crate) fn basic(&self) -> Option<String> {
        match self {
            Self::Password { user, password } => {
                Some(format!("Basic {}", BASE64.encode(format!("{user}:{password}").as_bytes())))
            }
            Self::Token(_) => None,
        }
    }
}

/// The files that credentials are in.
#[derive(Clone, Debug, Default)]
pub struct Credentials {
    /// The file of `kcl registry login`.
    own: Option<PathBuf>,
    /// All files, in the order in which they are searched.
    files: Vec<PathBuf>,
}

impl Credentials {
    /// Determines the files from the environment.
    pub fn from_env(system: &dyn System) -> Self {
        let own = package_home(system).map(|home| home.join(".kpm/config/config.json"));
        let home = system.env("HOME").map(PathBuf::from);
        let below_home = |path: &str| home.as_ref().map(|home| home.join(path));
        let set = |name: &str, path: &str| Some(PathBuf::from(system.env(name)?).join(path));
        let files = [
            own.clone(),
            system.env("REGISTRY_AUTH_FILE").map(PathBuf::from),
            set("DOCKER_CONFIG", "config.json"),
            below_home(".docker/config.json"),
            set("XDG_RUNTIME_DIR", "containers/auth.json"),
            set("XDG_CONFIG_HOME", "containers/auth.json"),
            below_home(".config/containers/auth.json"),
        ];
        Self { own, files: files.into_iter().flatten().collect() }
    }

    /// Returns the credential for a repository; `None` if there is none.
    pub fn find(&self, repository: &Repository) -> Option<Credential> {
        self.files.iter().find_map(|file| find_in(&read(file).ok()??, repository))
    }

    /// Stores a credential, readable for the user only; returns the file.
    pub fn store(&self, registry: &str, credential: &Credential) -> io::Result<PathBuf> {
        let (path, mut config) = self.own_file()?;
        let entry = match credential {
            Credential::Password { user, password } => {
                json!({ "auth": BASE64.encode(format!("{user}:{password}").as_bytes()) })
            }
            Credential::Token(token) => json!({ "identitytoken": token }),
        };
        let auths = config.entry("auths").or_insert_with(|| json!({}));
        if let Value::Object(auths) = auths {
            auths.insert(registry.to_owned(), entry);
        }
        write(&path, &config)?;
        Ok(path)
    }

    /// Removes the stored credential of a registry; returns whether there was one.
    pub fn remove(&self, registry: &str) -> io::Result<bool> {
        let (path, mut config) = self.own_file()?;
        let Some(Value::Object(auths)) = config.get_mut("auths") else { return Ok(false) };
        if auths.remove(registry).is_none() {
            return Ok(false);
        }
        write(&path, &config).map(|()| true)
    }

    fn own_file(&self) -> io::Result<(PathBuf, Map<String, Value>)> {
        let missing = || io::Error::new(io::ErrorKind::NotFound, "HOME is not set");
        let path = self.own.clone().ok_or_else(missing)?;
        let config = read(&path)?.unwrap_or_default();
        Ok((path, config))
    }
}

/// Reads a file of credentials; `None` if there is none.
fn read(path: &Path) -> io::Result<Option<Map<String, Value>>> {
    let file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut text = String::new();
    file.take(MAX_SIZE).read_to_string(&mut text)?;
    match serde_json::from_str(&text) {
        Ok(Value::Object(config)) => Ok(Some(config)),
        _ => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("`{}` is not a JSON object", path.display()),
        )),
    }
}

/// Writes a file that only the user can read.
fn write(path: &Path, config: &Map<String, Value>) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    let text = serde_json::to_string_pretty(config).map_err(io::Error::other)?;
    let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
    let mut options = fs::File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&temporary)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&temporary, path)
}

fn find_in(config: &Map<String, Value>, repository: &Repository) -> Option<Credential> {
    let names = names(repository);
    let text = |value: &Value| value.as_str().filter(|it| !it.is_empty()).map(str::to_owned);
    if let Some(helpers) = config.get("credHelpers").and_then(Value::as_object)
        && let Some((name, helper)) =
            names.iter().find_map(|name| Some((name, text(helpers.get(name)?)?)))
    {
        return ask_helper(&helper, name);
    }
    let auths = config.get("auths").and_then(Value::as_object);
    let entry = auths.and_then(|auths| names.iter().find_map(|name| auths.get(name)));
    if let Some(found) = entry.and_then(read_entry) {
        return Some(found);
    }
    let store = config.get("credsStore").and_then(text)?;
    let server = names.last()?;
    let server = if is_docker_hub(&repository.registry) { DOCKER_HUB } else { server };
    ask_helper(&store, server)
}

/// Returns the names under which a registry is listed: the most precise one first.
fn names(repository: &Repository) -> Vec<String> {
    let registry = &repository.registry;
    let mut names = Vec::new();
    let mut path = repository.path.as_str();
    while !path.is_empty() {
        names.push(format!("{registry}/{path}"));
        path = path.rsplit_once('/').map_or("", |(head, _)| head);
    }
    if is_docker_hub(registry) {
        names.extend([DOCKER_HUB.to_owned(), "docker.io".to_owned()]);
    }
    names.extend([format!("https://{registry}/v1/"), format!("https://{registry}")]);
    names.push(registry.clone());
    names
}

fn is_docker_hub(registry: &str) -> bool {
    matches!(registry, "docker.io" | "index.docker.io" | "registry-1.docker.io")
}

fn read_entry(entry: &Value) -> Option<Credential> {
    let text = |name: &str| entry.get(name)?.as_str().filter(|it| !it.is_empty());
    if let Some(token) = text("identitytoken") {
        return Some(Credential::Token(token.to_owned()));
    }
    if let (Some(user), Some(password)) = (text("username"), text("password")) {
        return Some(Credential::Password { user: user.to_owned(), password: password.to_owned() });
    }
    let plain = String::from_utf8(BASE64.decode(text("auth")?.as_bytes()).ok()?).ok()?;
    let (user, password) = plain.split_once(':')?;
    let password = password.trim_end_matches('\0').to_owned();
    Some(Credential::Password { user: user.to_owned(), password })
}

/// Asks a helper program of the user's own configuration.
fn ask_helper(helper: &str, server: &str) -> Option<Credential> {
    if !is_safe_word(helper) {
        return None;
    }
    let mut child = Command::new(format!("docker-credential-{helper}"))
        .arg("get")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    // A helper that does not read what it is asked has no answer either.
    let _ = child.stdin.take().map(|mut input| input.write_all(server.as_bytes()));
    let mut text = String::new();
    let read = child.stdout.take().map(|output| output.take(MAX_SIZE).read_to_string(&mut text));
    let is_done = child.wait().is_ok_and(|status| status.success());
    if !is_done || !matches!(read, Some(Ok(_))) {
        return None;
    }
    let value: Value = serde_json::from_str(&text).ok()?;
    let field = |name: &str| value.get(name)?.as_str().map(str::to_owned);
    let (user, password) = (field("Username")?, field("Secret")?);
    if user == "<token>" {
        return Some(Credential::Token(password));
    }
    Some(Credential::Password { user, password })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(config: &Value, registry: &str, path: &str) -> Option<Credential> {
        let repository = Repository { registry: registry.into(), path: path.into() };
        find_in(config.as_object().unwrap(), &repository)
    }

    #[test]
    fn entries_of_docker_and_podman() {
        let password = |user: &str, word: &str| Credential::Password {
            user: user.into(),
            password: word.into(),
        };
        let config = json!({ "auths": {
            "ghcr.io": { "auth": BASE64.encode(b"u:p:q") },
            "quay.io/team": { "auth": BASE64.encode(b"team:x") },
            "quay.io": { "username": "all", "password": "y" },
            "https://index.docker.io/v1/": { "identitytoken": "t" },
        }});
        assert_eq!(of(&config, "ghcr.io", "a/b"), Some(password("u", "p:q")));
        assert_eq!(of(&config, "quay.io", "team/x"), Some(password("team", "x")));
        assert_eq!(of(&config, "quay.io", "other/x"), Some(password("all", "y")));
        assert_eq!(of(&config, "docker.io", "a/b"), Some(Credential::Token("t".into())));
        assert_eq!(of(&config, "example.com", "a"), None);
        let helper = json!({ "credHelpers": { "ghcr.io": "../evil" }});
        assert_eq!(of(&helper, "ghcr.io", "a"), None);
    }

    #[test]
    fn debug_output_hides_what_is_secret() {
        let shown = format!("{:?}", Credential::Token("abc".into()));
        assert!(!shown.contains("abc"), "{shown}");
    }
}
