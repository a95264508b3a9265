//! The output of a program as data.
//!
//! The values are those that the JSON writer writes, with the same rules for what is left out.

use crate::evaluate::{check_size, too_long};
use crate::places::{NodeKind, NodeStep, Places, PlacesBuilder};
use kcl_eval::Evaluated;
use kcl_hir::Program;
use kcl_value::output::{self, Filter, OutputOptions, Stream, TYPE_KEY};
use kcl_value::{Dict, Fault, List, Origin, Result, Value, text_size};
use serde_json::{Map, Number, Value as Json};
use std::sync::Arc;

/// How deep documents may nest, as in readers of JSON: users of the data may have small stacks.
const MAX_DEPTH: usize = 127;

/// The output of a program as data.
#[derive(Clone, Debug, Default)]
pub struct Documents {
    /// The documents, in order.
    pub values: Vec<Json>,
    /// Whether the output is a list of documents: then the first step of a path into the output
    /// is the number of a document. Otherwise the only document is the output itself.
    pub is_list: bool,
    /// What gave the leaves.
    pub places: Arc<Places>,
}

/// Makes data of what programs gave; these are all that were evaluated for it, in order.
pub(crate) fn documents(
    evaluated: &Evaluated,
    programs: &[&Program],
    selectors: &[String],
    options: OutputOptions,
    limit: usize,
) -> Result<Documents> {
    let provenance = &evaluated.provenance;
    if let Some(last) = &evaluated.stream {
        let earlier = evaluated.earlier_streams.iter().map(|it| (&it.stream, it.origin));
        let streams = earlier.chain([(last, provenance.stream_at())]);
        return joined(streams, PlacesBuilder::new(provenance, programs), options, limit);
    }
    let filter = options.filter();
    let origin = if selectors.is_empty() { provenance.root() } else { Origin::default() };
    let value = &output::select_all(&evaluated.value, selectors, options)?;
    check_size(value, filter, limit)?;
    let is_list = output::is_documents(value);
    let mut converter =
        Converter { filter, places: PlacesBuilder::new(provenance, programs), depth: 0 };
    let values = match value {
        Value::List(items) if is_list => {
            let root = converter.places.begin(NodeStep::index(0), NodeKind::List);
            let mut values = Vec::with_capacity(items.items.len());
            converter.documents(items, origin, &mut values)?;
            converter.places.end(root, origin);
            values
        }
        _ => vec![converter.document(value, NodeStep::index(0), origin)?],
    };
    Ok(Documents { values, is_list, places: Arc::new(converter.places.finish()) })
}

/// Makes data of streams, each with the call that it was given to: the documents of all, in order.
fn joined<'v>(
    streams: impl Iterator<Item = (&'v Stream, Origin)>,
    places: PlacesBuilder<'v>,
    options: OutputOptions,
    limit: usize,
) -> Result<Documents> {
    let mut converter = Converter { filter: options.filter(), places, depth: 0 };
    let root = converter.places.begin(NodeStep::index(0), NodeKind::List);
    let (mut values, mut call, mut room) = (Vec::new(), Origin::default(), limit);
    for (stream, origin) in streams {
        (converter.filter, call) = (stream.filter(options), origin);
        let size = text_size(&stream.documents, converter.filter, 0, room);
        room -= size.ok_or_else(|| too_long(limit))?.min(room);
        if let Value::List(items) = &stream.documents {
            converter.documents(items, origin, &mut values)?;
        }
    }
    converter.places.end(root, call);
    Ok(Documents { values, is_list: true, places: Arc::new(converter.places.finish()) })
}

struct Converter<'v> {
    filter: Filter,
    places: PlacesBuilder<'v>,
    depth: usize,
}

impl<'v> Converter<'v> {
    /// Converts the documents of a list, and adds them to others.
    fn documents(&mut self, list: &'v List, origin: Origin, values: &mut Vec<Json>) -> Result<()> {
        for (at, item) in list.items.iter().enumerate() {
            let own = list.origins.get(at).copied().unwrap_or_default();
            let step = NodeStep::index(values.len());
            values.push(self.document(item, step, innermost(own, origin))?);
        }
        Ok(())
    }

    /// Converts a document. `_type` is not added to its top.
    fn document(&mut self, value: &'v Value, step: NodeStep, origin: Origin) -> Result<Json> {
        match value {
            Value::Schema(schema) => self.dict(&schema.attrs, None, step, origin),
            _ => self.value(value, step, origin),
        }
    }

    /// Converts a value that `origin` gave, unless its parts know better.
    fn value(&mut self, value: &'v Value, step: NodeStep, origin: Origin) -> Result<Json> {
        let leaf = match value {
            Value::List(list) => return self.list(list, step, origin),
            Value::Dict(dict) => return self.dict(dict, None, step, origin),
            Value::Schema(schema) => {
                return self.dict(&schema.attrs, self.filter.type_name(schema), step, origin);
            }
            Value::Undefined | Value::None => Json::Null,
            Value::Func(_) => Json::from(0),
            Value::Bool(flag) => Json::Bool(*flag),
            Value::Int(number) => Json::from(*number),
            Value::Float(number) => float(*number),
            Value::Unit(number) => float(number.value),
            Value::Str(text) => Json::String(text.to_string()),
        };
        self.places.leaf(step, origin);
        Ok(leaf)
    }
    fn list(&mut self, list: &'v List, step: NodeStep, origin: Origin) -> Result<Json> {
        self.enter()?;
        let node = self.places.begin(step, NodeKind::List);
        let mut items = Vec::with_capacity(list.items.len());
        for (at, item) in list.items.iter().enumerate() {
            if self.filter.keeps_value(item) {
                let own = list.origins.get(at).copied().unwrap_or_default();
                let step = NodeStep::index(items.len());
                items.push(self.value(item, step, innermost(own, origin))?);
            }
        }
        self.places.end(node, origin);
        self.depth -= 1;
        Ok(Json::Array(items))
    }

    fn dict(
        &mut self,
        dict: &'v Dict,
        type_name: Option<Value>,
        step: NodeStep,
        origin: Origin,
    ) -> Result<Json> {
        self.enter()?;
        let node = self.places.begin(step, NodeKind::Dict);
        let mut fields = Map::new();
        let mut failure = None;
        self.filter.pairs(dict, None, |key, value, own| {
            let is_replaced = type_name.is_some() && key == TYPE_KEY;
            if failure.is_some() || is_replaced {
                return;
            }
            let step = self.places.key(key);
            match self.value(value, step, innermost(own, origin)) {
                Ok(value) => drop(fields.insert(key.to_owned(), value)),
                Err(fault) => failure = Some(fault),
            }
        });
        if let Some(fault) = failure {
            return Err(fault);
        }
        if let Some(Value::Str(name)) = type_name {
            fields.insert(TYPE_KEY.to_owned(), Json::String(name.to_string()));
        }
        self.places.end(node, origin);
        self.depth -= 1;
        Ok(Json::Object(fields))
    }

    /// Goes one level down.
    fn enter(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = format!("the output is nested too deeply: more than {MAX_DEPTH} levels");
            return Err(Fault::new(message));
        }
        Ok(())
    }
}

/// What gave a part of a value: what it knows itself, else what gave the value around it.
fn innermost(own: Origin, around: Origin) -> Origin {
    if own.0 == 0 { around } else { own }
}

/// JSON has no number for what is not finite.
fn float(number: f64) -> Json {
    Number::from_f64(number).map_or(Json::Null, Json::Number)
}
