//! `kcl mod remove`

use super::{Key, Line, Module, Stop};
use crate::Exit;
use kcl_pkg::{Update, remove_dependency};

pub(super) fn run(words: &[String]) -> Result<Exit, Stop> {
    let line = Line::parse(words, &[Key::Offline], usize::MAX)?;
    if line.words.is_empty() {
        return Err(Stop::Usage("expected the name of a dependency".to_owned()));
    }
    let mut module = Module::find()?;
    for name in &line.words {
        let text = remove_dependency(&module.text, name).map_err(Stop::Failed)?;
        module = module.with_text(text)?;
    }
    let resolution = module.resolve(&line.fetcher(), &Update::Nothing, true)?;
    module.write(&resolution)?;
    Ok(line.say(&format!("removed {}\n", line.words.join(", "))))
}
