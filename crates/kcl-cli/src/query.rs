//! `kcl query`

use crate::args::{Arity, Opt, Piece, split};
use crate::fetching::provider;
use crate::{Exit, help, run, terminal};
use base_diag::{Diagnostic, SourceMap as _};
use base_system::{OsSystem, System as _};
use base_text::push_json_string;
use kcl_doc::{DocError, Docs, schema_types};
use kcl_driver::query::{OptionInfo, Variable, list_options, list_variables, uses_of};
use kcl_driver::{Compiled, RunOptions};
use std::fmt::Write as _;
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Format,
    Merge,
    Help,
}

const OPTIONS: &[Opt<Key>] = &[
    Opt { key: Key::Format, short: None, long: "format", arity: Arity::One },
    Opt { key: Key::Merge, short: None, long: "merge", arity: Arity::None },
    Opt { key: Key::Help, short: Some('h'), long: "help", arity: Arity::None },
];

/// Runs `kcl query` with the words behind it.
pub(crate) fn run(words: &[String]) -> Exit {
    let pieces = match split(words, OPTIONS) {
        Ok(pieces) => pieces,
        Err(message) => return terminal::usage(&message),
    };
    let (mut words, mut json, mut merge) = (Vec::new(), false, false);
    for piece in pieces {
        match piece {
            Piece::Word(word) => words.push(word),
            Piece::Flag(Key::Merge) => merge = true,
            Piece::Flag(_) => return terminal::write_out(help::QUERY),
            Piece::Value(_, format) => match format.as_str() {
                "json" => json = true,
                "text" => json = false,
                _ => {
                    let message = format!("invalid format '{format}', expected text or json");
                    return terminal::usage(&message);
                }
            },
        }
    }
    let Some((what, rest)) = words.split_first() else {
        return terminal::usage("expected variables, options, schemas or uses");
    };
    let (files, paths): (Vec<&String>, Vec<&String>) =
        rest.iter().partition(|word| names_source(word));
    let files: Vec<String> = files.into_iter().cloned().collect();
    let paths: Vec<String> = paths.into_iter().cloned().collect();
    let files = if files.is_empty() { vec![".".to_owned()] } else { files };
    if what == "schemas" {
        return schemas(files, &paths, json);
    }
    let compiled = match kcl_driver::load(&OsSystem, &RunOptions::files(files)) {
        Ok(compiled) => compiled,
        Err(error) => {
            terminal::write_err(&error.to_text(terminal::auto_colour()));
            return Exit::User;
        }
    };
    let program = &compiled.program;
    match what.as_str() {
        "variables" => {
            let found = list_variables(program, &paths, merge);
            terminal::write_out(&if json {
                variables_json(&compiled, &found)
            } else {
                variables_text(&found)
            })
        }
        "options" => {
            let found = list_options(program);
            terminal::write_out(&if json { options_json(&found) } else { options_text(&found) })
        }
        "uses" => match paths.as_slice() {
            [symbol] => uses(&compiled, symbol),
            _ => terminal::usage("expected one symbol"),
        },
        word => terminal::usage(&format!(
            "unknown question '{word}', expected variables, options, schemas or uses"
        )),
    }
}

/// Shows the types of schemas, and of variables that hold instances.
fn schemas(files: Vec<String>, names: &[String], json: bool) -> Exit {
    let mut options = RunOptions::files(files);
    options.provider = Some(provider());
    let docs = match Docs::read(&OsSystem, &options) {
        Ok((docs, _)) => docs,
        Err(DocError::NoSchemas(_)) => Docs::default(),
        Err(DocError::Load(error)) => {
            terminal::write_err(&error.to_text(terminal::auto_colour()));
            return Exit::User;
        }
    };
    let unknown = names.iter().find(|name| docs.typed_names.iter().all(|(it, _)| it != *name));
    if let Some(name) = unknown {
        let known = docs.typed_names.iter().map(|(name, _)| name.as_str());
        let hint = base_text::nearest(name, known).map(|it| format!(", did you mean `{it}`?"));
        return terminal::fail(&format!("unknown schema `{name}`{}", hint.unwrap_or_default()));
    }
    if !json {
        return terminal::write_out(&schemas_text(&docs, names));
    }
    let mut all = serde_json::Map::new();
    let parts: Vec<Option<&str>> = if names.is_empty() {
        vec![None]
    } else {
        names.iter().map(|it| Some(it.as_str())).collect()
    };
    for name in parts {
        match schema_types::write(&docs, name) {
            Ok(serde_json::Value::Object(types)) => all.extend(types),
            Ok(_) => {}
            Err(error) => return terminal::fail(&error.to_string()),
        }
    }
    let text = serde_json::to_string_pretty(&all).unwrap_or_default();
    terminal::write_out(&format!("{text}\n"))
}

fn schemas_text(docs: &Docs, names: &[String]) -> String {
    let mut out = String::new();
    for (name, (package, schema)) in &docs.typed_names {
        if !names.is_empty() && !names.contains(name) {
            continue;
        }
        let Some(found) = docs.find(package, schema) else { continue };
        if name != schema {
            let _ = writeln!(out, "{name}: {schema}");
            continue;
        }
        let base = found.base.as_ref().map(|(_, base)| format!("({base})")).unwrap_or_default();
        let _ = writeln!(out, "{} {name}{base}", found.kind.as_str());
        for attribute in found.sorted() {
            let mark = if attribute.is_optional { "?" } else { "" };
            let default = attribute.default.as_deref().map(|it| format!(" = {it}"));
            let default = default.unwrap_or_default().replace('\n', "\n    ");
            let _ = writeln!(out, "    {}{mark}: {}{default}", attribute.name, attribute.ty);
        }
    }
    out
}

/// Whether a word names a file or folder, and not a path in a program such as `app.image`.
fn names_source(word: &str) -> bool {
    let is_folder = word == "." || word == ".." || word.contains('/');
    run::is_source(word) || is_folder && OsSystem.is_dir(Path::new(word))
}

fn uses(compiled: &Compiled, symbol: &str) -> Exit {
    let program = &compiled.program;
    let Some(places) = uses_of(program, symbol) else {
        return terminal::fail(&format!("unknown symbol `{symbol}`"));
    };
    let mut out = String::new();
    for at in places {
        let place = program.line_col(at.file, at.span);
        let part = format!("{}:{}:{}\n", program.path(at.file), place.line, place.col);
        out.push_str(&part);
    }
    terminal::write_out(&out)
}

fn variables_text(found: &[(String, Vec<Variable>)]) -> String {
    let mut out = String::new();
    for (name, values) in found {
        for value in values {
            let separator = if value.op == ":" { "" } else { " " };
            let part = format!("{name}{separator}{} {}\n", value.op, value.value);
            out.push_str(&part);
        }
    }
    out
}

fn variables_json(compiled: &Compiled, found: &[(String, Vec<Variable>)]) -> String {
    let mut out = String::from("{\"variables\":{");
    for (at, (name, values)) in found.iter().enumerate() {
        out.push_str(if at > 0 { ",\n" } else { "\n" });
        push_json_string(&mut out, name);
        out.push_str(":[");
        for (at, value) in values.iter().enumerate() {
            out.push_str(if at > 0 { "," } else { "" });
            variable_json(&mut out, value);
        }
        out.push(']');
    }
    out.push_str("},\n\"errors\":");
    let errors: Vec<Diagnostic> =
        compiled.diagnostics.iter().filter(|it| it.is_error()).cloned().collect();
    out.push_str(base_diag::render_json(&errors, &compiled.program).trim_end());
    out.push_str("}\n");
    out
}

fn variable_json(out: &mut String, variable: &Variable) {
    out.push_str("{\"value\":");
    push_json_string(out, &variable.value);
    for (key, text) in [("type", variable.schema.as_str()), ("op", variable.op)] {
        if !text.is_empty() {
            let part = format!(",\"{key}\":");
            out.push_str(&part);
            push_json_string(out, text);
        }
    }
    if !variable.items.is_empty() {
        out.push_str(",\"items\":[");
        for (at, item) in variable.items.iter().enumerate() {
            out.push_str(if at > 0 { "," } else { "" });
            variable_json(out, item);
        }
        out.push(']');
    }
    if !variable.entries.is_empty() {
        out.push_str(",\"entries\":[");
        for (at, (key, value)) in variable.entries.iter().enumerate() {
            out.push_str(if at > 0 { ",[" } else { "[" });
            push_json_string(out, key);
            out.push(',');
            variable_json(out, value);
            out.push(']');
        }
        out.push(']');
    }
    out.push('}');
}

fn options_text(found: &[OptionInfo]) -> String {
    let mut out = String::new();
    for option in found {
        out.push_str(&option.name);
        for (label, text) in [("type", &option.ty), ("default", &option.default)] {
            if !text.is_empty() {
                let part = format!("  {label} {text}");
                out.push_str(&part);
            }
        }
        out.push_str(if option.required { "  required" } else { "" });
        if !option.help.is_empty() {
            let part = format!("  {}", option.help);
            out.push_str(&part);
        }
        out.push('\n');
    }
    out
}

fn options_json(found: &[OptionInfo]) -> String {
    let mut out = String::from("[");
    for (at, option) in found.iter().enumerate() {
        out.push_str(if at > 0 { ",\n{\"name\":" } else { "\n{\"name\":" });
        push_json_string(&mut out, &option.name);
        out.push_str(",\"type\":");
        push_json_string(&mut out, &option.ty);
        let part = format!(",\"required\":{},\"default\":", option.required);
        out.push_str(&part);
        push_json_string(&mut out, &option.default);
        out.push_str(",\"help\":");
        push_json_string(&mut out, &option.help);
        out.push('}');
    }
    out.push_str("\n]\n");
    out
}
