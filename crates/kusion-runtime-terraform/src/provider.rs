//! A running provider, whose calls are methods.

mod calls;
mod values;

pub use values::{Applied, ApplyInput, Imported, MoveInput, PlanInput, Planned, ReadResult};

use crate::Launch;
use crate::diagnostic::{Diagnostic, warnings};
use crate::error::{ProviderError, printable};
use crate::host::connection::Connection;
use crate::host::output::Tail;
use crate::host::process::Process;
use crate::limits::Limits;
use crate::schema::{Schemas, from_v5, from_v6};
use crate::wire::messages::{ClientCapabilities, Empty, StdioData};
use crate::wire::schemas::{v5, v6};
use crate::wire::{Call, Protocol};
use http::uri::PathAndQuery;
use kusion_secret::Redactor;
use prost::Message;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OnceCell;
use tonic::{Request, Status};
use tonic_prost::ProstCodec;

/// The version of the language of Terraform whose providers work; they may ask for it.
const TERRAFORM_VERSION: &str = "1.11.0";

/// A running provider. Its process is killed when this value is dropped; [`Provider::shut_down`]
/// asks it to end before.
pub struct Provider {
    name: String,
    limits: Limits,
    redactor: Redactor,
    protocol: Protocol,
    connection: Connection,
    process: Process,
    tail: Tail,
    schemas: OnceCell<Arc<Schemas>>,
}

impl Provider {
    /// Takes over a program that is started and connected.
    pub(crate) fn new(
        launch: Launch,
        protocol: Protocol,
        connection: Connection,
        process: Process,
        tail: Tail,
    ) -> Self {
        let Launch { name, limits, redactor, .. } = launch;
        tokio::spawn(read_output(name.clone(), connection.clone(), redactor.clone()));
        let schemas = OnceCell::new();
        Self { name, limits, redactor, protocol, connection, process, tail, schemas }
    }

    /// Returns its name for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the version of the protocol that it speaks.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// Returns whether its program still runs.
    pub fn is_running(&self) -> bool {
        self.process.status().is_none()
    }

    /// Returns the number of its process while it runs.
    pub fn process_id(&self) -> Option<i32> {
        self.process.id()
    }

    /// Returns its schemas, which are read once.
    pub async fn schemas(&self) -> Result<&Arc<Schemas>, ProviderError> {
        self.schemas.get_or_try_init(|| async { self.read_schemas().await.map(Arc::new) }).await
    }

    async fn read_schemas(&self) -> Result<Schemas, ProviderError> {
        let call = Call::Schema;
        let (schemas, found) = match self.protocol {
            Protocol::V5 => {
                let mut response: v5::Response = self.ask(call, Empty {}).await?;
                let found = std::mem::take(&mut response.diagnostics);
                (from_v5(response), found)
            }
            Protocol::V6 => {
                let mut response: v6::Response = self.ask(call, Empty {}).await?;
                let found = std::mem::take(&mut response.diagnostics);
                (from_v6(response), found)
            }
        };
        warnings(found)?;
        schemas.map_err(|message| self.invalid(call, &message))
    }

    /// Makes a call that changes nothing.
    async fn ask<Q, R>(&self, call: Call, request: Q) -> Result<R, ProviderError>
    where
        Q: Message + Send + Sync + 'static,
        R: Message + Default + Send + Sync + 'static,
    {
        self.call(call, request, self.limits.call).await
    }

    async fn call<Q, R>(&self, call: Call, request: Q, limit: Duration) -> Result<R, ProviderError>
    where
        Q: Message + Send + Sync + 'static,
        R: Message + Default + Send + Sync + 'static,
    {
        let path = self.protocol.path(call);
        let answer = Box::pin(unary(&self.connection, self.limits.message, path, request));
        match tokio::time::timeout(limit, answer).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(status)) => Err(self.failure(call, &status).await),
            Err(_) => {
                let provider = self.name.clone();
                Err(ProviderError::TimedOut { provider, call, after: limit })
            }
        }
    }

    /// Returns the error of a failed call: perhaps the program ended.
    async fn failure(&self, call: Call, status: &Status) -> ProviderError {
        let provider = self.name.clone();
        let is_cut = matches!(
            status.code(),
            tonic::Code::Unavailable | tonic::Code::Unknown | tonic::Code::Cancelled
        );
        let grace = Duration::from_millis(if is_cut { 500 } else { 0 });
        match tokio::time::timeout(grace, self.process.ended()).await {
            Ok(status) => {
                let output = self.tail.last().await;
                ProviderError::Exited { provider, call, status, output }
            }
            Err(_) => {
                let message = printable(&self.redactor.redact(status.message()));
                let message = if message.is_empty() { status.code().to_string() } else { message };
                ProviderError::Failed { provider, call, message }
            }
        }
    }

    fn invalid(&self, call: Call, message: &str) -> ProviderError {
        let message = printable(&self.redactor.redact(message));
        ProviderError::Invalid { provider: self.name.clone(), call, message }
    }

    /// Hides secrets in findings.
    fn hidden(&self, mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
        for it in &mut found {
            it.summary = self.redactor.redact(&it.summary).into_owned();
            it.detail = self.redactor.redact(&it.detail).into_owned();
        }
        found
    }

    /// Asks the provider to cancel its calls; they then end with an error.
    pub async fn cancel(&self) {
        let limit = self.limits.stop;
        let answer =
            self.call::<_, crate::wire::messages::StopResponse>(Call::Stop, Empty {}, limit);
        if let Err(error) = answer.await {
            tracing::debug!("{error}");
        }
    }

    /// Asks the program to end, and kills it if it does not.
    pub async fn shut_down(&self) {
        let path = "/plugin.GRPCController/Shutdown";
        let ask = unary::<_, Empty>(&self.connection, self.limits.message, path, Empty {});
        // Many programs end before they answer.
        let _ = tokio::time::timeout(self.limits.stop, ask).await;
        self.process.end_within(self.limits.stop).await;
    }
}

async fn unary<Q, R>(
    connection: &Connection,
    limit: usize,
    path: &'static str,
    request: Q,
) -> Result<R, Status>
where
    Q: Message + Send + Sync + 'static,
    R: Message + Default + Send + Sync + 'static,
{
    let mut client = connection.client(limit);
    client.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
    let codec = ProstCodec::<Q, R>::default();
    let path = PathAndQuery::from_static(path);
    Ok(client.unary(Request::new(request), path, codec).await?.into_inner())
}

/// Reads what the provider prints through the connection, so that it never waits for a reader.
async fn read_output(name: String, connection: Connection, redactor: Redactor) {
    let mut client = connection.client(MAX_OUTPUT);
    if client.ready().await.is_err() {
        return;
    }
    let path = PathAndQuery::from_static("/plugin.GRPCStdio/StreamStdio");
    let codec = ProstCodec::<Empty, StdioData>::default();
    let Ok(stream) = client.server_streaming(Request::new(Empty {}), path, codec).await else {
        return;
    };
    let mut stream = stream.into_inner();
    while let Ok(Some(part)) = stream.message().await {
        let text = String::from_utf8_lossy(&part.data);
        let text = printable(&redactor.redact(&text));
        tracing::info!(target: "terraform_provider", provider = name, "{text}");
    }
}

/// The largest part of the output.
const MAX_OUTPUT: usize = 1 << 20;

/// What this side understands.
const CAPABILITIES: ClientCapabilities =
    ClientCapabilities { deferral_allowed: false, write_only_attributes_allowed: true };
