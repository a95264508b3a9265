//! From text to expressions.

use super::{Expr, Macro, Node, Op};

/// Maximum nesting depth of expressions.
const MAX_DEPTH: usize = 60;

/// What is wrong with a text, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    /// Byte offset.
    pub(crate) at: usize,
    /// The message without `Syntax error: `.
    pub(crate) message: String,
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Int(i64),
    Uint(u64),
    Double(f64),
    String(String),
    Bytes(String),
    Ident(String),
    Mark(&'static str),
    End,
}

/// Reads an expression.
pub(crate) fn parse(text: &str) -> Result<Expr, SyntaxError> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens, at: 0, depth: 0 };
    let expr = parser.expression()?;
    match parser.peek() {
        Token::End => Ok(expr),
        other => {
            let message = format!("extraneous input '{}' expecting <EOF>", show(other));
            Err(SyntaxError { at: parser.place(), message })
        }
    }
}

const MARKS: [&str; 26] = [
    "&&", "||", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "%", "!", "?", ":", "(", ")",
    "[", "]", "{", "}", ",", ".", "=>", "=<",
];

fn tokens(text: &str) -> Result<Vec<(Token, usize)>, SyntaxError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        if first.is_whitespace() {
            at += first.len_utf8();
        } else if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if first.is_ascii_digit() {
            let (token, length) = number(rest, at)?;
            tokens.push((token, at));
            at += length;
        } else if let Some((token, length)) = string(rest, at)? {
            tokens.push((token, at));
            at += length;
        } else if first.is_ascii_alphabetic() || first == '_' {
            let length =
                rest.bytes().take_while(|it| it.is_ascii_alphanumeric() || *it == b'_').count();
            tokens.push((Token::Ident(rest[..length].to_owned()), at));
            at += length;
        } else if let Some(mark) = MARKS[..24].iter().find(|mark| rest.starts_with(**mark)) {
            tokens.push((Token::Mark(mark), at));
            at += mark.len();
        } else {
            let shown: String = rest.chars().take(2).collect();
            let message = format!("token recognition error at: '{shown}'");
            return Err(SyntaxError { at, message });
        }
    }
    tokens.push((Token::End, text.len()));
    Ok(tokens)
}

fn number(text: &str, at: usize) -> Result<(Token, usize), SyntaxError> {
    let error = || SyntaxError { at, message: "invalid number".to_owned() };
    if let Some(hex) = text.strip_prefix("0x") {
        let length = hex.bytes().take_while(u8::is_ascii_hexdigit).count();
        let number = i64::from_str_radix(&hex[..length], 16).map_err(|_| error())?;
        return Ok((Token::Int(number), length + 2));
    }
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|it| it.is_ascii_digit()).count();
    let mut length = digits(0);
    let mut float = false;
    if bytes.get(length) == Some(&b'.') && digits(length + 1) > 0 {
        length += 1 + digits(length + 1);
        float = true;
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        if digits(length + 1 + sign) > 0 {
            length += 1 + sign + digits(length + 1 + sign);
            float = true;
        }
    }
    let word = &text[..length];
    if float {
        return Ok((Token::Double(word.parse().map_err(|_| error())?), length));
    }
    if matches!(bytes.get(length), Some(b'u' | b'U')) {
        return Ok((Token::Uint(word.parse().map_err(|_| error())?), length + 1));
    }
    Ok((Token::Int(word.parse().map_err(|_| error())?), length))
}

/// Reads a text in quotes, if there is one here.
fn string(text: &str, at: usize) -> Result<Option<(Token, usize)>, SyntaxError> {
    let bytes = text.starts_with(['b', 'B']);
    let plain = if bytes { &text[1..] } else { text };
    let raw = plain.starts_with(['r', 'R']);
    let body = if raw { &plain[1..] } else { plain };
    let Some(quote) = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|it| body.starts_with(it))
    else {
        return Ok(None);
    };
    let mut value = String::new();
    let mut rest = &body[quote.len()..];
    loop {
        if let Some(tail) = rest.strip_prefix(quote) {
            let token = if bytes { Token::Bytes(value) } else { Token::String(value) };
            return Ok(Some((token, text.len() - tail.len())));
        }
        let Some(first) = rest.chars().next().filter(|it| *it != '\n' || quote.len() == 3) else {
            let shown: String = text.chars().take(10).collect();
            let message = format!("token recognition error at: '{shown}'");
            return Err(SyntaxError { at, message });
        };
        rest = &rest[first.len_utf8()..];
        if first != '\\' || raw {
            value.push(first);
            continue;
        }
        let Some(escape) = rest.chars().next() else { continue };
        rest = &rest[escape.len_utf8()..];
        let code = match escape {
            'x' | 'X' => 2,
            'u' => 4,
            'U' => 8,
            _ => 0,
        };
        if code > 0 {
            let digits = rest.get(..code).unwrap_or_default();
            let character = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
            value.push(character.unwrap_or(char::REPLACEMENT_CHARACTER));
            rest = rest.get(code..).unwrap_or_default();
            continue;
        }
        value.push(match escape {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            other => other,
        });
    }
}

fn show(token: &Token) -> String {
    match token {
        Token::Int(number) => number.to_string(),
        Token::Uint(number) => format!("{number}u"),
        Token::Double(number) => number.to_string(),
        Token::String(text) | Token::Bytes(text) => format!("\"{text}\""),
        Token::Ident(name) => name.clone(),
        Token::Mark(mark) => (*mark).to_owned(),
        Token::End => "<EOF>".to_owned(),
    }
}

struct Parser {
    tokens: Vec<(Token, usize)>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        self.tokens.get(self.at).map_or(&Token::End, |token| &token.0)
    }

    fn place(&self) -> usize {
        self.tokens.get(self.at).map_or(0, |token| token.1)
    }

    fn take(&mut self) -> (Token, usize) {
        let token = self.tokens.get(self.at).cloned().unwrap_or((Token::End, 0));
        self.at += 1;
        token
    }

    fn accept(&mut self, mark: &str) -> bool {
        let found = matches!(self.peek(), Token::Mark(own) if *own == mark);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, mark: &str) -> Result<(), SyntaxError> {
        if self.accept(mark) {
            return Ok(());
        }
        let message = format!("mismatched input '{}' expecting '{mark}'", show(self.peek()));
        Err(SyntaxError { at: self.place(), message })
    }

    fn expression(&mut self) -> Result<Expr, SyntaxError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = "expression recursion limit exceeded".to_owned();
            return Err(SyntaxError { at: self.place(), message });
        }
        let condition = self.binary(0)?;
        let at = self.place();
        let expr = if self.accept("?") {
            let left = self.binary(0)?;
            self.expect(":")?;
            let right = self.expression()?;
            let node = Node::Choice(Box::new(condition), Box::new(left), Box::new(right));
            Expr { node, at }
        } else {
            condition
        };
        self.depth -= 1;
        Ok(expr)
    }

    fn operator(&self, level: usize) -> Option<Op> {
        let op = match self.peek() {
            Token::Mark("||") => (0, Op::Or),
            Token::Mark("&&") => (1, Op::And),
            Token::Mark("==") => (2, Op::Equal),
            Token::Mark("!=") => (2, Op::NotEqual),
            Token::Mark("<") => (2, Op::Less),
            Token::Mark("<=") => (2, Op::LessEqual),
            Token::Mark(">") => (2, Op::Greater),
            Token::Mark(">=") => (2, Op::GreaterEqual),
            Token::Ident(word) if word == "in" => (2, Op::In),
            Token::Mark("+") => (3, Op::Add),
            Token::Mark("-") => (3, Op::Subtract),
            Token::Mark("*") => (4, Op::Multiply),
            Token::Mark("/") => (4, Op::Divide),
            Token::Mark("%") => (4, Op::Remainder),
            _ => return None,
        };
        (op.0 == level).then_some(op.1)
    }

    fn binary(&mut self, level: usize) -> Result<Expr, SyntaxError> {
        if level > 4 {
            return self.unary();
        }
        let mut left = self.binary(level + 1)?;
        while let Some(op) = self.operator(level) {
            let (_, at) = self.take();
            let right = self.binary(level + 1)?;
            left = Expr { node: Node::Binary(op, Box::new(left), Box::new(right)), at };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expr, SyntaxError> {
        let at = self.place();
        let sign = match self.peek() {
            Token::Mark("!") => '!',
            Token::Mark("-") => '-',
            _ => return self.member(),
        };
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = "expression recursion limit exceeded".to_owned();
            return Err(SyntaxError { at, message });
        }
        self.at += 1;
        let inner = self.unary()?;
        self.depth -= 1;
        Ok(Expr { node: Node::Unary(sign, Box::new(inner)), at })
    }

    fn member(&mut self) -> Result<Expr, SyntaxError> {
        let mut expr = self.primary()?;
        loop {
            let at = self.place();
            if self.accept(".") {
                let optional = self.accept("?");
                let (token, place) = self.take();
                let Token::Ident(name) = token else {
                    let message =
                        format!("mismatched input '{}' expecting IDENTIFIER", show(&token));
                    return Err(SyntaxError { at: place, message });
                };
                let bracket = self.place();
                expr = if optional {
                    Expr { node: Node::OptionalSelect(Box::new(expr), name), at }
                } else if self.accept("(") {
                    let arguments = self.arguments(")")?;
                    Expr { node: method(expr, name, arguments), at: bracket }
                } else {
                    Expr { node: Node::Select(Box::new(expr), name), at }
                };
            } else if self.accept("[") {
                let optional = self.accept("?");
                let key = Box::new(self.expression()?);
                self.expect("]")?;
                let node = if optional {
                    Node::OptionalIndex(Box::new(expr), key)
                } else {
                    Node::Index(Box::new(expr), key)
                };
                expr = Expr { node, at };
            } else if let (Token::Mark("{"), Some(name)) = (self.peek(), dotted(&expr)) {
                self.at += 1;
                expr = Expr { node: Node::Message(name, self.fields()?), at };
            } else {
                return Ok(expr);
            }
        }
    }

    fn arguments(&mut self, end: &str) -> Result<Vec<Expr>, SyntaxError> {
        let mut list = Vec::new();
        while !self.accept(end) {
            let optional = end == "]" && self.accept("?");
            list.push(self.entry_value(optional)?);
            if !self.accept(",") {
                self.expect(end)?;
                break;
            }
        }
        Ok(list)
    }

    fn primary(&mut self) -> Result<Expr, SyntaxError> {
        let (token, at) = self.take();
        let node = match token {
            Token::Int(number) => Node::Int(number),
            Token::Uint(number) => Node::Uint(number),
            Token::Double(number) => Node::Double(number),
            Token::String(text) => Node::String(text),
            Token::Bytes(text) => Node::Bytes(text.into_bytes()),
            Token::Mark("(") => {
                let inner = self.expression()?;
                self.expect(")")?;
                return Ok(inner);
            }
            Token::Mark("[") => Node::List(self.arguments("]")?),
            Token::Mark("{") => self.map()?,
            Token::Ident(name) => return self.name(name, at),
            other => {
                let message = format!(
                    "mismatched input '{}' expecting {{'[', '{{', '(', '.', '-', '!', 'true', \
                     'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}}",
                    show(&other)
                );
                return Err(SyntaxError { at, message });
            }
        };
        Ok(Expr { node, at })
    }

    /// Reads the fields of a message after its opening brace.
    fn fields(&mut self) -> Result<Vec<(String, usize, Expr)>, SyntaxError> {
        let mut fields = Vec::new();
        while !self.accept("}") {
            let optional = self.accept("?");
            let (token, place) = self.take();
            let Token::Ident(name) = token else {
                let message = format!("mismatched input '{}' expecting IDENTIFIER", show(&token));
                return Err(SyntaxError { at: place, message });
            };
            let colon = self.place();
            self.expect(":")?;
            fields.push((name, colon, self.entry_value(optional)?));
            if !self.accept(",") {
                self.expect("}")?;
                break;
            }
        }
        Ok(fields)
    }

    /// Reads the value of an entry, which may be left out if it is optional.
    fn entry_value(&mut self, optional: bool) -> Result<Expr, SyntaxError> {
        let value = self.expression()?;
        let at = value.at;
        Ok(if optional { Expr { node: Node::IfPresent(Box::new(value)), at } } else { value })
    }

    fn map(&mut self) -> Result<Node, SyntaxError> {
        let mut entries = Vec::new();
        while !self.accept("}") {
            let optional = self.accept("?");
            let key = self.expression()?;
            self.expect(":")?;
            entries.push((key, self.entry_value(optional)?));
            if !self.accept(",") {
                self.expect("}")?;
                break;
            }
        }
        Ok(Node::Map(entries))
    }

    fn name(&mut self, name: String, at: usize) -> Result<Expr, SyntaxError> {
        let node = match &*name {
            "true" => Node::Bool(true),
            "false" => Node::Bool(false),
            "null" => Node::Null,
            _ => {
                let bracket = self.place();
                if !self.accept("(") {
                    return Ok(Expr { node: Node::Ident(name), at });
                }
                let mut arguments = self.arguments(")")?;
                if name == "has" && arguments.len() == 1 {
                    let argument = arguments.remove(0);
                    return match argument.node {
                        Node::Select(operand, field) => {
                            Ok(Expr { node: Node::Has(operand, field), at: bracket })
                        }
                        _ => {
                            let message = "invalid argument to has() macro".to_owned();
                            Err(SyntaxError { at: argument.at, message })
                        }
                    };
                }
                return Ok(Expr { node: Node::Call(None, name, arguments), at: bracket });
            }
        };
        Ok(Expr { node, at })
    }
}

/// Returns a name with dots (`Object.spec`), if an expression is one.
fn dotted(expr: &Expr) -> Option<String> {
    match &expr.node {
        Node::Ident(name) => Some(name.clone()),
        Node::Select(operand, name) => Some(format!("{}.{name}", dotted(operand)?)),
        _ => None,
    }
}

/// A call on a target: a macro when its first arguments are plain names.
fn method(target: Expr, name: String, mut arguments: Vec<Expr>) -> Node {
    let (kind, n_names) = match (&*name, arguments.len()) {
        ("all", count @ (2 | 3)) => (Macro::All, count - 1),
        ("exists", count @ (2 | 3)) => (Macro::Exists, count - 1),
        ("exists_one" | "existsOne", count @ (2 | 3)) => (Macro::ExistsOne, count - 1),
        ("map", 2 | 3) => (Macro::Map, 1),
        ("filter", 2) => (Macro::Filter, 1),
        ("transformList", 3 | 4) => (Macro::TransformList, 2),
        ("transformMap", 3 | 4) => (Macro::TransformMap, 2),
        ("optMap", 2) => (Macro::OptionalMap, 1),
        ("optFlatMap", 2) => (Macro::OptionalFlatMap, 1),
        _ => return Node::Call(Some(Box::new(target)), name, arguments),
    };
    let names: Option<Vec<String>> = arguments[..n_names]
        .iter()
        .map(|argument| match &argument.node {
            Node::Ident(name) => Some(name.clone()),
            _ => None,
        })
        .collect();
    match names {
        Some(names) => {
            arguments.drain(..n_names);
            Node::Loop(kind, Box::new(target), names, arguments)
        }
        None => Node::Call(Some(Box::new(target)), name, arguments),
    }
}
