//! The reference of commands in `docs/cli.md`: made from the commands, and checked.

use crate::Args;
use clap::{Arg, Command, CommandFactory as _};
use std::fmt::Write as _;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/cli.md");
const BEGIN: &str = "<!-- commands: made by `UPDATE=1 cargo test -p kusion-cli reference` -->\n";
const END: &str = "<!-- end of commands -->\n";

/// Describes a command and those below it.
fn describe(command: &Command, path: &str, text: &mut String) {
    let path = format!("{path}{}", command.get_name());
    let below: Vec<&Command> = command.get_subcommands().filter(|it| !it.is_hide_set()).collect();
    if below.is_empty() {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let places: Vec<String> = command.get_positionals().map(place).collect();
        let places = places.join(" ");
        let _ = writeln!(text, "### `{}`\n\n{about}.\n", format!("{path} {places}").trim_end());
        let options: Vec<String> = command
            .get_arguments()
            .filter(|it| !it.is_positional() && !it.is_hide_set())
            // Those that every command has are described once.
            .filter(|it| {
                !["help", "version"].contains(&it.get_id().as_str()) && !it.is_global_set()
            })
            .map(option)
            .collect();
        if !options.is_empty() {
            let _ = writeln!(text, "| option | meaning |\n|---|---|\n{}\n", options.join("\n"));
        }
    }
    for inner in below.into_iter().filter(|it| it.get_name() != "help") {
        describe(inner, &format!("{path} "), text);
    }
}

fn names(argument: &Arg) -> String {
    argument.get_value_names().unwrap_or_default().join(" ")
}

fn place(argument: &Arg) -> String {
    let is_many = argument.get_num_args().is_some_and(|it| it.max_values() > 1)
        || matches!(argument.get_action(), clap::ArgAction::Append);
    let dots = if is_many { "…" } else { "" };
    let name = names(argument);
    if argument.is_required_set() { name } else { format!("[{name}]{dots}") }
}

fn option(argument: &Arg) -> String {
    let mut words: Vec<String> =
        argument.get_short().map(|it| format!("-{it}")).into_iter().collect();
    words.extend(argument.get_long().map(|it| format!("--{it}")));
    let mut head = words.join(", ");
    if argument.get_action().takes_values() {
        let (name, equals) = (names(argument), argument.is_require_equals_set());
        let _ = if equals { write!(head, "[={name}]") } else { write!(head, " {name}") };
    }
    let mut help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let values: Vec<String> =
        argument.get_possible_values().iter().map(|it| format!("`{}`", it.get_name())).collect();
    if argument.get_action().takes_values() && !values.is_empty() {
        let _ = write!(help, ": {}", values.join(", "));
    }
    let defaults: Vec<String> = argument
        .get_default_values()
        .iter()
        .map(|it| it.to_string_lossy().into_owned())
        .filter(|it| !it.is_empty() && argument.get_action().takes_values())
        .collect();
    if !defaults.is_empty() {
        let _ = write!(help, " (default `{}`)", defaults.join(", "));
    }
    format!("| `{}` | {} |", head.replace('|', "\\|"), help.replace('|', "\\|"))
}

#[test]
fn the_reference_is_up_to_date() {
    let mut commands = String::from(BEGIN);
    commands.push('\n');
    let mut command = Args::command();
    command.build();
    describe(&command, "", &mut commands);
    commands.push_str(END);
    let text = std::fs::read_to_string(FILE).expect("docs/cli.md is there");
    let (before, rest) = text.split_once(BEGIN).expect("the mark of the commands is there");
    let (_, after) = rest.split_once(END).expect("the end of the commands is there");
    let wanted = format!("{before}{commands}{after}");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(FILE, wanted).expect("docs/cli.md can be written");
    } else {
        assert!(text == wanted, "run `UPDATE=1 cargo test -p kusion-cli reference`");
    }
}

#[test]
fn every_event_is_in_the_reference() {
    let text = std::fs::read_to_string(FILE).expect("docs/cli.md is there");
    let names = [
        "locked",
        "recovered",
        "releaseOpened",
        "stepStarted",
        "stepRetried",
        "stepEnded",
        "health",
        "warning",
        "releaseClosed",
        "plan",
        "watchEnded",
        "status",
        "release",
        "check",
        "diagnostics",
        "error",
    ];
    for name in names {
        assert!(text.contains(&format!("| `{name}` |")), "`{name}` is missing");
    }
}

#[test]
fn every_code_of_an_error_has_its_troubleshooting() {
    let text = std::fs::read_to_string(FILE).expect("docs/cli.md is there");
    let path = FILE.replace("cli.md", "troubleshooting.md");
    let page = std::fs::read_to_string(path).expect("docs/troubleshooting.md is there");
    let (_, codes) = text.split_once("<!-- codes -->\n").expect("the mark of the codes is there");
    let (codes, _) = codes.split_once("<!-- end of codes -->").expect("the end is there");
    let codes: Vec<&str> = codes.split('`').skip(1).step_by(2).collect();
    assert!(codes.len() > 30, "{codes:?}");
    for code in codes {
        assert!(page.contains(&format!("`{code}`")), "`{code}` is missing");
    }
}
