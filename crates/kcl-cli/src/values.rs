//! Values of options that several commands have.

use base_diag::Colour;
use std::fmt::Display;
use std::io::{self, Read as _};
use std::path::PathBuf;

/// How many bytes are read from standard input.
const MAX_INPUT: u64 = 256 << 20;

/// Reads `name=folder`.
pub(crate) fn external(value: &str) -> Result<(String, PathBuf), String> {
    let (name, path) = value
        .split_once('=')
        .ok_or_else(|| format!("invalid package '{value}', expected name=folder"))?;
    Ok((name.to_owned(), path.into()))
}

/// Reads when to colour; `None` if what is written to decides.
pub(crate) fn colour(value: &str) -> Result<Option<Colour>, String> {
    match value {
        "auto" => Ok(None),
        "always" => Ok(Some(Colour::Always)),
        "never" => Ok(Some(Colour::Never)),
        _ => Err(format!("invalid colour choice '{value}'")),
    }
}

/// Reads how many threads work.
pub(crate) fn threads(value: &str) -> Result<usize, String> {
    value.parse().map_err(|_| format!("invalid number '{value}'"))
}

/// Reads standard input as text.
pub(crate) fn standard_input() -> Result<String, String> {
    let fail = |error: &dyn Display| format!("cannot read standard input: {error}");
    let mut text = String::new();
    let mut input = io::stdin().lock().take(MAX_INPUT + 1);
    input.read_to_string(&mut text).map_err(|error| fail(&error))?;
    if text.len() as u64 > MAX_INPUT {
        return Err(fail(&format_args!("it has more than {MAX_INPUT} bytes")));
    }
    Ok(text)
}
