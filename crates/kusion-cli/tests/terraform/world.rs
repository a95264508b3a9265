//! A home, a project and installed providers for each test.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use testkit::Missing;

/// The folder of the programs of providers.
#[derive(Clone, Debug)]
pub(crate) struct Programs(PathBuf);

impl Programs {
    pub(crate) fn find() -> Result<Self, Missing> {
        let folder = std::env::var_os("KUSION_TEST_PROVIDERS").map(PathBuf::from).or_else(|| {
            let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"));
            let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home);
            Some(cache?.join("kusion-terraform-providers"))
        });
        let missing =
            || Missing::new("the Terraform providers of the tests: run `.ci/terraform-providers`");
        let programs = Self(folder.ok_or_else(missing)?);
        if programs.program("probe").is_file() { Ok(programs) } else { Err(missing()) }
    }

    fn program(&self, name: &str) -> PathBuf {
        self.0.join(format!("terraform-provider-{name}"))
    }
}

/// A home with a project, whose providers are in `mirror` and whose objects are in `objects`.
pub(crate) struct World {
    pub(crate) folder: PathBuf,
}

impl World {
    pub(crate) fn new(name: &str, programs: &Programs) -> Self {
        let name = format!("kusion-cli-terraform-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&folder);
        for below in ["objects", "shop/dev"] {
            fs::create_dir_all(folder.join(below)).expect("a folder");
        }
        fs::write(folder.join("shop/project.yaml"), "name: shop\n").expect("a file");
        fs::write(folder.join("shop/dev/stack.yaml"), "name: dev\n").expect("a file");
        let world = Self { folder };
        fs::create_dir_all(world.installed()).expect("a folder");
        symlink(programs.program("probe"), world.installed().join("terraform-provider-probe"))
            .expect("a link");
        world
    }

    /// Returns the folder of the installed provider.
    pub(crate) fn installed(&self) -> PathBuf {
        let platform = match (std::env::consts::OS, std::env::consts::ARCH) {
            (os, "x86_64") => format!("{os}_amd64"),
            (os, "aarch64") => format!("{os}_arm64"),
            (os, arch) => format!("{os}_{arch}"),
        };
        let platform = platform.replace("macos", "darwin");
        self.folder.join("mirror/registry.opentofu.org/kusion/probe/1.0.0").join(platform)
    }

    /// Returns the text of a resource in KCL.
    pub(crate) fn resource(&self, name: &str, attributes: &str) -> String {
        let objects = self.folder.join("objects");
        format!(
            "{{id = \"kusion:probe:probe_object:{name}\", type = \"Terraform\", attributes = \
             {attributes}, extensions = {{provider = \"kusion/probe/~> 1.0\", providerMeta = \
             {{folder = \"{}\"}}}}}}",
            objects.display()
        )
    }

    /// Writes the program of the stack.
    pub(crate) fn write(&self, resources: &[String]) {
        let text = format!("resources = [\n{}\n]\n", resources.join("\n"));
        fs::write(self.folder.join("shop/dev/main.k"), text).expect("a file");
    }

    /// Locks and trusts the provider of the stack.
    pub(crate) fn prepare(&self) {
        self.ok(&["provider", "lock", "shop/dev"]);
        self.ok(&["trust", "shop/dev"]);
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kusion"));
        command
            .args(words)
            .current_dir(&self.folder)
            .env("KUSION_HOME", self.folder.join("home"))
            .env("KUSION_PROVIDER_DIRS", self.folder.join("mirror"))
            .env("HOME", &self.folder)
            .env("KUBECONFIG", self.folder.join("no-kubeconfig"))
            .env("XDG_CONFIG_HOME", self.folder.join(".config"))
            .env("COLUMNS", "100");
        for name in ["SANDBOX", "CONTEXT", "BACKEND", "KEY", "TRUST", "LOG"] {
            command.env_remove(format!("KUSION_{name}"));
        }
        command
    }

    pub(crate) fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().expect("the binary runs")
    }

    /// Runs a command that succeeds; returns its output.
    pub(crate) fn ok(&self, words: &[&str]) -> String {
        let output = self.run(words);
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{words:?}: {out}{err}");
        out
    }

    /// Runs a command that fails; returns its errors.
    pub(crate) fn fails(&self, words: &[&str]) -> String {
        let output = self.run(words);
        assert_eq!(output.status.code(), Some(1), "{words:?}: {}", text(&output.stdout));
        text(&output.stderr)
    }

    /// Returns the names of the objects of the provider.
    pub(crate) fn objects(&self) -> Vec<String> {
        let files = fs::read_dir(self.folder.join("objects")).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            files.map(|it| it.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Returns the text of an object of the provider.
    pub(crate) fn object(&self, name: &str) -> String {
        fs::read_to_string(self.folder.join("objects").join(name)).expect("an object")
    }

    /// Returns how many processes of the provider run.
    pub(crate) fn provider_count(&self) -> usize {
        let program = self.installed().join("terraform-provider-probe").display().to_string();
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let is_ours = |it: &fs::DirEntry| {
            let words = fs::read(it.path().join("cmdline")).unwrap_or_default();
            text(&words).split('\0').next() == Some(program.as_str())
        };
        processes.filter(is_ours).count()
    }

    /// Waits until no provider runs.
    pub(crate) fn wait_for_providers(&self) {
        while self.provider_count() > 0 {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }

    /// Returns the texts of all files below the home.
    pub(crate) fn files(&self) -> Vec<(PathBuf, String)> {
        let mut found = Vec::new();
        add_files(&self.folder.join("home"), &mut found);
        found
    }
}

impl Drop for World {
    fn drop(&mut self) {
        for entry in fs::read_dir(self.folder.join("home/sandbox")).into_iter().flatten().flatten()
        {
            let name = entry.file_name().into_string().unwrap_or_default();
            let _ = self.run(&["sandbox", "down", "--name", &name]);
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn add_files(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            add_files(&path, found);
        } else {
            let bytes = fs::read(&path).unwrap_or_default();
            found.push((path, text(&bytes)));
        }
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
