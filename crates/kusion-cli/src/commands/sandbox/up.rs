//! `kusion sandbox up`.

use super::copy::CopyArgs;
use super::nodes::NodeArgs;
use super::{control, down, lock, status};
use crate::daemon::{Daemon, names, write_private};
use crate::failure::Failure;
use crate::home;
use crate::view::{self, Output};
use base_text::nearest;
use kusion_sandbox::{Credentials, Options, Sandbox, random_token};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

/// Environment variable of a server that another command starts: that command holds the lock.
const CHILD: &str = "KUSION_SANDBOX_CHILD";

/// The name of the sandbox that every command may start.
const DEFAULT: &str = "default";

/// Arguments of `kusion sandbox up`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Name of the sandbox; several can run at the same time
    #[arg(long, default_value = "default")]
    pub(crate) name: String,
    /// Port on the loopback address; 0 chooses a free port
    #[arg(long, default_value_t = 0)]
    pub(crate) port: u16,
    /// Serve plain HTTP, and accept clients without credentials: every user of this machine can
    /// read and change all objects
    #[arg(long)]
    pub(crate) plain: bool,
    /// Serve HTTPS, which is the default
    #[arg(long, hide = true, conflicts_with = "plain")]
    pub(crate) tls: bool,
    #[command(flatten)]
    pub(crate) nodes: NodeArgs,
    /// Folder that keeps the objects, so that they survive a restart; without it, they are in memory
    /// only
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) copy: CopyArgs,
    /// Run in the foreground until interrupted
    #[arg(long)]
    pub(crate) foreground: bool,
    /// Output format
    #[arg(long, short, value_enum, default_value_t)]
    pub(crate) output: Output,
}

/// Starts a sandbox.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    if args.foreground && std::env::var_os(CHILD).is_some() {
        return foreground(args, None);
    }
    let lock = lock::command(&args.name)?;
    let data = args.data.as_deref().map(absolute).transpose()?;
    if let Some(state) = running(&args.name)? {
        if !args.nodes.accept(&state.nodes) {
            return Err(Failure::OtherNodes(args.name.clone()));
        }
        if data.is_some() && data != state.data || args.copy.is_requested() {
            return Err(Failure::OtherContent(args.name.clone()));
        }
        return report(&state, args.output, "already running");
    }
    let folder = home::sandbox(&args.name)?;
    lock::create_private(&folder)?;
    if args.foreground {
        return foreground(args, Some(lock));
    }
    let state = background(args, &folder)?;
    let copied = args.copy.copy_to(&state);
    if copied.is_err() {
        // It does not have what was asked for.
        down::stop(&state, down::PATIENCE)?;
    }
    let copied = copied?;
    if let Some(text) = copied {
        // Standard output has the address and, on request, is JSON.
        view::message(&text);
    }
    report(&state, args.output, "running")
}

/// Returns the path of a data folder from the root: the server may have another working folder.
fn absolute(folder: &Path) -> Result<PathBuf, Failure> {
    let folder = std::path::absolute(folder).map_err(Failure::file("find", folder))?;
    let sandboxes =
        std::path::absolute(home::sandboxes()?).map_err(Failure::file("find", &folder))?;
    if folder.starts_with(sandboxes) { Err(Failure::DataFolder(folder)) } else { Ok(folder) }
}

/// Returns a running sandbox; starts it in the background if it is not running. Of several
/// concurrent processes, one starts it.
pub(crate) fn ensure(name: &str) -> Result<Daemon, Failure> {
    if let Some(state) = running(name)? {
        return Ok(state);
    }
    let _lock = lock::command(name)?;
    if let Some(state) = running(name)? {
        return Ok(state);
    }
    let folder = home::sandbox(name)?;
    lock::create_private(&folder)?;
    // One that was killed comes back with its objects, if it keeps them.
    let killed = Daemon::load(name)?.filter(|it| it.data.is_some());
    let args = Args {
        name: name.to_owned(),
        port: 0,
        plain: false,
        tls: false,
        nodes: killed.as_ref().map(|it| NodeArgs::from_nodes(&it.nodes)).unwrap_or_default(),
        data: killed.and_then(|it| it.data),
        copy: CopyArgs::default(),
        foreground: false,
        output: Output::Text,
    };
    background(&args, &folder)
}

/// Does the same, but does not create a sandbox, except for the one with the name `default`.
pub(crate) fn ensure_known(name: &str) -> Result<Daemon, Failure> {
    if name != DEFAULT && !home::sandbox(name)?.is_dir() {
        let near = nearest(name, names()?.iter().map(String::as_str)).map(str::to_owned);
        return Err(Failure::NewSandbox { name: name.to_owned(), near });
    }
    ensure(name)
}

fn running(name: &str) -> Result<Option<Daemon>, Failure> {
    Daemon::load(name).map(|it| it.filter(Daemon::is_running))
}

fn report(state: &Daemon, output: Output, word: &str) -> Result<(), Failure> {
    let kubeconfig = state.kubeconfig()?;
    let text = match output {
        Output::Json => {
            let value = serde_json::to_string(&status::document(state, true)?).unwrap_or_default();
            format!("{value}\n")
        }
        Output::Text => format!(
            "sandbox `{}` is {word} at {}\nexport KUBECONFIG={}\n",
            state.name,
            state.url,
            kubeconfig.display()
        ),
    };
    view::result(&text)
}

/// Runs this program again without a terminal and waits until it answers.
pub(crate) fn background(args: &Args, folder: &Path) -> Result<Daemon, Failure> {
    let log_path = folder.join("log");
    write_private(&log_path, "")?;
    let log = fs::File::create(&log_path).map_err(Failure::file("write", &log_path))?;
    let errors = log.try_clone().map_err(Failure::file("write", &log_path))?;
    let program =
        std::env::current_exe().map_err(|error| Failure::Background(error.to_string()))?;
    let mut command = Command::new(program);
    command.args(["sandbox", "up", "--foreground", "--name", &args.name]);
    command.args(["--port", &args.port.to_string()]);
    if args.plain {
        command.arg("--plain");
    }
    args.nodes.pass(&mut command);
    if let Some(data) = &args.data {
        command.arg("--data").arg(absolute(data)?);
    }
    command.env(CHILD, "1");
    command.stdin(Stdio::null()).stdout(log).stderr(errors);
    detach(&mut command);
    let mut child = command.spawn().map_err(|error| Failure::Background(error.to_string()))?;
    wait(&args.name, &mut child, &log_path)
}

#[cfg(unix)]
fn detach(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;
    // Ctrl-C in the terminal goes to the group of the foreground command only.
    command.process_group(0);
}

#[cfg(windows)]
fn detach(command: &mut Command) {
    use std::os::windows::process::CommandExt as _;
    const DETACHED_PROCESS: u32 = 0x8;
    const CREATE_NEW_PROCESS_GROUP: u32 = 0x200;
    command.creation_flags(DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP);
}

fn wait(name: &str, child: &mut Child, log: &Path) -> Result<Daemon, Failure> {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        if let Some(state) = Daemon::load(name)?
            && state.is_running()
        {
            return Ok(state);
        }
        if let Ok(Some(_)) = child.try_wait() {
            let text = fs::read_to_string(log).unwrap_or_default();
            let text = text.trim().trim_start_matches("error: ");
            let text = text.trim_start_matches("cannot start the sandbox: ").to_owned();
            return Err(Failure::Background(text));
        }
        if Instant::now() > end {
            let _ = child.kill();
            let _ = child.wait();
            return Err(Failure::Background("no answer within 20 s".to_owned()));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Runs a server until it is told to stop; `lock` is released when the server answers.
fn foreground(args: &Args, lock: Option<fs::File>) -> Result<(), Failure> {
    let start = |source| Failure::Start { port: args.port, source };
    let _server = lock::server(&args.name)?;
    let data = args.data.as_deref().map(absolute).transpose()?;
    let options = Options {
        name: args.name.clone(),
        port: args.port,
        plain: args.plain,
        credentials: Some(credentials(&args.name)?),
        nodes: args.nodes.to_nodes(),
        data: data.clone(),
        ..Options::default()
    };
    let sandbox = Sandbox::start(options).map_err(start)?;
    let (sender, stop) = channel();
    let secret = random_token().map_err(start)?;
    let control =
        control::open(secret.clone(), sandbox.faults().clone(), sender.clone()).map_err(start)?;
    let state = Daemon {
        name: args.name.clone(),
        pid: std::process::id(),
        url: sandbox.url(),
        port: sandbox.address().port(),
        tls: !args.plain,
        control,
        secret,
        nodes: args.nodes.to_nodes(),
        data,
    };
    write_private(&state.kubeconfig()?, &sandbox.kubeconfig())?;
    state.save()?;
    drop(lock);
    report(&state, args.output, "running")?;
    watch_signals(sender);
    // After an error it could not be stopped any more: end as well.
    let _ = stop.recv();
    let _ = fs::remove_file(home::sandbox(&args.name)?.join("state.json"));
    // Freeing every object takes time in proportion to their number: the system does it
    // immediately, and closes all connections.
    std::process::exit(0)
}

/// Returns the credentials that the last server of this name had, or new ones: clients keep their
/// kubeconfig until the sandbox is deleted.
fn credentials(name: &str) -> Result<Credentials, Failure> {
    let path = home::sandbox(name)?.join("credentials.json");
    let kept = fs::read_to_string(&path).unwrap_or_default();
    if let Some(credentials) = Credentials::from_text(&kept) {
        return Ok(credentials);
    }
    let made = Credentials::generate().map_err(|source| Failure::Start { port: 0, source })?;
    write_private(&path, &made.to_text())?;
    Ok(made)
}

/// Tells `stop` when the user or the system asks the process to end.
fn watch_signals(stop: Sender<()>) {
    let run = move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
            return;
        };
        runtime.block_on(signal());
        let _ = stop.send(());
    };
    // Without the thread the default action of signals ends the process just as well.
    let _ = std::thread::Builder::new().name("sandbox-signals".to_owned()).spawn(run);
}

#[cfg(unix)]
async fn signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else { return };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
}

#[cfg(windows)]
async fn signal() {
    let _ = tokio::signal::ctrl_c().await;
}
