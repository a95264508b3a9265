//! `kusion sandbox up`.

use super::{control, status};
use crate::daemon::{Daemon, write_private};
use crate::failure::Failure;
use crate::home;
use crate::view::{self, Output};
use kusion_sandbox::{Options, Sandbox};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

/// Environment variable by which a restarted sandbox keeps its token.
const TOKEN: &str = "KUSION_SANDBOX_TOKEN";

/// Arguments of `kusion sandbox up`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Name of the sandbox; several can run at the same time
    #[arg(long, default_value = "default")]
    pub(crate) name: String,
    /// Port on the loopback address; 0 chooses a free port
    #[arg(long, default_value_t = 0)]
    pub(crate) port: u16,
    /// Serve HTTPS
    #[arg(long)]
    pub(crate) tls: bool,
    /// Run in the foreground until interrupted
    #[arg(long)]
    pub(crate) foreground: bool,
    /// Output format
    #[arg(long, short, value_enum, default_value_t)]
    pub(crate) output: Output,
}

/// Starts a sandbox.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let folder = home::sandbox(&args.name)?;
    if let Some(state) = Daemon::load(&args.name)?
        && state.is_running()
    {
        return report(&state, args.output, "already running");
    }
    fs::create_dir_all(&folder).map_err(Failure::file("create folder", &folder))?;
    if args.foreground {
        return foreground(args, std::env::var(TOKEN).ok());
    }
    let state = background(args, &folder, None)?;
    report(&state, args.output, "running")
}

/// Returns a running sandbox; starts it in the background if it is not running. Of several
/// concurrent processes, one starts it.
pub(crate) fn ensure(name: &str) -> Result<Daemon, Failure> {
    let running = || Daemon::load(name).map(|it| it.filter(Daemon::is_running));
    if let Some(state) = running()? {
        return Ok(state);
    }
    let folder = home::sandbox(name)?;
    fs::create_dir_all(&folder).map_err(Failure::file("create folder", &folder))?;
    let path = folder.join("starting");
    let lock = fs::File::create(&path).map_err(Failure::file("write", &path))?;
    lock.lock().map_err(Failure::file("lock", &path))?;
    if let Some(state) = running()? {
        return Ok(state);
    }
    let args = Args {
        name: name.to_owned(),
        port: 0,
        tls: false,
        foreground: false,
        output: Output::Text,
    };
    background(&args, &folder, None)
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
pub(crate) fn background(
    args: &Args,
    folder: &Path,
    token: Option<&str>,
) -> Result<Daemon, Failure> {
    let log_path = folder.join("log");
    let log = fs::File::create(&log_path).map_err(Failure::file("write", &log_path))?;
    let errors = log.try_clone().map_err(Failure::file("write", &log_path))?;
    let program =
        std::env::current_exe().map_err(|error| Failure::Background(error.to_string()))?;
    let mut command = Command::new(program);
    command.args(["sandbox", "up", "--foreground", "--name", &args.name]);
    command.args(["--port", &args.port.to_string()]);
    if args.tls {
        command.arg("--tls");
    }
    if let Some(token) = token {
        command.env(TOKEN, token);
    }
    command.stdin(Stdio::null()).stdout(log).stderr(errors);
    detach(&mut command);
    let _ = fs::remove_file(folder.join("state.json"));
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
            let text = text.trim().trim_start_matches("error: ").to_owned();
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

fn foreground(args: &Args, token: Option<String>) -> Result<(), Failure> {
    let options = Options {
        name: args.name.clone(),
        port: args.port,
        tls: args.tls,
        token,
        ..Options::default()
    };
    let sandbox =
        Sandbox::start(options).map_err(|source| Failure::Start { port: args.port, source })?;
    let (sender, stop) = channel();
    let secret = sandbox.token().to_owned();
    let control = control::open(secret.clone(), sender.clone())
        .map_err(|source| Failure::Start { port: args.port, source })?;
    let state = Daemon {
        name: args.name.clone(),
        pid: std::process::id(),
        url: sandbox.url(),
        port: sandbox.address().port(),
        tls: args.tls,
        token: sandbox.token().to_owned(),
        control,
        secret,
    };
    write_private(&state.kubeconfig()?, &sandbox.kubeconfig())?;
    state.save()?;
    report(&state, args.output, "running")?;
    watch_signals(sender);
    // After an error it could not be stopped any more: end as well.
    let _ = stop.recv();
    let _ = fs::remove_file(home::sandbox(&args.name)?.join("state.json"));
    // Freeing every object takes time in proportion to their number: the system does it
    // immediately, and closes all connections.
    std::process::exit(0)
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
