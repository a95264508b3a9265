//! Another process: the test program itself, told to hold a stack.

use crate::places::{Place, store_key};
use crate::records::noted;
use kusion_model::StackKey;
use kusion_store::{Holder, LockWait, Session, Store, StoreError};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use testkit::Missing;

const ADDRESS: &str = "KUSION_STORE_CHILD_URL";
const HOME: &str = "KUSION_STORE_CHILD_HOME";
const KEY: &str = "KUSION_STORE_CHILD_KEY";
const MACHINE: &str = "KUSION_STORE_CHILD_MACHINE";
/// What the lines of the child begin with.
const ANSWER: &str = "ANSWER ";

/// The folder of the store, for the shell that starts a child.
const ROOM: &str = "KUSION_STORE_CHILD_ROOM";

/// Where a process runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// As this one.
    Plain,
    /// It says that it runs on another machine.
    Elsewhere,
    /// As another user, for whom `/proc` hides the processes of others.
    Hidden,
    /// In its own PID namespace.
    Namespace,
    /// In its own PID namespace, with the `/proc` of its parent.
    ForeignProc,
    /// With a file system of 900 KB, a third of which is in use.
    SmallDisk,
    /// With a file system that can only be read.
    ReadOnly,
}

impl Kind {
    /// Returns the command that starts a program there; it runs the program in its last argument.
    fn command(self) -> Vec<&'static str> {
        match self {
            Self::Plain | Self::Elsewhere => vec!["env"],
            Self::Hidden => vec![
                "unshare",
                "--mount",
                "sh",
                "-ec",
                "mount -t proc -o hidepid=2 proc /proc
                 exec setpriv --reuid=65534 --regid=65534 --clear-groups \"$0\"",
            ],
            Self::Namespace => {
                vec!["unshare", "--pid", "--fork", "--kill-child=KILL", "--mount-proc"]
            }
            Self::ForeignProc => vec!["unshare", "--pid", "--fork", "--kill-child=KILL"],
            Self::SmallDisk => vec![
                "unshare",
                "--mount",
                "sh",
                "-ec",
                "mkdir -p \"$KUSION_STORE_CHILD_ROOM\"
                 mount -t tmpfs -o size=900k tmpfs \"$KUSION_STORE_CHILD_ROOM\"
                 head -c 300000 /dev/zero > \"$KUSION_STORE_CHILD_ROOM/ballast\"
                 exec \"$0\"",
            ],
            Self::ReadOnly => vec![
                "unshare",
                "--mount",
                "sh",
                "-ec",
                "mount --bind \"$KUSION_STORE_CHILD_ROOM\" \"$KUSION_STORE_CHILD_ROOM\"
                 mount -o remount,ro,bind \"$KUSION_STORE_CHILD_ROOM\"
                 exec \"$0\"",
            ],
        }
    }

    /// Checks that processes of all kinds can be started; that needs rights of root.
    pub(crate) fn check() -> Result<(), Missing> {
        let script = "mount -t proc -o hidepid=2 proc /proc && mount -t tmpfs tmpfs /mnt \
                      && setpriv --reuid=65534 --clear-groups test -x \"$0\"";
        let program = std::env::current_exe().unwrap_or_default();
        let mut command = Command::new("unshare");
        command.args(["--mount", "--pid", "--fork", "sh", "-c", script]).arg(program);
        let done = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        if done.is_ok_and(|it| it.success()) {
            return Ok(());
        }
        Err(Missing::new("no rights to use `unshare`, `mount` and `setpriv`"))
    }
}

/// A process that tries to hold a stack and does what it is told.
pub(crate) struct Process {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Process {
    /// Starts a process on this machine.
    pub(crate) fn start(place: &Place, key: &StackKey) -> Self {
        let command = Command::new(std::env::current_exe().expect("a program runs"));
        Self::spawn(command, place, key, "")
    }

    /// Starts a process that says it runs on another machine.
    pub(crate) fn start_elsewhere(place: &Place, key: &StackKey) -> Self {
        let command = Command::new(std::env::current_exe().expect("a program runs"));
        Self::spawn(command, place, key, "elsewhere")
    }

    /// Starts a process that cannot write files larger than some blocks of 512 bytes.
    pub(crate) fn start_limited(place: &Place, key: &StackKey, blocks: u32) -> Self {
        let mut command = Command::new("sh");
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
        command.arg("-c").arg(script);
        command.arg(std::env::current_exe().expect("a program runs"));
        Self::spawn(command, place, key, "")
    }

    /// Starts a process in an environment of its own.
    pub(crate) fn start_in(kind: Kind, place: &Place, key: &StackKey) -> Self {
        let program = std::env::current_exe().expect("a program runs");
        let mut command = Command::new(kind.command()[0]);
        command.args(&kind.command()[1..]).arg(program);
        command.env(ROOM, &place.home);
        Self::spawn(command, place, key, if kind == Kind::Elsewhere { "elsewhere" } else { "" })
    }

    fn spawn(mut command: Command, place: &Place, key: &StackKey, machine: &str) -> Self {
        use std::os::unix::process::CommandExt as _;
        // Signals reach the process behind `unshare`, too.
        command.process_group(0);
        let mut child = command
            .env(ADDRESS, &place.url)
            .env(HOME, &place.home)
            .env(KEY, key.store_path())
            .env(MACHINE, machine)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts again");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("its output is a pipe"));
        Self { child, input, output }
    }

    /// Waits for the next answer.
    pub(crate) fn answer(&mut self) -> String {
        loop {
            let mut line = String::new();
            let length = self.output.read_line(&mut line).expect("readable");
            assert!(length > 0, "the child ended without an answer");
            if let Some((_, answer)) = line.split_once(ANSWER) {
                return answer.trim_end().to_owned();
            }
        }
    }

    /// Tells the child what to do, without waiting.
    pub(crate) fn tell(&mut self, order: &str) {
        let input = self.input.as_mut().expect("it is open");
        writeln!(input, "{order}").expect("the child listens");
    }

    pub(crate) fn ask(&mut self, order: &str) -> String {
        self.tell(order);
        self.answer()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal: `STOP`, `CONT`.
    pub(crate) fn signal(&self, name: &str) {
        let group = format!("-{}", self.pid());
        let done = Command::new("kill").args([&format!("-{name}"), "--", &group]).status();
        assert!(done.expect("`kill` runs").success());
    }

    /// Ends the child without a word.
    pub(crate) fn kill(mut self) {
        self.signal("KILL");
        self.child.wait().expect("it ends");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.input = None;
        if matches!(self.child.try_wait(), Ok(None)) {
            let group = format!("-{}", self.pid());
            let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
        }
        let _ = self.child.wait();
    }
}

/// Whether this process was started by another one of the tests.
pub(crate) fn is_child() -> bool {
    std::env::var_os(KEY).is_some()
}

/// Plays the other process.
pub(crate) fn be_a_child() {
    let path = std::env::var(KEY).expect("it is set");
    let key = StackKey::from_store_path(&path).expect("a key");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(play(&key));
}

async fn play(key: &StackKey) {
    let variable = |name: &str| std::env::var(name).expect("it is set");
    let mut holder = Holder::current("child");
    if !variable(MACHINE).is_empty() {
        holder.machine = variable(MACHINE);
    }
    let home = variable(HOME);
    let store = match Store::open(&variable(ADDRESS), home.as_ref(), store_key()).await {
        Ok(store) => store,
        Err(error) => return say(&format!("failed: {error}")),
    };
    let session = match store.lock(key, holder, LockWait::No).await {
        Ok(session) => session,
        Err(error @ StoreError::ReadOnly { .. }) => {
            let found = store.read(key).await.map(|it| it.resources.len());
            return say(&format!("read {found:?}, {error}"));
        }
        Err(error) => return say(&format!("refused: {error}")),
    };
    say("held");
    for line in std::io::stdin().lines() {
        let line = line.expect("readable");
        let (order, rest) = line.split_once(' ').unwrap_or((&line, ""));
        match order {
            "append" => say(&append(&session, rest, 10).await),
            "check" => {
                say(&session.check().map_or_else(|error| error.to_string(), |()| "ok".into()));
            }
            "fill" => say(&fill(&session).await),
            "room" => {
                std::fs::remove_file(format!("{home}/ballast")).expect("removed");
                say("ok");
            }
            _ => break,
        }
    }
    session.close().await.map_or_else(|error| say(&error.to_string()), |()| say("closed"));
}

async fn append(session: &Session, name: &str, size: usize) -> String {
    match session.append(vec![noted(name, size)]).await {
        Ok(seq) => format!("ok {seq}"),
        Err(error) => error.to_string(),
    }
}

/// Writes until nothing more can be written; answers with what was written and why no more.
async fn fill(session: &Session) -> String {
    for number in 0..10_000 {
        let done = append(session, &format!("r{number}"), 20_000).await;
        if !done.starts_with("ok") {
            return format!("{number} {done}");
        }
    }
    "no end".to_owned()
}

#[expect(clippy::print_stdout, reason = "the parent reads it")]
fn say(text: &str) {
    println!("{ANSWER}{text}");
}
