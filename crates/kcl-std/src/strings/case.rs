//! Upper and lower case, kinds of characters.

use kcl_value::{CallArgs, Result, Str, Value};

pub(super) fn lower(text: &Str, _: &CallArgs, _: usize) -> Result<Value> {
    Ok(Value::str(text.to_lowercase()))
}

pub(super) fn upper(text: &Str, _: &CallArgs, _: usize) -> Result<Value> {
    Ok(Value::str(text.to_uppercase()))
}

pub(super) fn capitalize(text: &Str, _: &CallArgs, _: usize) -> Result<Value> {
    let mut chars = text.chars();
    let mut out = String::with_capacity(text.len());
    if let Some(first) = chars.next() {
        out.extend(first.to_uppercase());
    }
    out.push_str(&chars.as_str().to_lowercase());
    Ok(Value::str(out))
}

pub(super) fn title(text: &Str, _: &CallArgs, _: usize) -> Result<Value> {
    let mut out = String::with_capacity(text.len());
    let mut in_word = false;
    for c in text.chars() {
        if c.is_lowercase() && !in_word {
            push_titlecase(&mut out, c);
        } else if (c.is_uppercase() || is_titlecase(c)) && in_word {
            out.extend(c.to_lowercase());
        } else {
            out.push(c);
        }
        in_word = is_cased(c);
    }
    Ok(Value::str(out))
}

pub(super) fn isalpha(text: &Str, _: &CallArgs, _: usize) -> Result<Value> {
    all(text, char::is_alphabetic)
}

pub(super) fn isalnum(text: &Str, _: &CallArgs, _: usize) -> Result<Value> {
    all(text, char::is_alphanumeric)
}

pub(super) fn isdigit(text: &Str, _: &CallArgs, _: usize) -> Result<Value> {
    all(
        text,
        |c| matches!(c, '0'..='9' | '\u{b2}' | '\u{b3}' | '\u{b9}' | '\u{2070}' | '\u{2074}'..='\u{2079}'),
    )
}

pub(super) fn isspace(text: &Str, _: &CallArgs, _: usize) -> Result<Value> {
    // The separators FS, GS, RS and US end lines or columns, too.
    all(text, |c| c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}'))
}

fn all(text: &str, kind: fn(char) -> bool) -> Result<Value> {
    Ok(Value::Bool(!text.is_empty() && text.chars().all(kind)))
}

pub(super) fn islower(text: &Str, _: &CallArgs, _: usize) -> Result<Value> {
    only(text, char::is_lowercase, char::is_uppercase)
}

pub(super) fn isupper(text: &Str, _: &CallArgs, _: usize) -> Result<Value> {
    only(text, char::is_uppercase, char::is_lowercase)
}

fn only(text: &str, wanted: fn(char) -> bool, refused: fn(char) -> bool) -> Result<Value> {
    Ok(Value::Bool(text.chars().any(wanted) && !text.chars().any(refused)))
}

pub(super) fn istitle(text: &Str, _: &CallArgs, _: usize) -> Result<Value> {
    let mut in_word = false;
    let mut cased = false;
    for c in text.chars() {
        let starts_word = c.is_uppercase() || is_titlecase(c);
        if starts_word && in_word || c.is_lowercase() && !in_word {
            return Ok(Value::Bool(false));
        }
        in_word = is_cased(c);
        cased |= in_word;
    }
    Ok(Value::Bool(cased))
}

fn is_cased(c: char) -> bool {
    c.is_lowercase() || c.is_uppercase() || is_titlecase(c)
}

/// Whether a character is a digraph or Greek letter of title case.
fn is_titlecase(c: char) -> bool {
    matches!(
        c,
        'ǅ' | 'ǈ' | 'ǋ' | 'ǲ' | '\u{1f88}'..='\u{1f8f}' | '\u{1f98}'..='\u{1f9f}'
            | '\u{1fa8}'..='\u{1faf}' | 'ᾼ' | 'ῌ' | 'ῼ'
    )
}

/// Adds the title case of a character. Of several letters that are one in lower case, only the
/// first one is in upper case: `ß` becomes `Ss`.
fn push_titlecase(out: &mut String, c: char) {
    if let Some(title) = to_titlecase(c) {
        out.push(title);
        return;
    }
    let mut upper = c.to_uppercase();
    if c == 'ŉ' {
        // The apostrophe is no letter.
        out.extend(upper);
        return;
    }
    out.extend(upper.next());
    for letter in upper {
        match letter {
            // An iota below the letter stays there.
            'Ι' => out.push('\u{345}'),
            letter => out.extend(letter.to_lowercase()),
        }
    }
}

/// The title case of a character where it is a single one other than its upper case.
fn to_titlecase(c: char) -> Option<char> {
    Some(match c {
        'ǆ' => 'ǅ',
        'ǉ' => 'ǈ',
        'ǌ' => 'ǋ',
        'ǳ' => 'ǲ',
        '\u{1f80}'..='\u{1f87}' | '\u{1f90}'..='\u{1f97}' | '\u{1fa0}'..='\u{1fa7}' => {
            char::from_u32(u32::from(c) + 8)?
        }
        'ᾳ' => 'ᾼ',
        'ῃ' => 'ῌ',
        'ῳ' => 'ῼ',
        _ => return None,
    })
}
