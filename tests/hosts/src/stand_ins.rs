//! Programs that stand in for those of a system, and a supervisor of services.

use crate::Folder;
use crate::server::is_program;
use std::ffi::OsString;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use testkit::Missing;

/// A folder of programs, and what they store.
#[derive(Debug)]
pub struct StandIns(Folder);

impl StandIns {
    /// Creates a folder without programs.
    pub fn new(name: &str) -> io::Result<Self> {
        let folder = Folder::new(name)?;
        std::fs::create_dir(folder.path().join("bin"))?;
        std::fs::create_dir(folder.path().join("data"))?;
        Ok(Self(folder))
    }

    /// Returns a `PATH` in which they come first.
    pub fn path(&self) -> OsString {
        let mut path = self.0.path().join("bin").into_os_string();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        path
    }

    /// Returns what is stored under a name.
    pub fn read(&self, name: &str) -> Option<String> {
        let text = std::fs::read_to_string(self.0.path().join("data").join(name)).ok()?;
        Some(text.trim_end().to_owned())
    }

    /// Stores something.
    pub fn write(&self, name: &str, text: &str) -> io::Result<()> {
        std::fs::write(self.0.path().join("data").join(name), text)
    }

    fn add(&self, name: &str, script: &str) -> io::Result<()> {
        let path = self.0.path().join("bin").join(name);
        let data = self.0.path().join("data");
        std::fs::write(&path, format!("#!/bin/sh\ncd '{}' || exit 9\n{script}", data.display()))?;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
    }

    /// Adds a package manager: a package is a file with its version.
    pub fn add_package_manager(&self, name: &str) -> io::Result<()> {
        // The last argument is the package, perhaps with a version.
        let last = "for last; do :; done\n";
        let install = |sign: &str| {
            format!(
                "n=${{last%%{sign}*}} v=${{last#*{sign}}}\n[ \"$v\" != \"$last\" ] || v=1.0\n\
                 [ \"$n\" != missing ] || {{ echo 'no such package' >&2; exit 1; }}\n\
                 printf %s \"$v\" >\"$n\"\n"
            )
        };
        match name {
            "apt" => {
                let script = format!(
                    "{last}case $1 in install) {} ;; remove) rm \"$last\" ;; *) exit 8 ;; esac\n",
                    install("=")
                );
                self.add("apt-get", &script)?;
                let query = "[ -e \"$last\" ] && echo \"installed $(cat \"$last\")\"\n";
                self.add("dpkg-query", &format!("{last}{query}"))
            }
            "dnf" => {
                let script = format!(
                    "{last}case $1 in install) {} ;; remove) rm \"$last\" ;; *) exit 8 ;; esac\n",
                    install("-")
                );
                self.add("dnf", &script)?;
                self.add("rpm", &format!("{last}[ -e \"$last\" ] && cat \"$last\" && echo\n"))
            }
            _ => self.add(
                "apk",
                &format!(
                    "{last}case \"$*\" in\n'info -e -v '*) echo \"$last-$(cat \"$last\")\" ;;\n\
                     'info -e '*) [ -e \"$last\" ] ;;\n'add '*) {} ;;\n'del '*) rm \"$last\" ;;\n\
                     *) exit 8 ;;\nesac\n",
                    install("=")
                ),
            ),
        }
    }

    /// Adds `systemctl`: a unit is a file `NAME.unit` with two states and the number of restarts.
    pub fn add_systemd(&self) -> io::Result<()> {
        self.add(
            "systemctl",
            "for last; do :; done\n\
             [ \"$1\" != daemon-reload ] || exit 0\n\
             f=$last.unit\n\
             [ -e \"$f\" ] || exit 1\n\
             read -r active enabled n <\"$f\"\n\
             case $1 in\n\
             cat) exit 0 ;;\n\
             is-active) echo \"$active\"; [ \"$active\" = active ]; exit ;;\n\
             is-enabled) echo \"$enabled\"; [ \"$enabled\" = enabled ]; exit ;;\n\
             enable) enabled=enabled ;; disable) enabled=disabled ;;\n\
             start) active=active ;; stop) active=inactive ;; restart) n=$((n + 1)) ;;\n\
             *) exit 8 ;;\n\
             esac\n\
             echo \"$active $enabled $n\" >\"$f\"\n",
        )
    }

    /// Adds the tools for users: a user is a file `passwd.NAME` with its line.
    pub fn add_user_tools(&self) -> io::Result<()> {
        self.add("getent", "[ -e \"passwd.$2\" ] && cat \"passwd.$2\"\n")?;
        self.add("id", "echo deploy\n")?;
        let options = "for name; do :; done\n\
             uid=1000 home=/home/$name shell=/bin/sh\n\
             if [ -e \"passwd.$name\" ]; then\n\
             IFS=: read -r _ _ uid _ _ home shell <\"passwd.$name\"\nfi\n\
             while [ $# -gt 1 ]; do case $1 in\n\
             -u) uid=$2; shift ;; -d) home=$2; shift ;; -s) shell=$2; shift ;; esac; shift; done\n\
             echo \"$name:x:$uid:$uid::$home:$shell\" >\"passwd.$name\"\n";
        self.add("useradd", options)?;
        self.add("usermod", options)?;
        self.add("userdel", "for name; do :; done\nrm \"passwd.$name\"\n")
    }
}

/// A supervisor of services of runit, in a folder.
pub struct Supervisor {
    child: Child,
    folder: PathBuf,
}

impl Supervisor {
    /// Finds the programs.
    pub fn find() -> Result<(), Missing> {
        if is_program("runsvdir") && is_program("sv") {
            return Ok(());
        }
        Err(Missing::new("runit, for the tests of services: run `.ci/hosts`"))
    }

    /// Starts a supervisor without services.
    pub fn start(folder: &Folder) -> io::Result<Self> {
        let folder = folder.path().to_owned();
        std::fs::create_dir(folder.join("sv"))?;
        std::fs::create_dir(folder.join("service"))?;
        let child = Command::new("runsvdir")
            .arg(folder.join("service"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Self { child, folder })
    }

    /// Returns the folder of enabled services.
    pub fn linked(&self) -> PathBuf {
        self.folder.join("service")
    }

    /// Adds a service that is not enabled.
    pub fn add_service(&self, name: &str, script: &str) -> io::Result<()> {
        let folder = self.folder.join("sv").join(name);
        std::fs::create_dir(&folder)?;
        std::fs::write(folder.join("run"), format!("#!/bin/sh\n{script}\n"))?;
        std::fs::set_permissions(folder.join("run"), std::fs::Permissions::from_mode(0o755))
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        for entry in std::fs::read_dir(self.folder.join("sv")).into_iter().flatten().flatten() {
            // Ends the service and its supervisor.
            let _ = Command::new("sv").arg("exit").arg(entry.path()).output();
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
