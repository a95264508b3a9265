//! Reading TOML with places.

use crate::{Data, DataError, Entry, Format, MAX_DEPTH, MAX_NODES, Node};
use base_text::Span;
use std::ops::Range;
use toml::de::{DeTable, DeValue};

pub(crate) fn read(text: &str) -> Result<Node, DataError> {
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        let message = error.message().lines().next().unwrap_or("invalid TOML").to_owned();
        DataError::at(Format::Toml, text, at, message)
    })?;
    let mut reader = Reader { text, n_nodes: 0 };
    let whole = span(&(0..text.len()));
    let data = reader.table(table.get_ref(), 0)?;
    Ok(Node { span: whole, data })
}

struct Reader<'t> {
    text: &'t str,
    n_nodes: usize,
}

impl Reader<'_> {
    fn table(&mut self, table: &DeTable<'_>, depth: usize) -> Result<Data, DataError> {
        let mut entries = Vec::with_capacity(table.len());
        for (key, value) in table {
            let value_span = value.span();
            let value = self.value(value.get_ref(), &value_span, depth + 1)?;
            let (key, key_span) = (key.get_ref().to_string(), span(&key.span()));
            entries.push(Entry { key, key_span, is_text: true, value });
        }
        Ok(Data::Dict(entries))
    }

    fn value(
        &mut self,
        value: &DeValue<'_>,
        place: &Range<usize>,
        depth: usize,
    ) -> Result<Node, DataError> {
        self.n_nodes += 1;
        let fail = |message: String| DataError::at(Format::Toml, self.text, place.start, message);
        if depth > MAX_DEPTH {
            return Err(fail(format!("values are nested deeper than {MAX_DEPTH} levels")));
        }
        if self.n_nodes > MAX_NODES {
            return Err(fail(format!("the text has more than {MAX_NODES} values")));
        }
        let data = match value {
            DeValue::String(text) => Data::Str(text.to_string()),
            DeValue::Integer(number) => {
                match i64::from_str_radix(number.as_str(), number.radix()) {
                    Ok(number) => Data::Int(number),
                    Err(_) => Data::Large(number.to_string()),
                }
            }
            DeValue::Float(number) => match number.as_str().parse() {
                Ok(number) => Data::Float(number),
                Err(_) => return Err(fail(format!("invalid number `{}`", number.as_str()))),
            },
            DeValue::Boolean(flag) => Data::Bool(*flag),
            DeValue::Datetime(time) => Data::Str(time.to_string()),
            DeValue::Array(array) => {
                let mut items = Vec::with_capacity(array.len());
                for item in array {
                    items.push(self.value(item.get_ref(), &item.span(), depth + 1)?);
                }
                Data::List(items)
            }
            DeValue::Table(table) => self.table(table, depth)?,
        };
        Ok(Node { span: span(place), data })
    }
}

fn span(range: &Range<usize>) -> Span {
    Span::new(range.start as u32, range.end as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_values() {
        let text = "a = 0x1f\nd = 1979-05-27\n[b]\nc = [1.5, true]\n";
        let node = read(text).expect("the text is valid");
        assert_eq!(node.get("a").map(|it| &it.data), Some(&Data::Int(31)));
        assert_eq!(node.str_of("d"), Some("1979-05-27"));
        let list = node.get("b").and_then(|it| it.get("c")).expect("there is a list");
        assert_eq!(list.span.slice(text), "[1.5, true]");
    }

    #[test]
    fn errors_have_places() {
        let error = read("a = 1\nb = \n").expect_err("not valid");
        assert_eq!(error.at.line, 2, "{error}");
    }
}
