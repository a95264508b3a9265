//! An OCI registry in the process of the test, with faults on demand.

#![expect(clippy::unwrap_used, reason = "a test registry that is broken has failed")]

use super::server::{Answer, Request, serve};
use data_encoding::{BASE64, HEXLOWER};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// How the registry identifies users.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Login {
    /// Not at all.
    #[default]
    Open,
    /// By user and password.
    Basic,
    /// By a token, for user and password.
    Bearer,
}

/// The user and the password that are accepted.
pub(super) const USER: &str = "me";
pub(super) const PASSWORD: &str = "secret-word";
const TOKEN: &str = "granted";

#[derive(Default)]
pub(super) struct State {
    pub(super) blobs: BTreeMap<String, Vec<u8>>,
    /// By repository and tag.
    pub(super) manifests: BTreeMap<(String, String), Vec<u8>>,
    /// How often each blob was downloaded.
    pub(super) downloads: usize,
    /// How often anything was requested.
    pub(super) requests: usize,
    /// Whether downloads of blobs end in the middle.
    pub(super) cuts: bool,
    /// Where downloads of blobs are sent to.
    pub(super) elsewhere: Option<String>,
    /// Whether downloads of blobs stop in the middle and wait.
    pub(super) hangs: bool,
    login: Login,
    port: u16,
}

#[derive(Clone)]
pub(crate) struct Registry {
    pub(super) state: Arc<Mutex<State>>,
    pub(crate) host: String,
}

impl Registry {
    pub(crate) fn start(login: Login) -> Self {
        let state = Arc::new(Mutex::new(State { login, ..State::default() }));
        let shared = Arc::clone(&state);
        let port = serve(move |request| shared.lock().unwrap().answer(request));
        state.lock().unwrap().port = port;
        Self { state, host: format!("127.0.0.1:{port}") }
    }

    /// Puts an archive under a tag, whatever is in it.
    pub(super) fn put(&self, repository: &str, tag: &str, archive: &[u8]) {
        let digest = digest(archive);
        let manifest = format!(
            r#"{{"schemaVersion":2,"layers":[{{"mediaType":"application/vnd.oci.image.layer.v1.tar",
            "digest":"{digest}","size":{}}}]}}"#,
            archive.len()
        );
        let mut state = self.state.lock().unwrap();
        state.blobs.insert(digest, archive.to_vec());
        state.manifests.insert((repository.to_owned(), tag.to_owned()), manifest.into_bytes());
    }

    /// Returns how many blobs were downloaded.
    pub(super) fn downloads(&self) -> usize {
        self.state.lock().unwrap().downloads
    }
}

pub(super) fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", HEXLOWER.encode(&Sha256::digest(bytes)))
}

impl State {
    fn answer(&mut self, request: &Request) -> Answer {
        self.requests += 1;
        if request.path == "/token" {
            return if is_user(request) {
                Answer::new(200, format!(r#"{{"token":"{TOKEN}"}}"#))
            } else {
                Answer::new(401, "")
            };
        }
        let authorization = request.header("authorization");
        match self.login {
            Login::Basic if !is_user(request) => {
                return Answer::new(401, "").with("WWW-Authenticate", "Basic realm=\"x\"");
            }
            Login::Bearer if authorization != Some(&format!("Bearer {TOKEN}")) => {
                let port = self.port;
                let challenge =
                    format!("Bearer realm=\"http://127.0.0.1:{port}/token\",service=\"test\"");
                return Answer::new(401, "").with("WWW-Authenticate", &challenge);
            }
            _ => {}
        }
        let Some(rest) = request.path.strip_prefix("/v2/") else { return Answer::new(404, "") };
        if rest.is_empty() {
            return Answer::new(200, "{}");
        }
        self.serve(request, rest).unwrap_or_else(|| Answer::new(404, ""))
    }

    fn serve(&mut self, request: &Request, rest: &str) -> Option<Answer> {
        if let Some(repository) = rest.strip_suffix("/tags/list") {
            let tags = self.manifests.keys().filter(|(it, _)| it == repository);
            let tags: Vec<String> = tags.map(|(_, tag)| format!("\"{tag}\"")).collect();
            let body = format!(r#"{{"name":"{repository}","tags":[{}]}}"#, tags.join(","));
            return Some(Answer::new(200, body));
        }
        if let Some((repository, tag)) = rest.split_once("/manifests/") {
            let key = (repository.to_owned(), tag.to_owned());
            if request.method == "PUT" {
                self.manifests.insert(key, request.body.clone());
                return Some(Answer::new(201, ""));
            }
            let text = self.manifests.get(&key)?.clone();
            return Some(Answer::new(200, text));
        }
        let (repository, blob) = rest.split_once("/blobs/")?;
        if blob.starts_with("uploads/") {
            return Some(match request.method.as_str() {
                "POST" => Answer::new(202, "")
                    .with("Location", &format!("/v2/{repository}/blobs/uploads/1?state=x")),
                _ => {
                    let digest = digest(&request.body);
                    let named = request.query.replace("%3A", ":");
                    assert!(named.ends_with(&format!("digest={digest}")), "{named}");
                    self.blobs.insert(digest, request.body.clone());
                    Answer::new(201, "")
                }
            });
        }
        let bytes = self.blobs.get(blob)?.clone();
        if request.method == "HEAD" {
            return Some(Answer::new(200, bytes));
        }
        self.downloads += 1;
        if let Some(url) = &self.elsewhere {
            return Some(Answer::new(307, "").with("Location", url));
        }
        let cut = self.cuts.then_some(bytes.len() / 2);
        let cut = cut.or(self.hangs.then_some(bytes.len() / 2));
        Some(Answer { cut, hangs: self.hangs, ..Answer::new(200, bytes) })
    }
}

fn is_user(request: &Request) -> bool {
    let expected = format!("Basic {}", BASE64.encode(format!("{USER}:{PASSWORD}").as_bytes()));
    request.header("authorization") == Some(&expected)
}
