//! Plugins, good and bad.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "that is how plugins talk")]

use crate::support::{PROTOCOL, launch, this_program};
use base_plugin::Process;
use std::fs::OpenOptions;
use std::io::{BufRead as _, Write as _};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

/// Plays a role: the first word is its name.
pub(crate) fn play(words: &[String]) -> ExitCode {
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    match word(0) {
        "echo" => {
            answer(|id, line| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{line}}}"))
        }
        "refuse" => answer(|id, _| {
            format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":7,\"message\":\"no\"}}}}"
            )
        }),
        "say" => {
            let line = word(1).to_owned();
            answer(move |id, _| line.replace("@id@", id))
        }
        "environment" => {
            let names: Vec<String> = std::env::vars().map(|(name, _)| name).collect();
            let folder = std::env::current_dir().unwrap_or_default().display().to_string();
            let text = format!("{:?}", (names, folder)).replace(['(', '"'], "");
            answer(move |id, _| {
                format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":\"{text}\"}}")
            })
        }
        "crash" => answer(|_, _| {
            eprintln!("bad\nworse\n");
            std::process::exit(3);
        }),
        "abort" => answer(|_, _| std::process::abort()),
        "hang" => answer(|_, _| {
            eprintln!("waiting for \x1b[31mthe server");
            sleep()
        }),
        "deaf" => answer_first_then(sleep),
        "flood" => answer(|_, _| {
            let chunk = vec![b'x'; 65536];
            while std::io::stdout().write_all(&chunk).is_ok() {}
            sleep()
        }),
        "complain" => answer(|_, _| {
            let chunk = vec![b'y'; 65536];
            while std::io::stderr().write_all(&chunk).is_ok() {}
            sleep()
        }),
        "eat" => answer(|id, _| {
            let mut eaten = Vec::new();
            for _ in 0..64 {
                let mut part: Vec<u8> = Vec::new();
                if part.try_reserve_exact(1 << 20).is_err() {
                    return format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":\"full\"}}");
                }
                part.resize(1 << 20, 1);
                eaten.push(part);
            }
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{}}}", eaten.len())
        }),
        "family" => family(Path::new(word(1)), word(2)),
        "child" => {
            note_id(Path::new(word(1)));
            sleep()
        }
        "asker" => asker(word(1)),
        _ => ExitCode::from(99),
    }
}

fn sleep() -> ! {
    loop {
        std::thread::sleep(Duration::from_hours(1));
    }
}

fn id_of(line: &str) -> &str {
    let rest = line.split_once("\"id\":").map_or("", |(_, rest)| rest);
    rest.split([',', '}']).next().unwrap_or_default()
}

/// Speaks the protocol; the answer to each question is that of a function of its id and text.
fn answer(respond: impl Fn(&str, &str) -> String) -> ExitCode {
    for (at, line) in std::io::stdin().lock().lines().map_while(Result::ok).enumerate() {
        let id = id_of(&line);
        let text = if at == 0 {
            format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"protocol\":\"{PROTOCOL}\"}}}}"
            )
        } else {
            respond(id, &line)
        };
        println!("{text}");
    }
    ExitCode::SUCCESS
}

/// Answers the first message and reads nothing more.
fn answer_first_then(end: fn() -> !) -> ExitCode {
    let mut line = String::new();
    let _ = std::io::stdin().read_line(&mut line);
    let id = id_of(&line);
    println!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"protocol\":\"{PROTOCOL}\"}}}}");
    end()
}

fn note_id(path: &Path) {
    let file = OpenOptions::new().create(true).append(true).open(path);
    let _ = file.and_then(|mut it| it.write_all(format!("{}\n", std::process::id()).as_bytes()));
}

/// Starts a child, and one in a session of its own, and then hangs, ends or answers.
fn family(path: &Path, how: &str) -> ExitCode {
    note_id(path);
    let child = |program: &Path| {
        let mut command = Command::new(program);
        command.args(["role", "child"]).arg(path);
        command
    };
    let plain = child(&this_program()).spawn();
    // As a daemon does it: the parent ends, the child has its own session.
    let mut apart = Command::new("setsid");
    apart.arg("-f").arg(this_program()).args(["role", "child"]).arg(path);
    let apart = apart.status();
    if plain.is_err() || apart.is_err() {
        return ExitCode::from(98);
    }
    while std::fs::read_to_string(path).map_or(0, |text| text.lines().count()) < 3 {
        std::thread::sleep(Duration::from_millis(5));
    }
    match how {
        "hang" => answer(|_, _| sleep()),
        "crash" => answer(|_, _| std::process::exit(4)),
        _ => answer(|id, _| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":1}}")),
    }
}

/// Asks a family, and hangs until it is killed.
fn asker(path: &str) -> ExitCode {
    let Ok(mut process) = Process::start(&launch(&["family", path, "answer"]), None) else {
        return ExitCode::from(97);
    };
    let _ = process.ask("x", "[]", None);
    println!("asked");
    sleep()
}
