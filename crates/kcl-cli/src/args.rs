//! Words of the command line: flags, options and positional words.
//!
//! Written by hand: the rules of the reference (an option takes words up to the next flag)
//! differ from those of common crates, and starting up costs nothing.

/// How many values an option takes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Arity {
    /// None: a flag.
    None,
    /// One.
    One,
    /// All words up to the next flag, if they could be values.
    Many(fn(&str) -> bool),
}

/// One option that a command knows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opt<K> {
    /// What it means to the command.
    pub(crate) key: K,
    /// `-x`
    pub(crate) short: Option<char>,
    /// `--name`, with dashes; underscores are accepted, too.
    pub(crate) long: &'static str,
    /// How many values it takes.
    pub(crate) arity: Arity,
}

/// One piece of a command line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece<K> {
    /// A flag.
    Flag(K),
    /// An option with one of its values.
    Value(K, String),
    /// A word that belongs to no option.
    Word(String),
}

/// Splits words into pieces; the error is a message for the user.
pub(crate) fn split<K: Copy>(words: &[String], known: &[Opt<K>]) -> Result<Vec<Piece<K>>, String> {
    let mut pieces = Vec::new();
    let mut rest = words.iter().map(String::as_str).peekable();
    let mut only_words = false;
    while let Some(word) = rest.next() {
        if only_words || word == "-" || !word.starts_with('-') {
            pieces.push(Piece::Word(word.to_owned()));
            continue;
        }
        if word == "--" {
            only_words = true;
            continue;
        }
        let (opt, attached) = match word.strip_prefix("--") {
            Some(long) => find_long(long, known),
            None => find_short(word, known, &mut pieces),
        }
        .ok_or_else(|| unknown(word, known))?;
        if matches!(opt.arity, Arity::None) {
            match attached {
                Some(_) => return Err(format!("unexpected value for '{word}' found")),
                None => pieces.push(Piece::Flag(opt.key)),
            }
            continue;
        }
        let mut is_first = true;
        if let Some(value) = attached {
            pieces.push(Piece::Value(opt.key, value.to_owned()));
            is_first = false;
        }
        let fits = |value: &str, is_first: bool| match opt.arity {
            _ if value.starts_with('-') => false,
            Arity::Many(is_value) => is_first || is_value(value),
            _ => is_first,
        };
        while let Some(value) = rest.next_if(|value| fits(value, is_first)) {
            pieces.push(Piece::Value(opt.key, value.to_owned()));
            is_first = false;
        }
        if is_first {
            return Err(format!("a value is required for '{word}' but none was supplied"));
        }
    }
    Ok(pieces)
}

/// What is said about an unknown option.
fn unknown<K>(word: &str, known: &[Opt<K>]) -> String {
    let name = word.strip_prefix("--").map(|name| name.split('=').next().unwrap_or(name));
    let name = name.map(|name| name.replace('_', "-"));
    match name.and_then(|name| base_text::nearest(&name, known.iter().map(|opt| opt.long))) {
        Some(long) => format!("unexpected argument '{word}' found, did you mean '--{long}'?"),
        None => format!("unexpected argument '{word}' found"),
    }
}

fn find_long<'w, K: Copy>(word: &'w str, known: &[Opt<K>]) -> Option<(Opt<K>, Option<&'w str>)> {
    let (name, value) = match word.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (word, None),
    };
    let name = name.replace('_', "-");
    known.iter().find(|opt| opt.long == name).map(|opt| (*opt, value))
}

/// Finds the option of `-x`, `-xvalue` or the last of `-abc`; flags before it go to `pieces`.
fn find_short<'w, K: Copy>(
    word: &'w str,
    known: &[Opt<K>],
    pieces: &mut Vec<Piece<K>>,
) -> Option<(Opt<K>, Option<&'w str>)> {
    let mut chars = word.char_indices().skip(1).peekable();
    let mut flags = Vec::new();
    while let Some((_, c)) = chars.next() {
        let opt = *known.iter().find(|opt| opt.short == Some(c))?;
        match chars.peek() {
            Some(_) if matches!(opt.arity, Arity::None) => flags.push(Piece::Flag(opt.key)),
            next => {
                pieces.append(&mut flags);
                let value = next.map(|(at, _)| &word[*at..]);
                return Some((opt, value.map(|value| value.strip_prefix('=').unwrap_or(value))));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[Opt<u8>] = &[
        Opt { key: b'n', short: Some('n'), long: "disable-none", arity: Arity::None },
        Opt { key: b'k', short: Some('k'), long: "sort-keys", arity: Arity::None },
        Opt { key: b'f', short: Some('f'), long: "format", arity: Arity::One },
        Opt {
            key: b'D',
            short: Some('D'),
            long: "argument",
            arity: Arity::Many(|word| word.contains('=')),
        },
    ];

    fn show(line: &str) -> String {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        match split(&words, KNOWN) {
            Ok(pieces) => pieces
                .iter()
                .map(|piece| match piece {
                    Piece::Flag(key) => char::from(*key).to_string(),
                    Piece::Value(key, value) => format!("{}:{value}", char::from(*key)),
                    Piece::Word(word) => word.clone(),
                })
                .collect::<Vec<_>>()
                .join(" "),
            Err(message) => message,
        }
    }

    #[test]
    fn options_take_words_up_to_the_next_flag() {
        assert_eq!(show("main.k -D a=1 b=2 -n"), "main.k D:a=1 D:b=2 n");
        assert_eq!(show("-D a=1 main.k"), "D:a=1 main.k");
        assert_eq!(show("-f json main.k -"), "f:json main.k -");
    }

    #[test]
    fn every_spelling() {
        assert_eq!(show("--disable_none --sort-keys"), "n k");
        assert_eq!(show("-nk -fjson --format=yaml -kD a=1"), "n k f:json f:yaml k D:a=1");
        assert_eq!(show("-n -- -n"), "n -n");
    }

    #[test]
    fn what_is_refused() {
        assert_eq!(show("-x"), "unexpected argument '-x' found");
        assert_eq!(show("--no"), "unexpected argument '--no' found");
        let hint = "did you mean '--format'?";
        assert_eq!(show("--frmat=a"), format!("unexpected argument '--frmat=a' found, {hint}"));
        assert_eq!(show("-f -n"), "a value is required for '-f' but none was supplied");
    }
}
