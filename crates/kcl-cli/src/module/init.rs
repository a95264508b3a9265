//! `kcl mod init`

use super::{Line, Stop, write};
use crate::Exit;
use base_system::{OsSystem, System as _};
use kcl_pkg::{MOD_FILE, is_safe_word};

/// The edition of new modules: the version of the reference whose language they use.
const EDITION: &str = "v0.11.0";

pub(super) fn run(words: &[String]) -> Result<Exit, Stop> {
    let line = Line::parse(words, &[], 1)?;
    let start = OsSystem.current_dir().map_err(Stop::failed)?;
    let (name, folder) = match line.words.first() {
        Some(name) => (name.clone(), start.join(name)),
        None => {
            let name = start.file_name().map(|it| it.to_string_lossy().into_owned());
            (name.unwrap_or_default(), start)
        }
    };
    if !is_safe_word(&name) {
        let expected = "expected letters, digits, `-`, `_` and `.`";
        return Err(Stop::Failed(format!("invalid name `{name}` of a module: {expected}")));
    }
    let path = folder.join(MOD_FILE);
    if OsSystem.exists(&path) {
        return Err(Stop::Failed(format!("`{}` already exists", path.display())));
    }
    OsSystem.create_dir_all(&folder).map_err(Stop::failed)?;
    let text =
        format!("[package]\nname = \"{name}\"\nedition = \"{EDITION}\"\nversion = \"0.0.1\"\n");
    write(&path, &text)?;
    let main = folder.join("main.k");
    if !OsSystem.exists(&main) {
        write(&main, "The_first_kcl_program = \"Hello World!\"\n")?;
    }
    Ok(line.say(&format!("created the module `{name}`\n")))
}
