//! A home of its own for each test, and a few stacks to work on.

use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

/// A home that is removed, with all its sandboxes, at the end of a test.
pub(crate) struct Home {
    pub(crate) folder: PathBuf,
    /// The address of the store; none means a file in the home.
    pub(crate) backend: Option<String>,
}

impl Home {
    pub(crate) fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("kusion-cli-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        Self { folder, backend: None }
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kusion"));
        command
            .args(words)
            .env("KUSION_HOME", &self.folder)
            .env("KUBECONFIG", self.folder.join("no-kubeconfig"))
            .env("XDG_CONFIG_HOME", self.folder.join(".config"))
            .env_remove("KUSION_SANDBOX")
            .env_remove("KUSION_CONTEXT")
            .env_remove("KUSION_BACKEND")
            .env_remove("KUSION_KEY");
        if let Some(backend) = &self.backend {
            command.env("KUSION_BACKEND", backend);
            // The tests of other crates use the same servers, with the same key.
            command.env("KUSION_KEY", "07".repeat(32));
        }
        command
    }

    pub(crate) fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().expect("the binary runs")
    }

    pub(crate) fn ok(&self, words: &[&str]) -> String {
        let output = self.run(words);
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{words:?}: {out}{err}");
        out
    }

    /// Sends a request to the sandbox `default`; returns the code and the body of the answer.
    pub(crate) fn ask(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        ask(&self.ok(&["sandbox", "kubeconfig"]), method, path, body)
    }

    pub(crate) fn fails(&self, words: &[&str]) -> String {
        let output = self.run(words);
        assert_eq!(output.status.code(), Some(1), "{words:?}: {}", text(&output.stdout));
        text(&output.stderr)
    }

    /// Returns a live object or list; none if there is none.
    pub(crate) fn live(&self, path: &str) -> Option<Value> {
        self.ok(&["sandbox", "up"]);
        let (code, body) = self.ask("GET", path, "");
        (code == 200).then(|| serde_json::from_str(&body).expect("JSON"))
    }

    /// Changes a live object behind the back of the engine.
    pub(crate) fn patch(&self, path: &str, body: &str) {
        self.ok(&["sandbox", "up"]);
        let (code, answer) = self.ask("PATCH", path, body);
        assert_eq!(code, 200, "{answer}");
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        for entry in fs::read_dir(self.folder.join("sandbox")).into_iter().flatten().flatten() {
            let name = entry.file_name().into_string().unwrap_or_default();
            let _ = self.run(&["sandbox", "down", "--name", &name]);
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A home with a project whose stacks are written by the test, and a sandbox for them.
pub(crate) struct Project {
    pub(crate) home: Home,
}

impl Project {
    pub(crate) fn new(name: &str, stacks: &[(&str, &str)]) -> Self {
        let home = Home::new(name);
        let project = Self { home };
        fs::create_dir_all(project.folder()).expect("a folder");
        fs::write(project.folder().join("project.yaml"), "name: shop\n").expect("a file");
        for (stack, program) in stacks {
            fs::create_dir_all(project.folder().join(stack)).expect("a folder");
            let file = project.folder().join(stack).join("stack.yaml");
            fs::write(file, format!("name: {stack}\n")).expect("a file");
            project.write(stack, program);
        }
        project
    }

    /// Returns the folder of the project.
    pub(crate) fn folder(&self) -> PathBuf {
        self.home.folder.join("src/shop")
    }

    /// Writes the program of a stack.
    pub(crate) fn write(&self, stack: &str, program: &str) {
        fs::write(self.folder().join(stack).join("main.k"), program).expect("a file");
    }

    /// Runs a command of the project on the sandbox; returns exit code, output and errors.
    pub(crate) fn run(&self, words: &[&str]) -> (Option<i32>, String, String) {
        let folder = self.folder().display().to_string();
        let output = self.home.run(&[words, &["--sandbox", "-w", &folder]].concat());
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    }

    pub(crate) fn ok(&self, words: &[&str]) -> String {
        let (code, out, err) = self.run(words);
        assert_eq!(code, Some(0), "{words:?}: {out}{err}");
        out
    }

    /// Runs a command for programs; returns the objects that it writes.
    pub(crate) fn json(&self, words: &[&str]) -> Vec<Value> {
        let out = self.ok(&[words, &["--output", "json"]].concat());
        out.lines().map(|it| serde_json::from_str(it).expect("JSON")).collect()
    }

    /// Returns a live object; none if there is none.
    pub(crate) fn live(&self, path: &str) -> Option<Value> {
        self.home.live(path)
    }

    /// Changes a live object behind the back of the engine.
    pub(crate) fn patch(&self, path: &str, body: &str) {
        self.home.patch(path, body);
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Sends a request as a client with a kubeconfig; returns the code and the body of the answer.
pub(crate) fn ask(kubeconfig: &str, method: &str, path: &str, body: &str) -> (u16, String) {
    try_ask(kubeconfig, method, path, body).expect("an answer")
}

/// Does the same; none if the server does not answer to the end.
pub(crate) fn try_ask(
    kubeconfig: &str,
    method: &str,
    path: &str,
    body: &str,
) -> Option<(u16, String)> {
    let kubeconfig = Kubeconfig::from_yaml(kubeconfig).expect("a kubeconfig");
    let content =
        if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
    let request = http::Request::builder().method(method).uri(path).header("content-type", content);
    let request = request.body(Body::from(body.as_bytes().to_vec())).expect("a request");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
            .await
            .expect("a configuration");
        config.proxy_url = None;
        let client = Client::try_from(config).expect("a client");
        let answer = client.send(request).await.ok()?;
        let code = answer.status().as_u16();
        let bytes = answer.into_body().collect_bytes().await.ok()?;
        Some((code, text(&bytes)))
    })
}
