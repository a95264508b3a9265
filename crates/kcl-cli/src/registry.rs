//! `kcl registry`: credentials of registries.

use crate::args::{Arity, Opt, Piece, split};
use crate::ask::{ask, ask_hidden, can_ask};
use crate::module::{Stop, finish};
use crate::{Exit, terminal};
use base_system::OsSystem;
use kcl_fetch::{Credential, Credentials, Registry, Silent};
use kcl_pkg::Repository;
use std::io::{self, Read as _};
use std::sync::Arc;

/// What `kcl registry --help` says.
pub(crate) const HELP: &str = "\
Store and remove credentials of registries.

Usage: kcl registry <command> [options]

Commands:
  login   Check and store a user and a password
  logout  Remove them

Run 'kcl registry <command> --help' for its options.
";

const LOGIN: &str = "\
Check a user and a password, and store them for this registry.

Usage: kcl registry login [options] <host>

They are stored in .kpm/config/config.json in KCL_PKG_PATH (default: ~/.kcl/kpm), readable
for you only and not encrypted. Logins of docker and podman are used, too. On a terminal,
what is not given is asked for.

Example:
  echo \"$TOKEN\" | kcl registry login ghcr.io --username me --password-stdin

Options:
  -u, --username <user>      User
  -p, --password <password>  Password or token; other users of this machine may see it
      --password-stdin       Read the password from standard input
  -h, --help                 Print this text
";

const LOGOUT: &str = "\
Remove the stored user and password of a registry.

Usage: kcl registry logout [options] <host>

Options:
  -h, --help  Print this text
";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    User,
    Password,
    FromInput,
    Help,
}

const OPTIONS: &[Opt<Key>] = &[
    Opt { key: Key::User, short: Some('u'), long: "username", arity: Arity::One },
    Opt { key: Key::Password, short: Some('p'), long: "password", arity: Arity::One },
    Opt { key: Key::FromInput, short: None, long: "password-stdin", arity: Arity::None },
    Opt { key: Key::Help, short: Some('h'), long: "help", arity: Arity::None },
];

/// Returns what `--help` of a command of `kcl registry` says.
pub(crate) fn help_text(command: &str) -> Option<&'static str> {
    match command {
        "login" => Some(LOGIN),
        "logout" => Some(LOGOUT),
        _ => None,
    }
}

/// Runs `kcl registry` with the words behind it.
pub(crate) fn run(words: &[String]) -> Exit {
    let Some((command, rest)) = words.split_first() else {
        terminal::write_out(HELP);
        return Exit::Usage;
    };
    let result = match command.as_str() {
        "login" => parse(rest).and_then(login),
        "logout" => parse(rest).and_then(|line| logout(&line)),
        "help" | "--help" | "-h" => return terminal::write_out(HELP),
        word => Err(Stop::Usage(crate::unknown("registry", word))),
    };
    finish(result, help_text(command).unwrap_or(HELP))
}

/// What the command line says.
#[derive(Default)]
struct Line {
    registry: String,
    user: Option<String>,
    password: Option<String>,
    from_input: bool,
}

fn parse(words: &[String]) -> Result<Line, Stop> {
    let mut line = Line::default();
    for piece in split(words, OPTIONS).map_err(Stop::Usage)? {
        match piece {
            Piece::Flag(Key::FromInput) => line.from_input = true,
            Piece::Flag(_) => return Err(Stop::Help),
            Piece::Value(Key::User, value) => line.user = Some(value),
            Piece::Value(_, value) => line.password = Some(value),
            Piece::Word(word) if line.registry.is_empty() => line.registry = host(&word)?,
            Piece::Word(word) => {
                return Err(Stop::Usage(format!("unexpected argument '{word}' found")));
            }
        }
    }
    if line.registry.is_empty() {
        return Err(Stop::Usage("expected the host of a registry, such as 'ghcr.io'".to_owned()));
    }
    Ok(line)
}

/// Reads the host of a registry, with or without a scheme.
fn host(word: &str) -> Result<String, Stop> {
    let rest = word.split_once("://").map_or(word, |(_, rest)| rest).trim_end_matches('/');
    let found = Repository::parse(&format!("oci://{rest}/x"));
    found.map(|it| it.registry).map_err(Stop::Failed)
}

fn login(line: Line) -> Result<Exit, Stop> {
    let user = match line.user {
        Some(user) => user,
        None if can_ask() => ask("Username: ").map_err(Stop::failed)?,
        None => return Err(Stop::Usage("expected --username <user>".to_owned())),
    };
    let password = match line.password {
        Some(password) => password,
        None if line.from_input => {
            let mut text = String::new();
            io::stdin().lock().take(1 << 16).read_to_string(&mut text).map_err(Stop::failed)?;
            text.trim_end_matches(['\r', '\n']).to_owned()
        }
        None if can_ask() => ask_hidden("Password: ").map_err(Stop::failed)?,
        None => {
            return Err(Stop::Usage("expected --password-stdin or --password".to_owned()));
        }
    };
    let credential = Credential::Password { user, password };
    let credentials = Credentials::from_env(&OsSystem);
    let client = Registry::new(credentials.clone(), Arc::new(Silent));
    client.check(&line.registry, &credential).map_err(Stop::failed)?;
    let path = credentials.store(&line.registry, &credential).map_err(|error| {
        Stop::Failed(format!("cannot store the login to {}: {error}", line.registry))
    })?;
    let text = format!("logged in to {}, stored in {}\n", line.registry, path.display());
    Ok(terminal::write_out(&text))
}

fn logout(line: &Line) -> Result<Exit, Stop> {
    let credentials = Credentials::from_env(&OsSystem);
    let removed = credentials.remove(&line.registry).map_err(|error| {
        Stop::Failed(format!("cannot remove the login to {}: {error}", line.registry))
    })?;
    let text = if removed { "logged out of" } else { "there was no login to" };
    Ok(terminal::write_out(&format!("{text} {}\n", line.registry)))
}
