//! The lock file: `.terraform.lock.hcl`, as Terraform and `OpenTofu` write it.

use crate::address::ProviderAddress;
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

/// The providers that may run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lock(BTreeMap<ProviderAddress, Locked>);

/// One version of a provider, with the checksums that it may have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Locked {
    /// The version.
    pub version: String,
    /// The versions that were asked for, such as `~> 2.5`; empty if that is not known.
    pub constraints: String,
    /// Checksums: `h1:` of folders, `zh:` of archives; sorted.
    pub hashes: Vec<String>,
}

impl Locked {
    /// Returns whether a checksum is among those of this version.
    pub fn allows(&self, hash: &str) -> bool {
        self.hashes.iter().any(|it| it == hash)
    }
}

/// A lock file that cannot be read: the line and what is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for LockError {}

impl Lock {
    /// Returns the locked version of a provider.
    pub fn get(&self, address: &ProviderAddress) -> Option<&Locked> {
        self.0.get(address)
    }

    /// Sets the locked version of a provider.
    pub fn insert(&mut self, address: ProviderAddress, mut locked: Locked) {
        locked.hashes.sort();
        locked.hashes.dedup();
        self.0.insert(address, locked);
    }

    /// Reads a lock file.
    ///
    /// # Errors
    ///
    /// The text is not a lock file.
    pub fn parse(text: &str) -> Result<Self, LockError> {
        let mut reader = Reader { tokens: tokens(text)?, place: 0 };
        let mut lock = Self::default();
        while reader.peek().is_some() {
            reader.word("provider")?;
            let line = reader.line();
            let address = reader.text()?;
            let fail = |message: &str| LockError { line, message: message.to_owned() };
            let address = ProviderAddress::parse(&address).ok_or_else(|| {
                fail("expected an address, such as `registry.opentofu.org/hashicorp/local`")
            })?;
            let locked = reader.provider()?;
            if lock.0.contains_key(&address) {
                return Err(fail("this provider is locked twice"));
            }
            lock.insert(address, locked);
        }
        Ok(lock)
    }
}

impl fmt::Display for Lock {
    /// Writes the file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# This file is maintained automatically. Manual edits may be lost.")?;
        for (address, locked) in &self.0 {
            writeln!(f, "\nprovider \"{address}\" {{")?;
            let mut out = String::new();
            if locked.constraints.is_empty() {
                writeln!(out, "  version = \"{}\"", locked.version)?;
            } else {
                writeln!(out, "  version     = \"{}\"", locked.version)?;
                writeln!(out, "  constraints = \"{}\"", locked.constraints)?;
            }
            f.write_str(&out)?;
            writeln!(f, "  hashes = [")?;
            for hash in &locked.hashes {
                writeln!(f, "    \"{hash}\",")?;
            }
            writeln!(f, "  ]\n}}")?;
        }
        Ok(())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Text(String),
    Sign(char),
}

struct Reader {
    tokens: Vec<(usize, Token)>,
    place: usize,
}

impl Reader {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.place).map(|(_, token)| token)
    }

    fn line(&self) -> usize {
        let place = self.place.min(self.tokens.len().saturating_sub(1));
        self.tokens.get(place).map_or(1, |(line, _)| *line)
    }

    fn fail<T>(&self, expected: &str) -> Result<T, LockError> {
        Err(LockError { line: self.line(), message: format!("expected {expected}") })
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.peek().cloned();
        self.place += 1;
        token
    }

    fn word(&mut self, word: &str) -> Result<(), LockError> {
        if self.peek() != Some(&Token::Word(word.to_owned())) {
            return self.fail(&format!("`{word}`"));
        }
        self.place += 1;
        Ok(())
    }

    fn sign(&mut self, sign: char) -> Result<(), LockError> {
        if self.peek() != Some(&Token::Sign(sign)) {
            return self.fail(&format!("`{sign}`"));
        }
        self.place += 1;
        Ok(())
    }

    fn text(&mut self) -> Result<String, LockError> {
        match self.peek().cloned() {
            Some(Token::Text(text)) => {
                self.place += 1;
                Ok(text)
            }
            _ => self.fail("a text in quotes"),
        }
    }

    fn provider(&mut self) -> Result<Locked, LockError> {
        self.sign('{')?;
        let mut locked = Locked::default();
        loop {
            match self.next() {
                Some(Token::Sign('}')) => break,
                Some(Token::Word(name)) => {
                    self.sign('=')?;
                    match name.as_str() {
                        "version" => locked.version = self.text()?,
                        "constraints" => locked.constraints = self.text()?,
                        "hashes" => locked.hashes = self.texts()?,
                        _ => {
                            self.place -= 2;
                            return self.fail("`version`, `constraints` or `hashes`");
                        }
                    }
                }
                _ => {
                    self.place -= 1;
                    return self.fail("`version`, `constraints`, `hashes` or `}`");
                }
            }
        }
        if locked.version.is_empty() {
            self.place -= 1;
            return self.fail("`version` before the end of the provider");
        }
        Ok(locked)
    }

    fn texts(&mut self) -> Result<Vec<String>, LockError> {
        self.sign('[')?;
        let mut texts = Vec::new();
        while self.peek() != Some(&Token::Sign(']')) {
            texts.push(self.text()?);
            if self.peek() != Some(&Token::Sign(',')) {
                break;
            }
            self.place += 1;
        }
        self.sign(']')?;
        Ok(texts)
    }
}

/// Splits a file into words, texts and signs. Comments start with `#` or `//`.
fn tokens(text: &str) -> Result<Vec<(usize, Token)>, LockError> {
    let mut tokens = Vec::new();
    for (index, whole) in text.lines().enumerate() {
        let line = index + 1;
        let fail = |message: &str| LockError { line, message: message.to_owned() };
        let mut rest = whole.trim_start();
        while let Some(first) = rest.chars().next() {
            if first == '#' || rest.starts_with("//") {
                break;
            }
            let token = match first {
                '"' => {
                    let inside = &rest[1..];
                    let end = inside.find('"').ok_or_else(|| fail("a text has no end"))?;
                    let text = &inside[..end];
                    // Addresses, versions and checksums need no escapes.
                    if text.contains(['\\', '$', '%']) {
                        return Err(fail("escapes and templates are not supported here"));
                    }
                    rest = &inside[end + 1..];
                    Token::Text(text.to_owned())
                }
                '{' | '}' | '[' | ']' | '=' | ',' => {
                    rest = &rest[1..];
                    Token::Sign(first)
                }
                c if c.is_ascii_alphabetic() => {
                    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                    let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
                    rest = after;
                    Token::Word(word.to_owned())
                }
                _ => return Err(fail("unexpected character")),
            };
            tokens.push((line, token));
            rest = rest.trim_start();
        }
    }
    Ok(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "registry.terraform.io/hashicorp/local" {
  version     = "2.5.1"
  constraints = "~> 2.5"
  hashes = [
    "h1:8oTPe2VUL6E2d3OcrvqyjI4Nn/Y/UEQN26WLk5O/B0g=",
    "zh:0af29ce2b7b5712319bf6424cb58d13b852bf9a777011a545fac99c7fdcdf561",
  ]
}

provider "registry.opentofu.org/kusion/probe" {
  version = "1.0.0"
  hashes  = []
}
"#;

    #[test]
    fn a_file_of_terraform_is_read_and_written() {
        let lock = Lock::parse(FILE).expect("a lock");
        let local =
            ProviderAddress::parse("registry.terraform.io/hashicorp/local").expect("an address");
        let locked = lock.get(&local).expect("a provider");
        assert_eq!((locked.version.as_str(), locked.constraints.as_str()), ("2.5.1", "~> 2.5"));
        assert!(locked.allows("h1:8oTPe2VUL6E2d3OcrvqyjI4Nn/Y/UEQN26WLk5O/B0g="));
        assert!(!locked.allows("h1:other"));
        assert_eq!(Lock::parse(&lock.to_string()), Ok(lock));
    }

    #[test]
    fn mistakes_are_named_by_line() {
        for (text, message) in [
            ("x", "line 1: expected `provider`"),
            (
                "provider \"a\" {}",
                "line 1: expected an address, such as `registry.opentofu.org/hashicorp/local`",
            ),
            (
                "provider \"r.io/a/b\" {\n}",
                "line 2: expected `version` before the end of the provider",
            ),
            ("provider \"r.io/a/b\" {\n  version = 1\n}", "line 2: unexpected character"),
            (
                "provider \"r.io/a/b\" {\n  other = \"1\"\n}",
                "line 2: expected `version`, `constraints` or `hashes`",
            ),
            (
                "provider \"r.io/a/b\" {\n  version = \"1\"",
                "line 2: expected `version`, `constraints`, `hashes` or `}`",
            ),
            (
                "provider \"r.io/../b\" {\n  version = \"1\"\n}",
                "line 1: expected an address, such as `registry.opentofu.org/hashicorp/local`",
            ),
            ("provider \"", "line 1: a text has no end"),
            ("provider \"${x}\" {}", "line 1: escapes and templates are not supported here"),
        ] {
            assert_eq!(Lock::parse(text).expect_err(text).to_string(), message);
        }
    }

    #[test]
    fn a_provider_is_locked_once() {
        let twice = format!("{FILE}{}", &FILE[FILE.find("provider").unwrap_or(0)..]);
        assert!(Lock::parse(&twice).expect_err("an error").message.contains("twice"));
    }
}
