//! Finds the programs of providers.

use kusion_runtime_terraform::{Guard, Launch, Limits, Provider};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use testkit::Missing;

/// Returns the program of a provider that `.ci/terraform-providers` built.
pub(crate) fn program(name: &str) -> Result<PathBuf, Missing> {
    let folder = std::env::var_os("KUSION_TEST_PROVIDERS").map(PathBuf::from).or_else(|| {
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")));
        Some(cache?.join("kusion-terraform-providers"))
    });
    let missing =
        || Missing::new("the Terraform providers of the tests: run `.ci/terraform-providers`");
    let program = folder.ok_or_else(missing)?.join(format!("terraform-provider-{name}"));
    if program.is_file() { Ok(program) } else { Err(missing()) }
}

/// Returns the start of a program, with short limits and this program as guard.
pub(crate) fn launch(program: PathBuf, variables: &[(&str, &str)]) -> Launch {
    let mut environment: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    environment.extend(variables.iter().map(|(name, value)| (name.into(), value.into())));
    Launch {
        name: "test/provider".to_owned(),
        program,
        environment,
        guard: Some(Guard { program: std::env::current_exe().expect("this program") }),
        limits: Limits { start: Duration::from_mins(1), ..Limits::default() },
        redactor: kusion_secret::Redactor::default(),
    }
}

/// Starts a provider.
pub(crate) async fn start(program: PathBuf, variables: &[(&str, &str)]) -> Provider {
    launch(program, variables).start().await.expect("a provider")
}

/// Returns whether a process exists and has not ended.
pub(crate) fn is_alive(process: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let state = status.rsplit(") ").next().and_then(|it| it.chars().next());
    state.is_some_and(|it| it != 'Z')
}

/// Waits until a process has ended.
pub(crate) fn wait_for_end(process: i32) {
    while is_alive(process) {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A folder that is removed at the end of a test.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let name = format!("kusion-terraform-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    pub(crate) fn text(&self) -> &str {
        self.0.to_str().expect("a text")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
