//! Plain HTTP requests to an API server.

use anyhow::Context as _;
use bytes::Bytes;
use http::Request;
use http_body_util::BodyExt as _;
use kube::config::{KubeConfigOptions, Kubeconfig};
use std::path::Path;
use std::time::Duration;

/// How long an answer or a watch event may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// A connection to an API server.
#[derive(Clone)]
pub struct Client {
    inner: kube::Client,
}

/// Status, content type, warnings and body of an answer.
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) content_type: String,
    pub(crate) warnings: Vec<String>,
    pub(crate) body: Vec<u8>,
}

impl Client {
    /// Connects to the server that a kubeconfig names.
    pub async fn connect(kubeconfig: &Path) -> anyhow::Result<Self> {
        let config = Kubeconfig::read_from(kubeconfig)
            .with_context(|| format!("reading {}", kubeconfig.display()))?;
        let options = KubeConfigOptions::default();
        let config = kube::Config::from_custom_kubeconfig(config, &options).await?;
        Ok(Self { inner: kube::Client::try_from(config)? })
    }

    /// Uses a client that is there already.
    pub fn from_kube(inner: kube::Client) -> Self {
        Self { inner }
    }

    /// Returns the version of the server (`v1.36.3`).
    pub async fn server_version(&self) -> anyhow::Result<String> {
        Ok(self.inner.apiserver_version().await?.git_version)
    }

    /// Sends a request and reads the whole answer.
    pub(crate) async fn send(&self, request: Request<Vec<u8>>) -> anyhow::Result<Response> {
        let answer = tokio::time::timeout(PATIENCE, async {
            let (head, body) =
                self.inner.send(request.map(kube::client::Body::from)).await?.into_parts();
            anyhow::Ok((head, body.collect().await?.to_bytes().to_vec()))
        });
        let (head, body) = answer.await.context("no answer in time")??;
        Ok(response(&head, body))
    }

    /// Sends a watch and reads its first lines.
    pub(crate) async fn watch(
        &self,
        request: Request<Vec<u8>>,
        n_events: usize,
    ) -> anyhow::Result<Response> {
        let answer = self.inner.send(request.map(kube::client::Body::from));
        let (head, mut body) = tokio::time::timeout(PATIENCE, answer)
            .await
            .context("no answer in time")??
            .into_parts();
        let mut read: Vec<u8> = Vec::new();
        let mut n_lines = 0;
        while n_lines < n_events {
            let Ok(Some(frame)) = tokio::time::timeout(PATIENCE, body.frame()).await else { break };
            let data: Bytes = frame?.into_data().unwrap_or_default();
            n_lines += lines(&data);
            read.extend_from_slice(&data);
        }
        Ok(response(&head, read))
    }
}

fn response(head: &http::response::Parts, body: Vec<u8>) -> Response {
    let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    Response {
        status: head.status.as_u16(),
        content_type: head.headers.get("content-type").map(text).unwrap_or_default(),
        warnings: head.headers.get_all("warning").iter().map(text).collect(),
        body,
    }
}

/// How many lines end in some bytes.
pub(crate) fn lines(bytes: &[u8]) -> usize {
    bytes.split(|byte| *byte == b'\n').count() - 1
}
