//! `template`: Handlebars.

use crate::args::{get, only, text};
use crate::function::{Function, Module};
use crate::host::{Host, too_much_memory};
use handlebars::{
    Context, Handlebars, Helper, HelperResult, JsonRender as _, Output, RenderContext, RenderError,
    RenderErrorReason, TemplateError,
};
use kcl_value::{CallArgs, Dict, Fault, Result, Value, fits};
use serde_json::{Map, Number, Value as Json};
use std::io;

pub(super) const MODULE: Module = Module {
    name: "template",
    functions: &[
        Function::new("execute", execute),
        Function::new("html_escape", |_, args| {
            let data = text(only(args, "data", "html_escape")?);
            Ok(Value::str(handlebars::html_escape(data)))
        }),
    ],
    constants: &[],
};

/// Deeper nesting of blocks or of brackets is refused.
const MAX_NESTING: usize = 100;

/// The parser of templates asks how much is left of the stack; on one that is not the thread's
/// own, it gets one of which this is known.
const STACK: usize = 8 << 20;

/// What the nesting that is allowed needs.
const MIN_STACK: usize = 1 << 20;

fn execute(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let room = host.room();
    let template = text(only(args, "template", "execute")?);
    let data = match get(args, 1, "data") {
        Some(data) if !fits(data, room) => return Err(too_much_memory()),
        Some(data) => object(data.as_config().ok_or_else(|| Fault::new("invalid dict value"))?),
        None => Json::Object(Map::new()),
    };
    fill(template, &data, room).map(Value::str).map_err(|wrong| match wrong {
        Wrong::Nesting(message) => Fault::new(format!("register template failed: {message}")),
        Wrong::Template(error) => Fault::new(format!("register template failed: {error:?}")),
        Wrong::Data(error) => Fault::new(format!("render template failed: {error:?}")),
        Wrong::TooLong => too_much_memory(),
    })
}

/// Why a template is not filled.
enum Wrong {
    Nesting(&'static str),
    Template(Box<TemplateError>),
    Data(Box<RenderError>),
    TooLong,
}

/// Fills a Handlebars template with data. The result may take so many bytes; partials that include
/// each other and deep nesting are refused. `{{raw value}}` writes a value without escapes.
///
/// # Errors
///
/// If the template is not valid, or the result is too long.
pub fn fill_template(
    template: &str,
    data: &Json,
    room: usize,
) -> std::result::Result<String, String> {
    fill(template, data, room).map_err(|wrong| match wrong {
        Wrong::Nesting(message) => message.to_owned(),
        Wrong::Template(error) => match error.pos() {
            Some((line, column)) => format!("line {line}, column {column}: {}", error.reason()),
            None => error.reason().to_string(),
        },
        Wrong::Data(error) => match error.line_no {
            Some(line) => format!("line {line}: {}", error.reason()),
            None => error.reason().to_string(),
        },
        Wrong::TooLong => format!("the page takes more than {room} bytes"),
    })
}

fn fill(template: &str, data: &Json, room: usize) -> std::result::Result<String, Wrong> {
    check_nesting(template).map_err(Wrong::Nesting)?;
    stacker::maybe_grow(MIN_STACK, STACK, || fill_here(template, data, room))
}

fn fill_here(template: &str, data: &Json, room: usize) -> std::result::Result<String, Wrong> {
    let mut engine = Handlebars::new();
    engine.register_helper("raw", Box::new(raw));
    engine
        .register_template_string("template", template)
        .map_err(|error| Wrong::Template(Box::new(error)))?;
    let mut out = Limited { text: Vec::new(), room, is_full: false };
    match engine.render_to_write("template", data, &mut out) {
        _ if out.is_full => Err(Wrong::TooLong),
        Ok(()) => Ok(String::from_utf8_lossy(&out.text).into_owned()),
        Err(error) => Err(Wrong::Data(Box::new(error))),
    }
}

/// A text that ends in an error when it gets too long.
struct Limited {
    text: Vec<u8>,
    room: usize,
    is_full: bool,
}

impl io::Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.text.len() + bytes.len() > self.room {
            self.is_full = true;
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// `{{raw value}}`: the value as it is.
fn raw(
    helper: &Helper<'_>,
    _: &Handlebars<'_>,
    _: &Context,
    _: &mut RenderContext<'_, '_>,
    out: &mut dyn Output,
) -> HelperResult {
    let Some(value) = helper.param(0) else {
        return Err(RenderErrorReason::Other("Parameter not found".to_owned()).into());
    };
    out.write(&value.value().render())?;
    Ok(())
}

/// Refuses what the engine would follow without end: deep nesting, and inline partials
/// that include partials.
fn check_nesting(template: &str) -> std::result::Result<(), &'static str> {
    let mut blocks = 0_usize;
    let mut inline = 0_usize;
    for tag in template.split("{{").skip(1) {
        let tag = tag.trim_start_matches(['~', '{', ' ', '\t', '\r', '\n']);
        let is_inline = tag.starts_with("#*") || tag.starts_with("#>");
        if inline > 0 && (tag.starts_with('>') || tag.starts_with("#>")) {
            return Err("an inline partial must not include partials");
        }
        if tag.starts_with('#') {
            blocks += 1;
            inline += usize::from(is_inline || inline > 0);
        } else if tag.starts_with('/') {
            blocks = blocks.saturating_sub(1);
            inline = inline.saturating_sub(1);
        }
        let end = tag.find("}}").unwrap_or(tag.len());
        let mut depth = 0_usize;
        let brackets = tag[..end].bytes().fold(0, |deepest, byte| {
            match byte {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth.max(deepest)
        });
        if blocks > MAX_NESTING || brackets > MAX_NESTING {
            return Err("the template nests too deeply");
        }
    }
    Ok(())
}

/// The entries in alphabetical order, in which `{{#each}}` goes through them.
fn object(dict: &Dict) -> Json {
    let mut entries: Vec<_> = dict.iter().collect();
    entries.sort_by(|a, b| a.key.cmp(&b.key));
    Json::Object(entries.iter().map(|entry| (entry.key.to_string(), json(&entry.value))).collect())
}

fn json(value: &Value) -> Json {
    let float = |number| Number::from_f64(number).map_or(Json::Null, Json::Number);
    match value {
        Value::Undefined | Value::None => Json::Null,
        Value::Bool(flag) => Json::Bool(*flag),
        Value::Int(number) => Json::Number((*number).into()),
        Value::Float(number) => float(*number),
        Value::Unit(number) => float(number.value),
        Value::Str(text) => Json::String(text.to_string()),
        Value::List(list) => Json::Array(list.items.iter().map(json).collect()),
        Value::Dict(dict) => object(dict),
        Value::Schema(schema) => object(&schema.attrs),
        Value::Func(_) => Json::Number(0.into()),
    }
}
