//! Type annotations.

use super::Parser;
use crate::ast::{BasicType, LiteralType, Number, Path, Type, TypeId};
use crate::token::TokenKind;

const TYPE: &[&str] = &[
    "any",
    "bool",
    "int",
    "float",
    "str",
    "True",
    "False",
    "identifier",
    "literal",
    "[",
    "{",
    ")",
];

impl Parser<'_> {
    /// `A | B`
    pub(super) fn type_annotation(&mut self) -> TypeId {
        let start = self.token.start;
        if !self.enter() {
            return self.add_type(Type::Missing, start);
        }
        let first = self.type_element();
        let ty = if self.at(TokenKind::Pipe) {
            let mut members = vec![first];
            while self.eat(TokenKind::Pipe) {
                members.push(self.type_element());
            }
            self.add_type(Type::Union(members), start)
        } else {
            first
        };
        self.leave();
        ty
    }

    fn add_type(&mut self, kind: Type, start: u32) -> TypeId {
        let span = self.span_from(start);
        self.module.add_type(kind, span)
    }

    fn type_element(&mut self) -> TypeId {
        let start = self.token.start;
        let kind = match self.kind() {
            TokenKind::Any => self.simple_type(Type::Any),
            TokenKind::True => self.simple_type(Type::Literal(LiteralType::Bool(true))),
            TokenKind::False => self.simple_type(Type::Literal(LiteralType::Bool(false))),
            TokenKind::BoolType => self.simple_type(Type::Basic(BasicType::Bool)),
            TokenKind::IntType => self.simple_type(Type::Basic(BasicType::Int)),
            TokenKind::FloatType => self.simple_type(Type::Basic(BasicType::Float)),
            TokenKind::StrType => self.simple_type(Type::Basic(BasicType::Str)),
            TokenKind::OpenBracket => self.list_type(),
            TokenKind::OpenBrace => self.dict_type(),
            TokenKind::OpenParen => self.function_type(),
            kind if kind.is_ident() => Type::Named(self.path()),
            kind if kind.is_literal() => self.literal_type(),
            _ => {
                self.expected(TYPE);
                self.bump();
                Type::Missing
            }
        };
        self.add_type(kind, start)
    }

    fn simple_type(&mut self, ty: Type) -> Type {
        self.bump();
        ty
    }

    fn literal_type(&mut self) -> Type {
        let token = self.token;
        let literal = if token.kind.is_string() {
            LiteralType::Str(self.string_parts(token).value().unwrap_or_default().into())
        } else {
            match self.number_value(token) {
                Some(Number::Int(value)) => LiteralType::Int(value),
                Some(Number::Unit { value, unit }) => LiteralType::Unit { value, unit },
                Some(Number::Float(value)) => LiteralType::Float(value),
                None => {
                    let kind = if token.kind == TokenKind::Int { "int" } else { "float" };
                    self.expected(&[kind]);
                    LiteralType::Int(0)
                }
            }
        };
        self.bump();
        Type::Literal(literal)
    }

    /// `[T]`
    fn list_type(&mut self) -> Type {
        self.bump();
        if self.eat(TokenKind::CloseBracket) {
            return Type::List(None);
        }
        let item = self.type_annotation();
        self.expect(TokenKind::CloseBracket, "]");
        Type::List(Some(item))
    }

    /// `{K:V}`
    fn dict_type(&mut self) -> Type {
        self.bump();
        let key = if self.at(TokenKind::Colon) { None } else { Some(self.type_annotation()) };
        self.expect(TokenKind::Colon, ":");
        let value =
            if self.at(TokenKind::CloseBrace) { None } else { Some(self.type_annotation()) };
        self.expect(TokenKind::CloseBrace, "}");
        Type::Dict { key, value }
    }

    /// `(A, B) -> C`
    fn function_type(&mut self) -> Type {
        self.bump();
        let mut params = Vec::new();
        while !self.at(TokenKind::CloseParen) && self.has_next() {
            params.push(self.type_annotation());
            self.eat(TokenKind::Comma);
        }
        self.expect(TokenKind::CloseParen, ")");
        let ret = self.eat(TokenKind::Arrow).then(|| self.type_annotation());
        Type::Function { params: if params.is_empty() { None } else { Some(params) }, ret }
    }
}

/// The type that a name stands for.
pub(super) fn named(path: Path) -> Type {
    match path.names.as_slice() {
        [only] => match only.name.as_str() {
            "any" => Type::Any,
            "bool" => Type::Basic(BasicType::Bool),
            "int" => Type::Basic(BasicType::Int),
            "float" => Type::Basic(BasicType::Float),
            "str" => Type::Basic(BasicType::Str),
            _ => Type::Named(path),
        },
        _ => Type::Named(path),
    }
}
