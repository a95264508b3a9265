//! A server behind a kubeconfig.

use std::path::Path;

use anyhow::Result;
use http::Request;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::answer::Answer;
use super::generate::{Method, Step};
use super::kinds::{Kind, custom_definition};
use super::{Target, text};

/// The namespace of all objects.
const NAMESPACE: &str = "replay";

/// A connection to a server.
pub struct Server {
    runtime: Runtime,
    client: Client,
    /// The last object that the server sent, whole.
    pub(super) last: Value,
}

impl Server {
    /// Connects, and makes the namespace and the custom kind.
    pub fn connect(kubeconfig: &Path) -> Result<Self> {
        Self::of(Kubeconfig::read_from(kubeconfig)?)
    }

    /// Connects as a kubeconfig in text says, and makes the namespace and the custom kind.
    pub fn of_text(kubeconfig: &str) -> Result<Self> {
        Self::of(Kubeconfig::from_yaml(kubeconfig)?)
    }

    fn of(kubeconfig: Kubeconfig) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let client = runtime.block_on(async {
            let options = KubeConfigOptions::default();
            let config = Config::from_custom_kubeconfig(kubeconfig, &options).await?;
            anyhow::Ok(Client::try_from(config)?)
        })?;
        let mut server = Self { runtime, client, last: Value::Null };
        let space =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
        server.request("POST", "/api/v1/namespaces", "application/json", &space)?;
        let crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        server.request("POST", crds, "application/json", &custom_definition())?;
        server.wait_for_custom_kind()?;
        Ok(server)
    }

    fn wait_for_custom_kind(&mut self) -> Result<()> {
        let things = Kind::Thing.collection(NAMESPACE);
        for _ in 0..100 {
            if self.request("GET", &things, "", &Value::Null)?.0 == 200 {
                return Ok(());
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        anyhow::bail!("the custom kind is not served")
    }

    fn request(
        &mut self,
        method: &str,
        path: &str,
        content: &str,
        body: &Value,
    ) -> Result<(u16, Value)> {
        let bytes = if body.is_null() { Vec::new() } else { serde_json::to_vec(body)? };
        let mut request = Request::builder().method(method).uri(path);
        if !content.is_empty() {
            request = request.header("content-type", content);
        }
        let request =
            request.header("accept", "application/json").body(kube::client::Body::from(bytes))?;
        let (code, bytes) = self.runtime.block_on(async {
            let response = self.client.send(request).await?;
            let code = response.status().as_u16();
            anyhow::Ok((code, response.into_body().collect_bytes().await?))
        })?;
        let body = serde_json::from_slice(&bytes)
            .unwrap_or_else(|_| json!(String::from_utf8_lossy(&bytes).into_owned()));
        Ok((code, body))
    }

    /// Reads the object of a sequence as it is now.
    pub(super) fn current(&mut self, kind: Kind, name: &str) -> Result<Value> {
        let path = format!("{}/{name}", kind.collection(NAMESPACE));
        let (code, body) = self.request("GET", &path, "", &Value::Null)?;
        Ok(if code == 200 { body } else { Value::Null })
    }

    /// Removes the object of a sequence.
    pub(super) fn delete(&mut self, kind: Kind, name: &str) -> Result<()> {
        let path = format!("{}/{name}", kind.collection(NAMESPACE));
        self.request("DELETE", &path, "", &Value::Null)?;
        Ok(())
    }
}

impl Target for Server {
    fn send(&mut self, kind: Kind, name: &str, step: &Step) -> Result<Answer> {
        let mut body = step.body.clone();
        if body.is_object() && step.method != Method::Json {
            body["metadata"]["name"] = json!(name);
        }
        let collection = kind.collection(NAMESPACE);
        if step.method == Method::Create {
            self.delete(kind, name)?;
        }
        let mut path = match step.method {
            Method::Create => collection,
            _ => format!("{collection}/{name}"),
        };
        if !step.subresource.is_empty() {
            path = format!("{path}/{}", step.subresource);
        }
        path = format!("{path}?fieldManager={}", step.manager);
        if step.force {
            path.push_str("&force=true");
        }
        for attempt in 0..10 {
            if step.method == Method::Update {
                let live = self.current(kind, name)?;
                body["metadata"]["resourceVersion"] =
                    json!(text(&live, "/metadata/resourceVersion"));
            }
            let (code, answer) =
                self.request(step.method.verb(), &path, step.method.content_type(), &body)?;
            // Controllers write too; a lost race is tried again.
            let raced = code == 409 && step.method != Method::Apply && attempt < 9;
            if !raced || step.method == Method::Create {
                if code < 400 {
                    self.last = answer.clone();
                }
                return Ok(Answer::of(code, &answer).without_name(name));
            }
        }
        anyhow::bail!("lost every race for {name}")
    }
}

impl Answer {
    /// Replaces the name of the object, so that answers to any name are alike.
    pub(super) fn without_name(mut self, name: &str) -> Self {
        self.message = self.message.replace(name, "NAME");
        if let Some(slot) = self.object.pointer_mut("/metadata/name") {
            *slot = json!("NAME");
        }
        self
    }
}
