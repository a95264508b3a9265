//! `kcl mod pkg`

use super::{Key, Line, Module, Stop};
use crate::Exit;
use base_system::{OsSystem, System as _};
use kcl_fetch::pack;

pub(super) fn run(words: &[String]) -> Result<Exit, Stop> {
    let line = Line::parse(words, &[Key::Target, Key::Vendor], 0)?;
    let module = Module::find()?;
    let package = pack(&module.root, line.has(Key::Vendor)).map_err(Stop::failed)?;
    let folder = match line.value(Key::Target) {
        Some(folder) => OsSystem.current_dir().map_err(Stop::failed)?.join(folder),
        None => module.root.clone(),
    };
    let failed = |error| Stop::Failed(format!("cannot write `{}`: {error}", folder.display()));
    OsSystem.create_dir_all(&folder).map_err(failed)?;
    let path = OsSystem.canonicalize(&folder).map_err(failed)?.join(&package.file_name);
    OsSystem.write_bytes(&path, &package.bytes).map_err(failed)?;
    Ok(line.say(&format!("packed {}\n", path.display())))
}
