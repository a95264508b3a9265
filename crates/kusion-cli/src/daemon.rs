//! A sandbox in the background: its state file and its control connection.
//!
//! A running sandbox listens on a second loopback port for one-line commands, authenticated by a
//! secret from its state file. Whether it is running is determined by a request, never by the
//! process id, so a state file that a crash left behind does no harm.

use crate::commands::sandbox::nodes;
use crate::failure::Failure;
use crate::home;
use kusion_sandbox::Nodes;
use serde_json::{Value, json};
use std::fs;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Reply of a sandbox to an accepted command.
pub(crate) const OBEYED: &str = "ok";
/// Reply of a sandbox to a command with a wrong secret.
pub(crate) const REFUSED: &str = "refused";
/// Timeout of a reply.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest reply, in bytes.
const LONGEST_REPLY: u64 = 64 << 10;
/// Timeout of a connection.
const CONNECT: Duration = Duration::from_millis(500);

/// Result of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reply {
    /// Accepted.
    Accepted,
    /// Connected, but no reply.
    Silent,
    /// The sandbox is not running.
    Gone,
}

/// Contents of the state file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Daemon {
    pub(crate) name: String,
    pub(crate) pid: u32,
    pub(crate) url: String,
    pub(crate) port: u16,
    pub(crate) tls: bool,
    /// The control port.
    pub(crate) control: u16,
    /// The secret that commands must contain.
    pub(crate) secret: String,
    /// The nodes that it was started with.
    pub(crate) nodes: Nodes,
    /// The folder that keeps its objects.
    pub(crate) data: Option<PathBuf>,
}

impl Daemon {
    /// Reads the state of a sandbox; `None` if the file is missing or invalid.
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
            control: port("control")?,
            secret: text("secret")?,
            nodes: nodes::from_value(value.get("nodes").unwrap_or(&Value::Null)),
            data: text("data").map(PathBuf::from),
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
            "control": self.control,
            "secret": self.secret,
            "nodes": nodes::to_value(&self.nodes),
            "data": self.data.as_deref().map(Path::to_string_lossy),
        });
        write_private(&home::sandbox(&self.name)?.join("state.json"), &value.to_string())
    }

    /// Returns the path of the kubeconfig.
    pub(crate) fn kubeconfig(&self) -> Result<PathBuf, Failure> {
        Ok(home::sandbox(&self.name)?.join("kubeconfig"))
    }

    /// Returns whether the sandbox is running.
    pub(crate) fn is_running(&self) -> bool {
        self.order("ping", PATIENCE) == Reply::Accepted
    }

    /// Sends a command. A sandbox on a busy machine may reply slowly, so it is considered stopped
    /// only if its port is closed or used by another process.
    pub(crate) fn order(&self, word: &str, patience: Duration) -> Reply {
        let end = Instant::now() + patience;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.ask(word, left.max(Duration::from_millis(1))) {
                Ok(line) if line == OBEYED => return Reply::Accepted,
                Ok(line) if !line.is_empty() => return Reply::Gone,
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => return Reply::Gone,
                _ if Instant::now() >= end => return Reply::Silent,
                _ => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    }

    /// Sends a command and returns the reply.
    ///
    /// # Errors
    /// The sandbox is not running.
    pub(crate) fn tell(&self, command: &str) -> Result<String, Failure> {
        match self.ask(command, PATIENCE) {
            Ok(line) if !line.is_empty() && line != REFUSED => Ok(line),
            _ => Err(Failure::NotRunning(self.name.clone())),
        }
    }

    /// Returns whether the control port is open, even if the process does not reply.
    pub(crate) fn listens(&self) -> bool {
        let refused = ErrorKind::ConnectionRefused;
        !self.connect(CONNECT).is_err_and(|error| error.kind() == refused)
    }

    fn ask(&self, word: &str, patience: Duration) -> io::Result<String> {
        let mut stream = self.connect(patience.min(CONNECT))?;
        stream.set_read_timeout(Some(patience))?;
        writeln!(stream, "{} {word}", self.secret)?;
        let mut line = String::new();
        BufReader::new(stream.take(LONGEST_REPLY)).read_line(&mut line)?;
        Ok(line.trim_end().to_owned())
    }

    fn connect(&self, patience: Duration) -> io::Result<TcpStream> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.control));
        TcpStream::connect_timeout(&address, patience)
    }
}

/// Returns the names of all sandboxes that have a folder, sorted.
pub(crate) fn folders() -> Result<Vec<String>, Failure> {
    let mut names: Vec<String> = fs::read_dir(home::sandboxes()?)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.path().is_dir())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| home::sandbox(name).is_ok())
        .collect();
    names.sort();
    Ok(names)
}

/// Returns the names of all sandboxes that have a state file, sorted.
pub(crate) fn names() -> Result<Vec<String>, Failure> {
    let mut names = folders()?;
    let folder = home::sandboxes()?;
    names.retain(|name| folder.join(name).join("state.json").is_file());
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
        .and_then(|mut file| {
            make_private(&file)?;
            file.write_all(text.as_bytes())
        })
        .map_err(Failure::file("write", path))
}

/// Removes the permissions of others from a file that may have existed before.
pub(crate) fn make_private(file: &fs::File) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        file.set_permissions(fs::Permissions::from_mode(0o600))?;
    }
    #[cfg(not(unix))]
    let _ = file;
    Ok(())
}
