//! The effects of using a kubeconfig from a repository.

use crate::connect::unreadable;
use blake3::Hasher;
use kube::config::{AuthInfo, Kubeconfig};
use kusion_runtime::RuntimeError;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// Maximum size of a kubeconfig, and of a file that it refers to.
const MAX_SIZE: u64 = 16 << 20;

/// The effects of using a kubeconfig.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KubeconfigEffects {
    /// The addresses of servers that get requests, with the secrets of stacks.
    pub servers: Vec<String>,
    /// The command lines of programs that are started.
    pub programs: Vec<String>,
    /// Files whose contents are sent to a server.
    pub files: Vec<PathBuf>,
    /// A fingerprint of the kubeconfig and of the files that it refers to.
    pub digest: String,
}

/// Reads a kubeconfig without using it.
///
/// # Errors
/// The file cannot be read, is too large, or is not a kubeconfig.
pub fn inspect(path: &Path) -> Result<KubeconfigEffects, RuntimeError> {
    let text = read(path).map_err(|error| unreadable(path, &error))?;
    // The file may be anything that the repository names: errors must not quote it.
    let wrong = || unreadable(path, &io::Error::other("not a valid kubeconfig"));
    let text = String::from_utf8(text).map_err(|_| wrong())?;
    let folder = path.parent().unwrap_or(Path::new("."));
    inspect_text(&text, folder).ok_or_else(wrong)
}

/// Reads the text of a kubeconfig in a folder, without using it; `None` if it is not a kubeconfig.
pub fn inspect_text(text: &str, folder: &Path) -> Option<KubeconfigEffects> {
    let mut hasher = Hasher::new();
    hasher.update(text.as_bytes());
    let config = Kubeconfig::from_yaml(text).ok()?;
    let mut effects = KubeconfigEffects {
        servers: Vec::new(),
        programs: Vec::new(),
        files: Vec::new(),
        digest: String::new(),
    };
    for cluster in config.clusters.iter().filter_map(|it| it.cluster.as_ref()) {
        effects.servers.extend(cluster.server.clone());
        effects.servers.extend(cluster.proxy_url.clone());
    }
    for user in config.auth_infos.iter().filter_map(|it| it.auth_info.as_ref()) {
        let words = program(user);
        // A program or script of the repository may change without the kubeconfig.
        for word in &words {
            add_file(&mut hasher, &folder.join(word));
            add_file(&mut hasher, Path::new(word));
        }
        if !words.is_empty() {
            effects.programs.push(words.join(" "));
        }
        let files = [&user.token_file, &user.client_certificate, &user.client_key];
        for file in files.into_iter().flatten() {
            // Named, not read: it is not trusted yet, and credentials change.
            effects.files.push(folder.join(file));
        }
    }
    effects.digest = hasher.finalize().to_hex().to_string();
    Some(effects)
}

/// Returns the command line of the program that gives the credentials of a user, with the
/// environment variables that the kubeconfig sets: they can decide what is started.
fn program(user: &AuthInfo) -> Vec<String> {
    if let Some(exec) = &user.exec {
        let variables = exec
            .env
            .iter()
            .flatten()
            .filter_map(|it| Some(format!("{}={}", it.get("name")?, it.get("value")?)));
        let words = exec.command.iter().chain(exec.args.iter().flatten());
        return variables.chain(words.cloned()).collect();
    }
    let Some(provider) = &user.auth_provider else { return Vec::new() };
    let command = provider.config.get("cmd-path").cloned();
    let words = provider.config.get("cmd-args").map(|it| it.split(' ').map(str::to_owned));
    command.into_iter().chain(words.into_iter().flatten()).collect()
}

fn add_file(hasher: &mut Hasher, path: &Path) {
    if let Ok(bytes) = read(path) {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(&bytes);
    }
}

/// Reads a regular file of limited size.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let facts = std::fs::metadata(path)?;
    if !facts.is_file() || facts.len() > MAX_SIZE {
        return Err(io::Error::other("not a regular file of up to 16 MiB"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_SIZE).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_programs_and_files_are_named() {
        let folder = std::env::temp_dir().join(format!("kusion-inspect-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let file = folder.join("config");
        let text = "clusters: [{name: a, cluster: {server: 'https://a.example'}}]\n\
             users:\n\
             - {name: u, user: {exec: {command: ./login.sh, args: [-x], env: [{name: A, value: b}]}}}\n\
             - {name: t, user: {tokenFile: secret}}\n";
        std::fs::write(&file, text).expect("written");
        std::fs::write(folder.join("login.sh"), "echo 1").expect("written");
        let before = inspect(&file).expect("a kubeconfig");
        assert_eq!(before.servers, ["https://a.example"]);
        assert_eq!(before.programs, ["A=b ./login.sh -x"]);
        assert_eq!(before.files, [folder.join("secret")]);
        std::fs::write(folder.join("secret"), "token").expect("written");
        assert_eq!(before.digest, inspect(&file).expect("a kubeconfig").digest, "tokens change");
        std::fs::write(folder.join("login.sh"), "echo 2").expect("written");
        let after = inspect(&file).expect("a kubeconfig");
        assert_ne!(before.digest, after.digest, "the program is part of it");
        std::fs::write(&file, "clusters: CANARY").expect("written");
        let refused = inspect(&file).expect_err("not a kubeconfig").to_string();
        assert!(refused.ends_with("not a valid kubeconfig"), "{refused}");
        let refused = inspect(Path::new("/dev/zero")).expect_err("endless").to_string();
        assert!(refused.contains("not a regular file"), "{refused}");
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
