//! How long the text of a value is, before it is written.
//!
//! Values are shared: forty lists, each of which holds the one before twice, take a few kilobytes,
//! and their text a terabyte.

use crate::filter::Filter;
use crate::{Dict, Value};

/// Returns about how many bytes the text of a value takes, `indent` of them for each dict around
/// each key; `None` if that is more than `limit`. Never counts more than will be written.
pub fn text_size(value: &Value, filter: Filter, indent: usize, limit: usize) -> Option<usize> {
    let mut counter = Counter { filter, indent, level: 0, left: limit };
    counter.value(value)?;
    Some(limit - counter.left)
}

/// Whether the text of a value, as `str(x)` gives it, takes at most `limit` bytes.
#[inline]
pub fn fits(value: &Value, limit: usize) -> bool {
    match value {
        Value::Str(text) => text.len() <= limit,
        Value::List(_) | Value::Dict(_) | Value::Schema(_) => {
            text_size(value, Filter::default(), 0, limit).is_some()
        }
        _ => true,
    }
}

struct Counter {
    filter: Filter,
    indent: usize,
    level: usize,
    left: usize,
}

impl Counter {
    fn take(&mut self, bytes: usize) -> Option<()> {
        self.left = self.left.checked_sub(bytes)?;
        Some(())
    }

    fn value(&mut self, value: &Value) -> Option<()> {
        match value {
            Value::Str(text) => self.take(text.len() + 1),
            Value::List(list) => {
                for item in &list.items {
                    self.take(1)?;
                    self.value(item)?;
                }
                Some(())
            }
            Value::Dict(dict) => self.dict(dict),
            Value::Schema(schema) => self.dict(&schema.attrs),
            _ => self.take(1),
        }
    }

    fn dict(&mut self, dict: &Dict) -> Option<()> {
        self.level += 1;
        for entry in dict {
            if self.filter.keeps(entry) {
                self.take(entry.key.len() + 1 + self.indent * (self.level - 1))?;
                self.value(&entry.value)?;
            }
        }
        self.level -= 1;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::{OutputOptions, to_json, to_yaml};
    use crate::show;

    #[test]
    fn what_is_counted_is_at_most_what_is_written() {
        let inner = Value::dict([("long-key".into(), Value::str("text"))].into_iter().collect());
        let list = Value::list(vec![inner.clone(), Value::Int(10), inner.clone()]);
        let hidden = ("_hidden".into(), Value::str("x".repeat(1000)));
        let value = Value::dict([("a".into(), list), hidden].into_iter().collect());
        let options = OutputOptions::default();
        let size = |indent| text_size(&value, options.filter(), indent, usize::MAX);
        assert!(size(2).is_some_and(|size| size > 30 && size <= to_yaml(&value, options).len()));
        assert!(size(0).is_some_and(|size| size > 30 && size <= to_json(&value, options).len()));
        assert!(fits(&inner, show(&inner).len()));
        assert!(!fits(&inner, 10) && fits(&Value::Int(7), 0));
    }

    #[test]
    fn what_is_shared_is_counted_each_time_but_not_for_long() {
        let mut value = Value::list(vec![Value::Int(1)]);
        for _ in 0..60 {
            value = Value::list(vec![value.clone(), value]);
        }
        assert_eq!(text_size(&value, Filter::default(), 0, 1 << 20), None);
    }
}
