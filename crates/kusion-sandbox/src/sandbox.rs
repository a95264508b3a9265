//! A running sandbox: cluster, reconcilers and server in this process.

use crate::api::Api;
use crate::controllers::{ControllerOptions, Controllers};
use crate::credentials::Credentials;
use crate::faults::Faults;
use crate::http::{Access, Limits, Server, serve};
use crate::lifecycle::bootstrap::ServerAddress;
use crate::pods::nodes::Nodes;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;

/// How a sandbox is started.
#[derive(Debug, Clone)]
pub struct Options {
    /// Its name, for the kubeconfig.
    pub name: String,
    /// The port on the loopback address; 0 takes a free one.
    pub port: u16,
    /// Serve plain HTTP, and accept clients without credentials.
    pub plain: bool,
    /// Token and certificate; `None` makes random ones.
    pub credentials: Option<Credentials>,
    /// The nodes.
    pub nodes: Nodes,
    /// The folder that keeps the objects; `None` keeps them in memory only.
    pub data: Option<PathBuf>,
    /// Whether reconcilers run and the usual objects (namespaces, nodes) are there.
    pub reconcile: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            name: "sandbox".to_owned(),
            port: 0,
            plain: false,
            credentials: None,
            nodes: Nodes::default(),
            data: None,
            reconcile: true,
        }
    }
}

/// A running sandbox; it ends when it is dropped.
#[derive(Debug)]
pub struct Sandbox {
    api: Api,
    faults: Faults,
    name: String,
    address: SocketAddr,
    plain: bool,
    credentials: Credentials,
    runtime: Option<Runtime>,
    controllers: Option<Controllers>,
}

impl Sandbox {
    /// Starts a sandbox; it answers when this returns.
    ///
    /// # Errors
    /// The port is taken, certificates cannot be made, or the data folder cannot be used.
    pub fn start(options: Options) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, options.port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let credentials = options.credentials.map_or_else(Credentials::generate, Ok)?;
        let tls = if options.plain { None } else { Some(credentials.acceptor()?) };
        let api = options.data.as_deref().map_or_else(|| Ok(Api::new()), open_data)?;
        let controllers = if options.reconcile {
            let controllers = ControllerOptions {
                server: ServerAddress { ip: address.ip().to_string(), port: address.port() },
                // Pods expect a root certificate in every namespace, with or without TLS.
                root_ca: credentials.authority().into(),
                nodes: options.nodes,
                ..ControllerOptions::default()
            };
            Some(Controllers::start(api.clone(), &controllers).map_err(io::Error::other)?)
        } else {
            None
        };
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("sandbox-http")
            .enable_all()
            .build()?;
        let limits = Limits::default();
        let faults = Faults::new(api.clone());
        let access = Access {
            token: credentials.token().to_owned(),
            guests: options.plain,
            scheme: scheme(options.plain),
        };
        let server = Server {
            api: api.clone(),
            access,
            faults: faults.clone(),
            address: address.to_string(),
            tls,
            limits,
            bodies: Semaphore::new(limits.bodies),
        };
        let listener = {
            let _guard = runtime.enter();
            tokio::net::TcpListener::from_std(listener)?
        };
        runtime.spawn(serve(server, listener));
        Ok(Self {
            api,
            faults,
            name: options.name,
            address,
            plain: options.plain,
            credentials,
            runtime: Some(runtime),
            controllers,
        })
    }

    /// Returns the cluster, for use in this process.
    pub fn api(&self) -> &Api {
        &self.api
    }

    /// Returns the faults that the sandbox commits on purpose.
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// Returns the address at which the server listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the URL of the server.
    pub fn url(&self) -> String {
        format!("{}://{}", scheme(self.plain), self.address)
    }

    /// Returns the token that clients must send.
    pub fn token(&self) -> &str {
        self.credentials.token()
    }

    /// Returns a kubeconfig that leads to the sandbox.
    pub fn kubeconfig(&self) -> String {
        let name = format!("kusion-{}", self.name);
        let authority = if self.plain {
            String::new()
        } else {
            let data = data_encoding::BASE64.encode(self.credentials.authority().as_bytes());
            format!("\n    certificate-authority-data: {data}")
        };
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
            self.token()
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

/// Opens a data folder; errors name it.
fn open_data(folder: &Path) -> io::Result<Api> {
    Api::open(folder).map_err(|error| {
        let message = format!("cannot use the data folder `{}`: {error}", folder.display());
        io::Error::new(error.kind(), message)
    })
}

fn scheme(plain: bool) -> &'static str {
    if plain { "http" } else { "https" }
}
