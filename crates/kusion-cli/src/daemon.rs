//! A sandbox in the background: its state file, and how it is spoken to.
//!
//! A running sandbox listens on a second loopback port for one-line orders that carry a secret
//! of its state file. Whether it runs is found out by asking, never from the process number, so
//! a file that a crash left behind is no obstacle.

use crate::failure::Failure;
use crate::home;
use serde_json::{Value, json};
use std::fs;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What a sandbox says to an order that it obeys.
pub(crate) const OBEYED: &str = "ok";
/// What it says to an order that is not meant for it.
pub(crate) const REFUSED: &str = "refused";
/// How long a sandbox may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a connection to this machine may take.
const CONNECT: Duration = Duration::from_millis(500);

/// What became of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reply {
    /// The sandbox obeys.
    Obeyed,
    /// Somebody listens, but says nothing.
    Silent,
    /// There is no such sandbox any more.
    Gone,
}

/// What the state file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Daemon {
    pub(crate) name: String,
    pub(crate) pid: u32,
    pub(crate) url: String,
    pub(crate) port: u16,
    pub(crate) tls: bool,
    pub(crate) token: String,
    /// The port for orders.
    pub(crate) control: u16,
    /// The word that orders must carry.
    pub(crate) secret: String,
}

impl Daemon {
    /// Reads the state of a sandbox; none when there is no readable one.
    pub(crate) fn load(name: &str) -> Result<Option<Self>, Failure> {
        let text = fs::read_to_string(home::sandbox(name)?.join("state.json")).unwrap_or_default();
        Ok(serde_json::from_str(&text).ok().as_ref().and_then(Self::from_value))
    }

    fn from_value(value: &Value) -> Option<Self> {
        let text = |key: &str| value.get(key)?.as_str().map(str::to_owned);
        let port = |key: &str| u16::try_from(value.get(key)?.as_u64()?).ok();
        Some(Self {
            name: text("name")?,
            pid: u32::try_from(value.get("pid")?.as_u64()?).ok()?,
            url: text("url")?,
            port: port("port")?,
            tls: value.get("tls")?.as_bool()?,
            token: text("token")?,
            control: port("control")?,
            secret: text("secret")?,
        })
    }

    /// Writes the state file.
    pub(crate) fn save(&self) -> Result<(), Failure> {
        let value = json!({
            "version": 1,
            "name": self.name,
            "pid": self.pid,
            "url": self.url,
            "port": self.port,
            "tls": self.tls,
            "token": self.token,
            "control": self.control,
            "secret": self.secret,
        });
        write_private(&home::sandbox(&self.name)?.join("state.json"), &value.to_string())
    }

    /// Returns where the kubeconfig lies.
    pub(crate) fn kubeconfig(&self) -> Result<PathBuf, Failure> {
        Ok(home::sandbox(&self.name)?.join("kubeconfig"))
    }

    /// Returns whether the sandbox answers.
    pub(crate) fn is_running(&self) -> bool {
        self.order("ping", PATIENCE) == Reply::Obeyed
    }

    /// Gives an order. A sandbox on a busy machine may be slow to answer, so only a port that
    /// nobody listens on, or that somebody else does, means that it is gone.
    pub(crate) fn order(&self, word: &str, patience: Duration) -> Reply {
        let end = Instant::now() + patience;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.ask(word, left.max(Duration::from_millis(1))) {
                Ok(line) if line == OBEYED => return Reply::Obeyed,
                Ok(line) if !line.is_empty() => return Reply::Gone,
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => return Reply::Gone,
                _ if Instant::now() >= end => return Reply::Silent,
                _ => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    }

    /// Returns whether somebody listens for orders; a process that hangs does, too.
    pub(crate) fn listens(&self) -> bool {
        let refused = ErrorKind::ConnectionRefused;
        !self.connect(CONNECT).is_err_and(|error| error.kind() == refused)
    }

    fn ask(&self, word: &str, patience: Duration) -> io::Result<String> {
        let mut stream = self.connect(patience.min(CONNECT))?;
        stream.set_read_timeout(Some(patience))?;
        writeln!(stream, "{} {word}", self.secret)?;
        let mut line = String::new();
        BufReader::new(stream.take(1024)).read_line(&mut line)?;
        Ok(line.trim_end().to_owned())
    }

    fn connect(&self, patience: Duration) -> io::Result<TcpStream> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.control));
        TcpStream::connect_timeout(&address, patience)
    }
}

/// Returns the names of all sandboxes that were ever started and not removed.
pub(crate) fn names() -> Result<Vec<String>, Failure> {
    let mut names: Vec<String> = fs::read_dir(home::sandboxes()?)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.path().join("state.json").is_file())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    Ok(names)
}

/// Writes a file that only its owner can read.
pub(crate) fn write_private(path: &Path, text: &str) -> Result<(), Failure> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options
        .open(path)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(Failure::file("write", path))
}
