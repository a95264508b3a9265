//! A running sandbox: cluster, reconcilers and server in this process.

use crate::api::Api;
use crate::controllers::{ControllerOptions, Controllers};
use crate::http::{Server, serve};
use crate::lifecycle::bootstrap::ServerAddress;
use crate::tls;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use tokio::runtime::{Builder, Runtime};

/// How a sandbox is started.
#[derive(Debug, Clone)]
pub struct Options {
    /// Its name, for the kubeconfig.
    pub name: String,
    /// The port on the loopback address; 0 takes a free one.
    pub port: u16,
    /// Whether connections are encrypted.
    pub tls: bool,
    /// The token that clients must show; none makes a random one.
    pub token: Option<String>,
    /// Whether reconcilers run and the usual objects (namespaces, nodes) are there.
    pub reconcile: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { name: "sandbox".to_owned(), port: 0, tls: false, token: None, reconcile: true }
    }
}

/// A running sandbox; it ends when it is dropped.
#[derive(Debug)]
pub struct Sandbox {
    api: Api,
    name: String,
    address: SocketAddr,
    token: Arc<str>,
    authority: Option<String>,
    runtime: Option<Runtime>,
    controllers: Option<Controllers>,
}

impl Sandbox {
    /// Starts a sandbox; it answers when this returns.
    ///
    /// # Errors
    /// The port is taken, or certificates cannot be made.
    pub fn start(options: Options) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, options.port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let token: Arc<str> = options.token.unwrap_or_else(random_token).into();
        let made = if options.tls { Some(tls::make()?) } else { None };
        let api = Api::new();
        let (authority, tls) =
            made.map_or((None, None), |made| (Some(made.authority), Some(made.acceptor)));
        // Pods expect a root certificate in every namespace, with or without TLS.
        let root_ca: Arc<str> = authority.as_deref().unwrap_or(tls::PLACEHOLDER).into();
        let controllers = if options.reconcile {
            let options = ControllerOptions {
                server: ServerAddress { ip: address.ip().to_string(), port: address.port() },
                root_ca,
                ..ControllerOptions::default()
            };
            Some(Controllers::start(api.clone(), &options).map_err(io::Error::other)?)
        } else {
            None
        };
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("sandbox-http")
            .enable_all()
            .build()?;
        let server = Server {
            api: api.clone(),
            token: Arc::clone(&token),
            address: address.to_string().into(),
            tls,
        };
        let listener = {
            let _guard = runtime.enter();
            tokio::net::TcpListener::from_std(listener)?
        };
        runtime.spawn(serve(server, listener));
        Ok(Self {
            api,
            name: options.name,
            address,
            token,
            authority,
            runtime: Some(runtime),
            controllers,
        })
    }

    /// Returns the cluster, for use in this process.
    pub fn api(&self) -> &Api {
        &self.api
    }

    /// Returns the address at which the server listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the URL of the server.
    pub fn url(&self) -> String {
        let scheme = if self.authority.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// Returns the token that clients must show.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Returns a kubeconfig that leads to the sandbox.
    pub fn kubeconfig(&self) -> String {
        let name = format!("kusion-{}", self.name);
        let authority = self.authority.as_ref().map_or(String::new(), |pem| {
            let data = data_encoding::BASE64.encode(pem.as_bytes());
            format!("\n    certificate-authority-data: {data}")
        });
        format!(
            "apiVersion: v1\n\
             kind: Config\n\
             clusters:\n\
             - name: {name}\n\
             \x20 cluster:\n\
             \x20   server: {}{authority}\n\
             users:\n\
             - name: {name}\n\
             \x20 user:\n\
             \x20   token: {}\n\
             contexts:\n\
             - name: {name}\n\
             \x20 context:\n\
             \x20   cluster: {name}\n\
             \x20   user: {name}\n\
             current-context: {name}\n",
            self.url(),
            self.token
        )
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        drop(self.controllers.take());
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Returns a token that cannot be guessed: hashes under keys that the system made at random.
fn random_token() -> String {
    use std::hash::BuildHasher as _;
    let part = |number: u8| std::hash::RandomState::new().hash_one(number);
    format!("{:016x}{:016x}", part(0), part(1))
}
