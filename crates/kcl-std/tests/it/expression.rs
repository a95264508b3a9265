//! Literals and calls, enough of KCL to write tests with.

use crate::host::TestHost;
use kcl_value::{CallArgs, Dict, Func, Result, Str, UnitNumber, Value};
use std::rc::Rc;

/// Evaluates an expression made of literals and calls.
pub(crate) fn evaluate(text: &str, host: &mut TestHost) -> Result<Value> {
    let mut reader = Reader { rest: text, host };
    let value = reader.expression()?;
    assert!(reader.rest.trim().is_empty(), "left over in {text:?}: {:?}", reader.rest);
    Ok(value)
}

struct Reader<'t, 'h> {
    rest: &'t str,
    host: &'h mut TestHost,
}

impl<'t> Reader<'t, '_> {
    fn eat(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, token: &str) {
        assert!(self.eat(token), "expected {token:?} at {:?}", self.rest);
    }

    fn word(&mut self) -> &'t str {
        self.rest = self.rest.trim_start();
        let end =
            self.rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn expression(&mut self) -> Result<Value> {
        let mut value = self.operand()?;
        while self.eat(" - ") || self.eat("- ") {
            let right = self.operand()?;
            value = kcl_value::ops::sub(&value, &right, false)?;
        }
        Ok(value)
    }

    fn operand(&mut self) -> Result<Value> {
        self.rest = self.rest.trim_start();
        match self.rest.chars().next() {
            Some('"') => {
                let text = self.string();
                self.method(text)
            }
            Some('[') => self.list(),
            Some('{') => self.dict(),
            Some(c) if c.is_ascii_digit() || c == '-' => Ok(self.number()),
            _ => self.name(),
        }
    }

    fn string(&mut self) -> Str {
        self.expect("\"");
        let mut out = String::new();
        let mut chars = self.rest.chars();
        while let Some(c) = chars.next() {
            match c {
                '"' => break,
                '\\' => match chars.next() {
                    Some('n') => out.push('\n'),
                    Some('t') => out.push('\t'),
                    Some('r') => out.push('\r'),
                    Some('v') => out.push('\u{b}'),
                    Some('x') => out.push(code(&mut chars, 2)),
                    Some('u') => out.push(code(&mut chars, 4)),
                    Some(c) => out.push(c),
                    None => break,
                },
                c => out.push(c),
            }
        }
        self.rest = chars.as_str();
        Str::from(out)
    }

    fn method(&mut self, text: Str) -> Result<Value> {
        if !self.rest.starts_with('.') {
            return Ok(Value::Str(text));
        }
        self.expect(".");
        let name = self.word();
        let method = kcl_std::string_method(name).expect("a string method");
        let args = self.arguments()?;
        match (method.run)(&text, &args, self.host.room)? {
            Value::Str(text) => self.method(text),
            value => Ok(value),
        }
    }

    fn list(&mut self) -> Result<Value> {
        self.expect("[");
        let mut items = Vec::new();
        while !self.eat("]") {
            items.push(self.expression()?);
            self.eat(",");
        }
        Ok(Value::list(items))
    }

    fn dict(&mut self) -> Result<Value> {
        self.expect("{");
        let mut dict = Dict::new();
        while !self.eat("}") {
            let key = self.word();
            self.expect("=");
            dict.insert(Str::from(key), self.expression()?);
            self.eat(",");
        }
        Ok(Value::dict(dict))
    }

    fn number(&mut self) -> Value {
        let negative = self.eat("-");
        let end = self
            .rest
            .char_indices()
            .find(|(at, c)| {
                let after_e = *at > 0 && self.rest.as_bytes()[at - 1] == b'e';
                !(c.is_ascii_digit() || matches!(c, '.' | 'e') || after_e && matches!(c, '-' | '+'))
            })
            .map_or(self.rest.len(), |(at, _)| at);
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        let sign = if negative { -1 } else { 1 };
        if digits.contains(['.', 'e']) {
            return Value::Float(f64::from(sign) * digits.parse::<f64>().expect("a float"));
        }
        let number = i64::from(sign) * digits.parse::<i64>().expect("an integer");
        for (unit, size) in [("Ki", 1024.0), ("Mi", 1_048_576.0), ("K", 1000.0), ("m", 0.001)] {
            if self.rest.starts_with(unit) {
                self.expect(unit);
                let value = number as f64 * size;
                return Value::Unit(Rc::new(UnitNumber { value, raw: number, unit }));
            }
        }
        Value::Int(number)
    }

    fn name(&mut self) -> Result<Value> {
        let name = self.word();
        match name {
            "True" => return Ok(Value::Bool(true)),
            "False" => return Ok(Value::Bool(false)),
            "None" => return Ok(Value::None),
            "Undefined" => return Ok(Value::Undefined),
            "func" => {
                return Ok(Value::Func(Rc::new(Func {
                    name: Str::from("func"),
                    is_type: false,
                    body: Box::new(()),
                })));
            }
            _ => {}
        }
        let function = if self.eat(".") {
            let module = kcl_std::module(name).expect("a module");
            let member = self.word();
            if let Some(constant) = module.constant(member) {
                return Ok((constant.value)());
            }
            module.function(member).expect("a function of the module")
        } else {
            kcl_std::builtin(name).expect("a built-in function")
        };
        let args = self.arguments()?;
        (function.run)(self.host, &args)
    }

    fn arguments(&mut self) -> Result<CallArgs> {
        self.expect("(");
        let mut args = CallArgs::default();
        while !self.eat(")") {
            let before = self.rest;
            let name = self.word();
            if !name.is_empty() && self.eat("=") {
                args.named.push((Str::from(name), self.expression()?));
            } else {
                self.rest = before;
                args.positional.push(self.expression()?);
            }
            self.eat(",");
        }
        Ok(args)
    }
}

fn code(chars: &mut std::str::Chars<'_>, len: usize) -> char {
    let digits: String = chars.by_ref().take(len).collect();
    u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32).expect("a code point")
}
