//! The formatter, with programs that have comments and odd layout.

use crate::target::Reached;
use crate::{generate, mutate};
use kcl_fmt::FormatError;
use testkit::Rng;

/// Makes a program, generated or real, with comments in many places and empty lines.
pub(crate) fn program(rng: &mut Rng, seeds: &[String]) -> String {
    let text = match rng.below(4) {
        0 if !seeds.is_empty() => rng.pick(seeds).clone(),
        1 if !seeds.is_empty() => mutate::program(rng, seeds),
        _ => generate::program(rng),
    };
    sprinkle(rng, &text)
}

/// Puts comments and empty lines between lines and at their ends. Inside of strings they are text,
/// which must stay as it is.
fn sprinkle(rng: &mut Rng, text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let density = 2 + rng.below(8);
    for (number, line) in text.lines().enumerate() {
        if rng.one_in(density) {
            let width = line.len() - line.trim_start().len();
            let width = if rng.one_in(4) { rng.below(12) } else { width };
            out.push_str(&" ".repeat(width));
            let comment = format!("# own {number}\n");
            out.push_str(&comment);
        }
        if rng.one_in(density) {
            out.push_str(if rng.one_in(3) { "\n\n" } else { "\n" });
        }
        out.push_str(line);
        if rng.one_in(density) && !line.is_empty() {
            let comment = format!("{}# end {number}", " ".repeat(rng.below(4)));
            out.push_str(&comment);
        }
        out.push('\n');
    }
    if rng.one_in(10) { out.replace('\n', "\r\n") } else { out }
}

/// What is formatted means the same, has the same comments, and stays as it is when it is formatted
/// again; a text with syntax errors is refused.
pub(crate) fn feed(text: &str) -> Result<Reached, String> {
    let formatted = match kcl_fmt::format(text) {
        Ok(formatted) => formatted,
        Err(FormatError::Syntax(_)) => return Ok(Reached::Rejected),
        Err(FormatError::Changed) => return Err("formatting changes the tree".into()),
    };
    match kcl_fmt::format(&formatted) {
        Ok(again) if again == formatted => {}
        Ok(_) => return Err("formatting is not stable".into()),
        Err(_) => return Err("the formatted program is refused".into()),
    }
    if comments(text) != comments(&formatted) {
        return Err("formatting changes a comment".into());
    }
    Ok(Reached::Accepted)
}

/// The comments of a program, sorted: one that stands inside a line may go before it.
fn comments(text: &str) -> Vec<&str> {
    let spans = kcl_syntax::parse(text).module.comments;
    let mut comments: Vec<&str> = spans.into_iter().map(|it| it.slice(text)).collect();
    comments.sort_unstable();
    comments
}
