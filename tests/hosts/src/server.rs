//! An SSH server on loopback.

use crate::{Folder, settings};
use kusion_runtime_host::{Host, HostSettings, Hosts};
use std::fmt::Write as _;
use std::io;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use testkit::Missing;

/// How the hosts of a server behave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behaviour {
    /// As they should.
    Sound,
    /// They connect, and scripts never end.
    Hang,
    /// They connect, and scripts print without end.
    Flood,
    /// They connect, and scripts print garbage.
    Garbage,
    /// They never greet.
    Silent,
}

/// The most ports of one process of the server.
const MAX_PORTS: usize = 10;

/// A running server, of several processes if it has many ports.
pub struct Server {
    children: Vec<Child>,
    folder: Folder,
    ports: Vec<u16>,
}

impl Server {
    /// Finds the programs.
    pub fn find() -> Result<(), Missing> {
        if sshd().is_some() && is_program("ssh") && is_program("ssh-keygen") {
            return Ok(());
        }
        Err(Missing::new("the SSH server and client of the tests: run `.ci/hosts`"))
    }

    /// Starts a server with a port for each host.
    pub fn start(name: &str, n_hosts: usize, behaviour: Behaviour) -> io::Result<Self> {
        let folder = Folder::new(&format!("{name}-server"))?;
        let path = folder.path();
        make_key(&path.join("host_key"))?;
        make_key(&path.join("user_key"))?;
        std::fs::copy(path.join("user_key.pub"), path.join("authorized_keys"))?;
        let listeners: io::Result<Vec<TcpListener>> =
            (0..n_hosts).map(|_| TcpListener::bind("127.0.0.1:0")).collect();
        let ports: io::Result<Vec<u16>> =
            listeners?.iter().map(|it| Ok(it.local_addr()?.port())).collect();
        let ports = ports?;
        write_client_config(path, &ports)?;
        // The server wants it if it runs as root.
        let _ = std::fs::create_dir_all("/run/sshd");
        let mut server = Self { children: Vec::new(), ports, folder };
        for (number, ports) in server.ports.chunks(MAX_PORTS).enumerate() {
            let config = server.folder.path().join(format!("sshd_config{number}"));
            write_config(server.folder.path(), &config, ports, behaviour)?;
            let child = Command::new(sshd().unwrap_or_default())
                .args(["-D", "-e", "-f"])
                .arg(config)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()?;
            server.children.push(child);
        }
        for port in &server.ports {
            wait_for_port(*port)?;
        }
        Ok(server)
    }

    /// Returns the settings that reach the hosts `web0`, `web1`, ….
    pub fn settings(&self) -> HostSettings {
        let hosts: Hosts = self.ports.iter().enumerate().map(host).collect();
        let mut settings = settings(hosts);
        settings.ssh.config = Some(self.folder.path().join("ssh_config"));
        settings
    }

    /// Returns the port of a host.
    pub fn port(&self, number: usize) -> u16 {
        self.ports[number]
    }

    /// Gives the server another key than the one that clients know.
    pub fn forge_known_hosts(&self) -> io::Result<()> {
        let other = self.folder.path().join("other_key");
        make_key(&other)?;
        self.write_known_hosts(&other)
    }

    /// Lets clients know no key.
    pub fn clear_known_hosts(&self) -> io::Result<()> {
        std::fs::write(self.folder.path().join("known_hosts"), "")
    }

    fn write_known_hosts(&self, key: &Path) -> io::Result<()> {
        known_hosts(self.folder.path(), &self.ports, key)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn host((number, port): (usize, &u16)) -> Host {
    Host { address: "127.0.0.1".to_owned(), port: Some(*port), ..Host::new(format!("web{number}")) }
}

fn sshd() -> Option<PathBuf> {
    ["/usr/sbin/sshd", "/usr/local/sbin/sshd"].iter().map(PathBuf::from).find(|it| it.is_file())
}

/// Returns whether a program is in `PATH`.
pub(crate) fn is_program(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|it| it.join(name).is_file())
}

fn make_key(path: &Path) -> io::Result<()> {
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-C", "test", "-f"])
        .arg(path)
        .stdin(Stdio::null())
        .status()?;
    if made.success() { Ok(()) } else { Err(io::Error::other("ssh-keygen failed")) }
}

fn known_hosts(folder: &Path, ports: &[u16], key: &Path) -> io::Result<()> {
    let key = std::fs::read_to_string(key.with_extension("pub"))?;
    let mut text = String::new();
    for port in ports {
        let _ = write!(text, "[127.0.0.1]:{port} {key}");
    }
    std::fs::write(folder.join("known_hosts"), text)
}

fn write_config(
    folder: &Path,
    config: &Path,
    ports: &[u16],
    behaviour: Behaviour,
) -> io::Result<()> {
    let shown = folder.display();
    let mut text = String::new();
    for port in ports {
        let _ = writeln!(text, "Port {port}");
    }
    let _ = writeln!(
        text,
        "ListenAddress 127.0.0.1\nHostKey {shown}/host_key\nPidFile none\nUsePAM no\n\
         AuthorizedKeysFile {shown}/authorized_keys\nStrictModes no\nPermitRootLogin yes\n\
         PasswordAuthentication no\nKbdInteractiveAuthentication no\nMaxStartups 200"
    );
    let bad = match behaviour {
        Behaviour::Sound => None,
        Behaviour::Hang => Some("cat >/dev/null; sleep 1000"),
        Behaviour::Flood => Some("cat >/dev/null; exec yes 'a line without end'"),
        Behaviour::Garbage => Some("cat >/dev/null; head -c 100000 /dev/urandom; exit 3"),
        Behaviour::Silent => Some(""),
    };
    if let Some(bad) = bad {
        let connects = if behaviour == Behaviour::Silent {
            "sleep 1000"
        } else {
            "eval \"$SSH_ORIGINAL_COMMAND\""
        };
        let script = format!(
            "case \"$SSH_ORIGINAL_COMMAND\" in\n*kusion-connected*) {connects} ;;\n*) {bad}\n;;\nesac\n"
        );
        std::fs::write(folder.join("forced"), script)?;
        let _ = writeln!(text, "ForceCommand sh {shown}/forced");
    }
    std::fs::write(config, text)
}

fn write_client_config(folder: &Path, ports: &[u16]) -> io::Result<()> {
    let shown = folder.display();
    let client = format!(
        "Host *\n  IdentityFile {shown}/user_key\n  IdentitiesOnly yes\n  \
         UserKnownHostsFile {shown}/known_hosts\n  GlobalKnownHostsFile /dev/null\n  \
         StrictHostKeyChecking no\n"
    );
    std::fs::write(folder.join("ssh_config"), client)?;
    known_hosts(folder, ports, &folder.join("host_key"))
}

fn wait_for_port(port: u16) -> io::Result<()> {
    for _ in 0..500 {
        if TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Err(io::Error::other(format!("nothing listens on port {port}")))
}
