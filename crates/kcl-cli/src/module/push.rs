//! `kcl mod push`

use super::{Key, Line, Module, Stop};
use crate::Exit;
use base_system::{OsSystem, System as _};
use kcl_fetch::{Credentials, Location, PackedPackage, Registry, Silent, pack, unpack};
use kcl_pkg::{Repository, Source};
use std::path::Path;
use std::sync::Arc;

pub(super) fn run(words: &[String]) -> Result<Exit, Stop> {
    let line = Line::parse(words, &[Key::TarPath, Key::Vendor], 1)?;
    let package = match line.value(Key::TarPath) {
        Some(path) => packed(Path::new(path))?,
        None => pack(&Module::find()?.root, line.has(Key::Vendor)).map_err(Stop::failed)?,
    };
    let (repository, tag) = match line.words.first() {
        Some(url) => target(url)?,
        None => {
            (Repository::by_name(&OsSystem, &package.name).map_err(Stop::Failed)?, String::new())
        }
    };
    let tag = if tag.is_empty() { package.version.clone() } else { tag };
    let registry = Registry::new(Credentials::from_env(&OsSystem), Arc::new(Silent));
    let digest = registry.push(&repository, &tag, &package).map_err(Stop::failed)?;
    Ok(line.say(&format!("pushed {repository}:{tag}\ndigest {digest}\n")))
}

fn target(url: &str) -> Result<(Repository, String), Stop> {
    let location = Location::oci(url, None).map_err(Stop::failed)?;
    let Source::Oci { url, tag } = location.source else {
        return Err(Stop::Usage("expected oci://HOST/REPOSITORY".to_owned()));
    };
    Ok((Repository::parse(&url).map_err(Stop::Failed)?, tag))
}

/// Reads an archive that `kcl mod pkg` made: it is unpacked, checked and packed again.
fn packed(path: &Path) -> Result<PackedPackage, Stop> {
    let folder = std::env::temp_dir().join(format!("kcl-push-{:032x}", OsSystem.random()));
    OsSystem.create_dir_all(&folder).map_err(Stop::failed)?;
    let result = unpack(path, &folder, &path.display().to_string())
        .map_err(Stop::failed)
        .and_then(|()| pack(&folder, true).map_err(Stop::failed));
    // A folder of temporary files that stays does no harm.
    let _ = OsSystem.remove(&folder);
    result
}
