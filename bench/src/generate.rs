//! Makes the workloads: KCL sources and, where it makes sense, the same in Jsonnet.
//!
//! A workload of a kind and a size is always the same. Sources lie in `kcl`, those of the peer
//! in `jsonnet/main.jsonnet`.

mod compute;
mod data;
mod import;
mod model;
pub(crate) mod repo;
mod schema;

use anyhow::bail;
use std::fs;
use std::path::Path;

const MOD_FILE: &str = "[package]\nname = \"bench\"\nedition = \"0.1.0\"\nversion = \"0.1.0\"\n";

/// Makes the workload of a kind and a size in a folder.
///
/// # Errors
///
/// If the kind is unknown or files can't be written.
pub(crate) fn generate(kind: &str, n: usize, folder: &Path) -> anyhow::Result<()> {
    write(&folder.join("kcl/kcl.mod"), MOD_FILE)?;
    let (kcl, jsonnet) = match kind {
        "tiny" => (data::TINY.to_owned(), Some(data::TINY_JSONNET.to_owned())),
        "list" | "dict" | "vars" => data::literals(kind, n),
        "fib" => compute::fib(n),
        "comp" => compute::comprehensions(n),
        "str" => compute::strings(n),
        "pub" => compute::keys(n),
        "inst" => schema::instances(n),
        "static" => schema::literals(n),
        "union" => schema::unions(n),
        "overlay" => schema::overlays(n),
        "nest" => schema::nested(n),
        "import" => return import::write_package(n, &folder.join("kcl")),
        "app" => return repo::write_app(&folder.join("kcl")),
        "repo" | "founding" => {
            let is_small = kind == "repo";
            let shape = if is_small { repo::Shape::SMALL } else { repo::Shape::LARGE };
            let repo = repo::Repo { n_projects: n, shape };
            return repo.write(&folder.join("kcl")).map(drop);
        }
        _ => bail!("there is no workload '{kind}'"),
    };
    write(&folder.join("kcl/main.k"), &kcl)?;
    if let Some(text) = jsonnet {
        write(&folder.join("jsonnet/main.jsonnet"), &text)?;
    }
    Ok(())
}

/// Writes a file, and the folders above it.
pub(crate) fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    Ok(fs::write(path, text)?)
}

/// Numbers that look random and are always the same.
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5DEE_CE66)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) % bound
    }
}
