//! A hostile repository is compiled, previewed and applied to a sandbox under strace: it starts no
//! program, reaches nothing but the sandbox, and touches no file but those that the user allowed.

use hostile::{Access, Place, Sandbox, Server, Trace, binaries, shell};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use testkit::{Missing, Suite};

const CALLS: &str = "execve,execveat,connect,open,openat,openat2,creat,unlink,unlinkat,rename,\
                     renameat,renameat2,mkdir,mkdirat,link,linkat,symlink,symlinkat";

/// What no output and no file of the repository may hold in the end.
const CANARY: &str = "CANARY-7310";

/// Ways to run, read, write or reach something: the name of a stack, a file of it, and its text.
/// `@port@` is the port of a server that nobody may reach, `@out@` a folder that is not the
/// repository's.
const WAYS: &[(&str, &str, &str)] = &[
    ("exec-kubeconfig", "stack.yaml", "name: exec-kubeconfig\nkubeConfig: exec.yaml\n"),
    ("token-file", "stack.yaml", "name: token-file\nkubeConfig: token.yaml\n"),
    ("proxy", "stack.yaml", "name: proxy\nkubeConfig: proxy.yaml\n"),
    (
        "s3-endpoint",
        "stack.yaml",
        "name: s3-endpoint\nbackend: s3://b/p?endpoint=http://127.0.0.1:@port@&allow_http=true\n",
    ),
    ("postgres", "stack.yaml", "name: postgres\nbackend: postgres://u@127.0.0.1:@port@/d\n"),
    ("sqlite", "stack.yaml", "name: sqlite\nbackend: sqlite:@out@/made.db\n"),
    ("sqlite-parent", "stack.yaml", "name: sqlite-parent\nbackend: sqlite:../../made.db\n"),
    ("read-link", "main.k", "import file\na = file.read(\"secret-link\")\n"),
    ("read-folder-link", "main.k", "import file\na = file.read(\"out-link/secret\")\n"),
    ("read-parent", "main.k", "import file\na = file.read(\"../../out/secret\")\n"),
    ("read-absolute", "main.k", "import file\na = file.read(\"@out@/secret\")\n"),
    ("read-git", "main.k", "import file\na = file.read(\"../.git/config\")\n"),
    ("write-link", "main.k", "import file\nfile.write(\"out-link/made\", \"x\")\n"),
    ("write-parent", "main.k", "import file\nfile.append(\"../../out/made\", \"x\")\n"),
    ("write-hook", "main.k", "import file\nfile.write(\"../.git/hook\", \"x\")\n"),
    ("copy-link", "main.k", "import file\nfile.cp(\"out-link\", \"copied\")\n"),
    ("delete-link", "main.k", "import file\nfile.delete(\"out-link/secret\")\n"),
    ("glob-link", "main.k", "import file\na = file.glob(\"out-link/*\")\n"),
    ("settings-entry", "kcl.yaml", "kcl_cli_configs:\n  file: [@out@/secret]\n"),
    ("settings-link", "kcl.yaml", "kcl_cli_configs:\n  file: [secret-link]\n"),
    ("settings-output", "kcl.yaml", "kcl_cli_configs:\n  file: [main.k]\n  output: @out@/made\n"),
    (
        "dependency",
        "kcl.mod",
        "[package]\nname = \"p\"\n[dependencies]\ndep = { path = \"@out@/secret\" }\n",
    ),
    (
        "git-dependency",
        "kcl.mod",
        "[package]\nname = \"p\"\n[dependencies]\ndep = { git = \"http://127.0.0.1:@port@/x\" }\n",
    ),
    ("import-link", "main.k", "import linked\na = linked\n"),
    ("template", "main.k", "import template\na = template.execute(\"{{> @out@/secret}}\", {})\n"),
    ("plugin", "main.k", "import kcl_plugin.evil\na = evil.run(\"id\")\n"),
    ("plugin-named", "main.k", "import kcl_plugin.evil\na = evil.run(\"id\")\n"),
    ("plugin-of-a-dependency", "main.k", "import lib\nimport kcl_plugin.evil\na = evil.run()\n"),
    ("environment", "main.k", "import lib\na = lib.x\n"),
];

/// A stack that is harmless, which shows that the trace has what it should have.
const HARMLESS: &str = "harmless";

fn main() -> ExitCode {
    let mut suite = Suite::default();
    let found = binaries().and_then(|folder| tracer().map(|()| folder));
    suite.add_with("a_hostile_repository_reaches_nothing", found.clone(), |binaries: PathBuf| {
        reaches_nothing(&binaries);
    });
    suite.add_with("the_trace_shows_what_a_trusted_one_does", found, |binaries: PathBuf| {
        trusted_is_seen(&binaries);
    });
    suite.run()
}

/// Whether processes can be traced here.
fn tracer() -> Result<(), Missing> {
    let mut command = Command::new("strace");
    command.args(["-o", "/dev/null", "true"]).stdout(Stdio::null()).stderr(Stdio::null());
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        _ => Err(Missing::new("skipped: the trace of a hostile repository (no strace)")),
    }
}

/// A repository with all ways, and what they are after.
struct Scene {
    place: Place,
    sandbox: Sandbox,
    server: Server,
    binaries: PathBuf,
}

impl Scene {
    fn new(name: &str, binaries: &Path) -> Self {
        let sandbox = Sandbox::start(name, binaries).expect("a sandbox");
        let server = Server::start("reply 200 {}").expect("a server");
        let scene = Self {
            place: Place::new(name).expect("a folder"),
            sandbox,
            server,
            binaries: binaries.to_owned(),
        };
        scene.write("out/secret", &format!("{CANARY}\n"));
        scene.write("repository/project.yaml", "name: shop\n");
        scene.write("repository/.git/config", &format!("{CANARY}\n"));
        scene.write("repository/.git/HEAD", "ref: refs/heads/main\n");
        for (name, file, text) in WAYS {
            scene.stack(name);
            scene.write(&format!("repository/{name}/{file}"), text);
        }
        scene.stack(HARMLESS);
        scene
    }

    /// Writes a stack that would be fine, with all that the ways need.
    fn stack(&self, name: &str) {
        let path = |file: &str| format!("repository/{name}/{file}");
        self.write(&path("stack.yaml"), &format!("name: {name}\n"));
        self.write(
            &path("main.k"),
            &format!(
                "a = {{apiVersion = \"v1\", kind = \"ConfigMap\", metadata.name = \"{name}\"}}\n"
            ),
        );
        let cluster = "{clusters: [{name: a, cluster: {server: 'http://127.0.0.1:@port@'@more@}}], \
                       users: [{name: a, user: {@user@}}], contexts: [{name: a, context: \
                       {cluster: a, user: a}}], current-context: a}";
        let exec = "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, \
                    command: sh, args: [-c, 'touch @out@/made']}";
        let config =
            |more: &str, user: &str| cluster.replace("@more@", more).replace("@user@", user);
        self.write(&path("exec.yaml"), &config("", exec));
        self.write(&path("token.yaml"), &config("", "tokenFile: '@out@/secret'"));
        self.write(&path("proxy.yaml"), &config(", proxy-url: 'http://127.0.0.1:@port@'", ""));
        self.write(&path("lib/lib.k"), "import file\nx = file.read_env(\"SECRET\")\n");
        self.write(&path("lib/kcl.mod"), "[package]\nname = \"lib\"\n");
        if name == "environment" {
            let dependency = "[package]\nname = \"p\"\n[dependencies]\nlib = { path = \"lib\" }\n";
            self.write(&path("kcl.mod"), dependency);
        }
        let plugins = "[plugins]\nevil = [\"sh\", \"-c\", \"touch @out@/made\"]\n";
        if name == "plugin-named" {
            self.write(&path("kcl.mod"), &format!("[package]\nname = \"p\"\n{plugins}"));
        }
        if name == "plugin-of-a-dependency" {
            let dependency = "[package]\nname = \"p\"\n[dependencies]\nlib = { path = \"lib\" }\n";
            self.write(&path("kcl.mod"), dependency);
            self.write(&path("lib/kcl.mod"), &format!("[package]\nname = \"lib\"\n{plugins}"));
        }
        let folder = self.place.work().join("repository").join(name);
        fs::create_dir_all(folder.join("linked")).expect("a folder");
        let out = self.out();
        for (link, target) in [
            ("secret-link", out.join("secret")),
            ("out-link", out.clone()),
            ("linked/x.k", out.join("secret")),
        ] {
            std::os::unix::fs::symlink(target, folder.join(link)).expect("a link");
        }
    }

    /// The folder that is not the repository's.
    fn out(&self) -> PathBuf {
        self.place.work().join("out")
    }

    fn write(&self, path: &str, text: &str) {
        let text = text.replace("@port@", &self.server.port.to_string());
        let text = text.replace("@out@", &self.out().display().to_string());
        self.place.write(path, &text).expect("written");
    }

    /// Runs kusion on a stack under strace; returns its exit code, its output and the trace.
    fn traced(&self, stack: &str, words: &str) -> (Option<i32>, String, Trace) {
        let logs = self.place.folder.join("trace");
        let _ = fs::remove_dir_all(&logs);
        fs::create_dir_all(&logs).expect("a folder");
        let script = format!(
            "cd repository && exec strace -ff -y -s 4096 -e trace={CALLS} -o {}/log kusion {words} {stack}",
            logs.display()
        );
        let variables = [
            ("KUBECONFIG", self.sandbox.kubeconfig.clone()),
            ("SECRET", CANARY.to_owned()),
            ("AWS_ACCESS_KEY_ID", "a".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", CANARY.to_owned()),
        ];
        let end = shell(&self.place, &self.binaries, &script, &variables).expect("it runs");
        let mut log = String::new();
        for entry in fs::read_dir(&logs).expect("logs").flatten() {
            log += &fs::read_to_string(entry.path()).expect("a log");
        }
        (end.code, end.text, Trace::parse(&log))
    }

    /// What the user allowed: to read the system and the kubeconfig, to write the repository, the
    /// home of kusion, and temporary files.
    fn outside<'a>(&self, trace: &'a Trace) -> Vec<&'a Access> {
        let folder = self.place.folder.display();
        let repository = self.place.work().join("repository");
        let repository = repository.display();
        let program = self.binaries.join("kusion").display().to_string();
        let readable = SYSTEM.iter().map(|it| (*it).to_owned());
        let readable: Vec<String> = readable.chain([self.sandbox.kubeconfig.clone()]).collect();
        let writable = [
            format!("{repository}/"),
            format!("{folder}/home/"),
            format!("{folder}/tmp/"),
            "/dev/null".to_owned(),
        ];
        let outside = trace.outside(&program, self.sandbox.port, &readable, &writable);
        // The repository, but not what Git keeps there. kusion itself reads the address of the
        // remote, the commit and the list of tracked files; that no program sees the rest of these
        // files shows in the output.
        let git = format!("{repository}/.git/");
        let own = ["config", "HEAD", "index", "packed-refs", "commondir"];
        let is_own = |path: &str| {
            let rest = path.strip_prefix(&git).unwrap_or_default();
            own.contains(&rest) || rest.starts_with("refs/") || rest.starts_with("objects/")
        };
        let in_git = trace.accesses.iter().filter(|it| match it {
            Access::Read(path) => path.starts_with(&git) && !is_own(path),
            Access::Write(path) => path.starts_with(&git),
            _ => false,
        });
        outside.into_iter().chain(in_git).collect()
    }
}

/// What every program reads.
const SYSTEM: &[&str] = &[
    "/lib/",
    "/lib64/",
    "/usr/lib/",
    "/etc/ld.so.cache",
    "/proc/",
    "/sys/",
    "/dev/urandom",
    "/etc/passwd",
    "/etc/nsswitch.conf",
    "/etc/localtime",
];

fn reaches_nothing(binaries: &Path) {
    let scene = Scene::new("traced", binaries);
    for (stack, ..) in WAYS {
        for words in ["compile", "preview", "apply --yes"] {
            let (code, text, trace) = scene.traced(stack, words);
            let outside = scene.outside(&trace);
            assert!(outside.is_empty(), "{words} {stack}: {outside:?}\n{text}");
            assert!(!text.contains(CANARY), "{words} {stack}: {text}");
            assert!(matches!(code, Some(0 | 1)), "{words} {stack}: {code:?}\n{text}");
        }
    }
    let files: Vec<_> = fs::read_dir(scene.out()).expect("a folder").flatten().collect();
    assert_eq!(files.len(), 1, "only the secret is there: {files:?}");
    let secret = fs::read_to_string(scene.out().join("secret")).expect("the secret");
    assert_eq!(secret, format!("{CANARY}\n"));
}

fn trusted_is_seen(binaries: &Path) {
    let scene = Scene::new("trusted", binaries);
    let (code, text, trace) = scene.traced(HARMLESS, "apply --yes");
    assert_eq!(code, Some(0), "{text}");
    let port = format!("htons({})", scene.sandbox.port);
    let has = |it: &dyn Fn(&Access) -> bool| trace.accesses.iter().any(it);
    assert!(has(&|it| matches!(it, Access::Reach(text) if text.contains(&port))));
    assert!(has(&|it| matches!(it, Access::Write(path) if path.contains("/home/kusion/"))));
    assert!(has(&|it| matches!(it, Access::Read(path) if path.ends_with("/harmless/main.k"))));
    assert_eq!(scene.outside(&trace), Vec::<&Access>::new());
    let (_, text, trace) = scene.traced("exec-kubeconfig", "preview --trust");
    let outside = scene.outside(&trace);
    let is_shell = |it: &&Access| matches!(it, Access::Run(path) if path.ends_with("/sh"));
    assert!(outside.iter().any(is_shell), "{outside:?}\n{text}");
    assert!(scene.out().join("made").exists());
}
