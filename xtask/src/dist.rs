//! Makes what is shipped for the platform of this machine: a tarball with both programs, the
//! licence, the README, the completions of shells and the manual pages; a list of components
//! (SBOM); checksums.
//!
//! The same sources and tools give the same bytes: files are sorted and carry the time of the
//! commit. It needs GNU tar and gzip.

mod sbom;

use crate::packages;
use anyhow::{Context as _, ensure};
use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The packages whose programs are shipped, with the names of the programs.
const PROGRAMS: [(&str, &str); 2] = [("kcl-cli", "kcl"), ("kusion-cli", "kusion")];

/// Shells with completions.
const SHELLS: [&str; 3] = ["bash", "zsh", "fish"];

/// Builds the tarball and returns what was written, one file per line.
pub(crate) fn make() -> anyhow::Result<String> {
    let target = packages::target_folder()?;
    let host = host()?;
    let name = format!("kusion-{}-{host}", env!("CARGO_PKG_VERSION"));
    let shipped = PROGRAMS.map(|(package, _)| package);
    let mut build = cargo();
    build.args(["build", "--profile", "dist", "--locked"]);
    run(build.args(shipped.iter().flat_map(|package| ["-p", package])))?;

    let out = target.join("tarballs");
    let folder = out.join(&name);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(folder.join("completions"))?;
    for (_, program) in PROGRAMS {
        fs::copy(target.join("dist").join(program), folder.join(program))
            .with_context(|| format!("cannot copy {program}"))?;
        let bytes = fs::read(folder.join(program))?;
        ensure!(!is_at_fixed_address(&bytes), "{program} is not position independent");
    }
    for file in ["LICENSE", "README.md"] {
        fs::copy(packages::root().join(file), folder.join(file))
            .with_context(|| format!("cannot copy {file}"))?;
    }
    for (_, program) in PROGRAMS {
        for shell in SHELLS {
            let script = output(Command::new(folder.join(program)).args(["completion", shell]))?;
            let file = match shell {
                "zsh" => format!("_{program}"),
                _ => format!("{program}.{shell}"),
            };
            fs::write(folder.join("completions").join(file), script)?;
        }
        run(Command::new(folder.join(program)).arg("man").arg(folder.join("man/man1")))?;
    }
    let all = packages::read(&[host])?;
    let components = packages::needed_by(&all, &shipped);
    let sbom = sbom::document(
        &name,
        &components,
        &fs::read_to_string(packages::root().join("Cargo.lock"))?,
    );
    fs::write(folder.join("sbom.cdx.json"), &sbom)?;

    let tarball = out.join(format!("{name}.tar.gz"));
    pack(&out, &name, &tarball)?;
    let listed = out.join(format!("{name}.cdx.json"));
    fs::write(&listed, &sbom)?;
    let sums = out.join(format!("{name}.sha256"));
    fs::write(&sums, checksums(&[&tarball, &listed])?)?;
    describe(&[tarball, listed, sums])
}

/// Whether a program is an ELF file whose addresses the system cannot choose.
fn is_at_fixed_address(program: &[u8]) -> bool {
    // The type follows the 16 bytes that identify the format; 2 is a program at a fixed address.
    program.starts_with(b"\x7fELF") && matches!(program.get(16..18), Some([2, 0] | [0, 2]))
}

/// Packs a folder so that the bytes depend on its content and the commit only.
fn pack(out: &Path, name: &str, tarball: &Path) -> anyhow::Result<()> {
    let time = output(Command::new("git").args(["log", "-1", "--format=%ct"]))?;
    run(Command::new("tar")
        .args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mode=u=rwX,go=rX"])
        .arg(format!("--mtime=@{}", time.trim()))
        .args(["--use-compress-program=gzip -9n", "-cf"])
        .arg(tarball)
        .arg("-C")
        .arg(out)
        .arg(name))
}

/// Returns checksums in the format of `sha256sum`.
fn checksums(files: &[&Path]) -> anyhow::Result<String> {
    let mut lines = String::new();
    for file in files {
        let sum = HEXLOWER.encode(&Sha256::digest(fs::read(file)?));
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let _ = writeln!(lines, "{sum}  {name}");
    }
    Ok(lines)
}

fn describe(files: &[PathBuf]) -> anyhow::Result<String> {
    let line = |file: &PathBuf| {
        fs::metadata(file).map(|it| format!("{}: {} bytes", file.display(), it.len()))
    };
    Ok(files.iter().map(line).collect::<Result<Vec<_>, _>>()?.join("\n"))
}

fn host() -> anyhow::Result<String> {
    let text = output(Command::new("rustc").arg("-vV"))?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc names no host")?.to_owned())
}

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

fn run(command: &mut Command) -> anyhow::Result<()> {
    let status = command.current_dir(packages::root()).status();
    let status = status.with_context(|| format!("cannot run {command:?}"))?;
    ensure!(status.success(), "{command:?} failed: {status}");
    Ok(())
}

fn output(command: &mut Command) -> anyhow::Result<String> {
    let output = command.current_dir(packages::root()).output();
    let output = output.with_context(|| format!("cannot run {command:?}"))?;
    ensure!(output.status.success(), "{command:?} failed: {}", output.status);
    Ok(String::from_utf8(output.stdout)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_at_fixed_addresses_are_found() {
        let elf = |kind: u8| [b"\x7fELF\x02\x01".as_slice(), &[0; 10], &[kind, 0]].concat();
        assert!(is_at_fixed_address(&elf(2)));
        assert!(!is_at_fixed_address(&elf(3)));
        assert!(!is_at_fixed_address(b"MZ"));
    }

    #[test]
    fn what_release_does_not_optimise_dist_does() {
        let text = fs::read_to_string(packages::root().join("Cargo.toml")).expect("the manifest");
        let root: toml::Table = text.parse().expect("TOML");
        let level = |profile: &str, name: &str| {
            root["profile"][profile]["package"].get(name)?.get("opt-level")?.as_integer()
        };
        let names = root["profile"]["release"]["package"].as_table().expect("a table").keys();
        let slow: Vec<&String> = names
            .filter(|name| level("dist", name).or_else(|| level("release", name)) != Some(3))
            .collect();
        assert!(slow.is_empty(), "add them to [profile.dist.package]: {slow:?}");
    }
}
