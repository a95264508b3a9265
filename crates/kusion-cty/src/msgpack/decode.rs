//! Reads values.

use super::{REFINED, UNKNOWN, key};
use crate::{Bound, MAX_DEPTH, Number, Refinement, Step, Type, Value, ValueError};
use rmp::Marker;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Reads a value of a type. The bytes must contain nothing else.
///
/// # Errors
///
/// The bytes are not one value of the type, are cut off, or are nested too deeply. No bytes at all
/// are an error, too.
pub fn decode(bytes: &[u8], ty: &Type) -> Result<Value, ValueError> {
    let mut reader = Reader { rest: bytes };
    let value = reader.value(ty, 0)?;
    if reader.rest.is_empty() { Ok(value) } else { Err(ValueError::new("bytes follow the value")) }
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn value(&mut self, ty: &Type, depth: usize) -> Result<Value, ValueError> {
        if depth > MAX_DEPTH {
            return Err(ValueError::new("the value is nested too deeply"));
        }
        let marker = self.marker()?;
        if marker == Marker::Null {
            return Ok(Value::Null);
        }
        if let Some(length) = self.extension_length(marker)? {
            return self.unknown(length);
        }
        match ty {
            Type::Dynamic => self.dynamic(marker, depth),
            Type::Bool => match marker {
                Marker::True => Ok(Value::Bool(true)),
                Marker::False => Ok(Value::Bool(false)),
                _ => Err(unexpected(ty)),
            },
            Type::Number => self.number(marker).map(Value::Number),
            Type::String => {
                let length = self.text_length(marker)?.ok_or_else(|| unexpected(ty))?;
                Ok(Value::String(self.text(length)?.into()))
            }
            Type::List(element) => Ok(Value::List(self.items(marker, ty, element, depth)?)),
            Type::Set(element) => Ok(Value::set(self.items(marker, ty, element, depth)?)),
            Type::Tuple(types) => self.tuple(marker, types, depth),
            Type::Map(element) => self.map(marker, ty, element, depth),
            Type::Object(types) => self.object(marker, types, depth),
        }
    }

    fn items(
        &mut self,
        marker: Marker,
        ty: &Type,
        element: &Type,
        depth: usize,
    ) -> Result<Vec<Value>, ValueError> {
        let length = self.array_length(marker)?.ok_or_else(|| unexpected(ty))?;
        let mut items = Vec::with_capacity(self.capacity(length));
        for index in 0..length {
            let item = self.value(element, depth + 1);
            items.push(item.map_err(|error| error.under(Step::Index(index)))?);
        }
        Ok(items)
    }

    fn tuple(&mut self, marker: Marker, types: &[Type], depth: usize) -> Result<Value, ValueError> {
        match self.array_length(marker)? {
            Some(length) if length == types.len() => {}
            _ => return Err(ValueError::new(format!("expected a tuple of {}", types.len()))),
        }
        let mut items = Vec::with_capacity(self.capacity(types.len()));
        for (index, ty) in types.iter().enumerate() {
            let item = self.value(ty, depth + 1);
            items.push(item.map_err(|error| error.under(Step::Index(index)))?);
        }
        Ok(Value::List(items))
    }

    fn map(
        &mut self,
        marker: Marker,
        ty: &Type,
        element: &Type,
        depth: usize,
    ) -> Result<Value, ValueError> {
        let length = self.map_length(marker)?.ok_or_else(|| unexpected(ty))?;
        let mut fields = BTreeMap::new();
        for _ in 0..length {
            let key: Arc<str> = self.key()?.into();
            let field = self.value(element, depth + 1);
            let field = field.map_err(|error| error.under(Step::Key(key.clone())))?;
            fields.insert(key, field);
        }
        Ok(Value::Map(fields))
    }

    fn object(
        &mut self,
        marker: Marker,
        types: &BTreeMap<Arc<str>, Type>,
        depth: usize,
    ) -> Result<Value, ValueError> {
        let length =
            self.map_length(marker)?.ok_or_else(|| ValueError::new("expected an object"))?;
        let mut fields = BTreeMap::new();
        for _ in 0..length {
            let key = self.key()?;
            let Some((name, ty)) = types.get_key_value(key) else {
                return Err(ValueError::new(format!("unknown attribute `{}`", key.escape_debug())));
            };
            let field = self.value(ty, depth + 1);
            let field = field.map_err(|error| error.under(Step::Attribute(name.clone())))?;
            fields.insert(name.clone(), field);
        }
        match types.keys().find(|name| !fields.contains_key(*name)) {
            Some(name) => Err(ValueError::new(format!("attribute `{name}` is missing"))),
            None => Ok(Value::Map(fields)),
        }
    }

    /// Reads a value with its type: an array of the type as JSON, and the value.
    fn dynamic(&mut self, marker: Marker, depth: usize) -> Result<Value, ValueError> {
        if self.array_length(marker)? != Some(2) {
            return Err(ValueError::new("expected a value with its type"));
        }
        let marker = self.marker()?;
        let length = match self.bytes_length(marker)? {
            Some(length) => length,
            None => self.text_length(marker)?.ok_or_else(|| ValueError::new("expected a type"))?,
        };
        let ty = Type::from_json(self.bytes(length)?);
        let ty = ty.map_err(|error| ValueError::new(error.to_string()))?;
        let value = self.value(&ty, depth + 1)?;
        Ok(if ty == Type::Dynamic { value } else { Value::typed(ty, value) })
    }

    fn number(&mut self, marker: Marker) -> Result<Number, ValueError> {
        let binary = |value: f64| {
            Number::from_f64(value).ok_or_else(|| ValueError::new("the number is not finite"))
        };
        Ok(match marker {
            Marker::FixPos(value) => i64::from(value).into(),
            Marker::FixNeg(value) => i64::from(value).into(),
            Marker::U8 => u64::from(self.array::<1>()?[0]).into(),
            Marker::U16 => u64::from(u16::from_be_bytes(self.array()?)).into(),
            Marker::U32 => u64::from(u32::from_be_bytes(self.array()?)).into(),
            Marker::U64 => u64::from_be_bytes(self.array()?).into(),
            Marker::I8 => i64::from(i8::from_be_bytes(self.array()?)).into(),
            Marker::I16 => i64::from(i16::from_be_bytes(self.array()?)).into(),
            Marker::I32 => i64::from(i32::from_be_bytes(self.array()?)).into(),
            Marker::I64 => i64::from_be_bytes(self.array()?).into(),
            Marker::F32 => binary(f64::from(f32::from_be_bytes(self.array()?)))?,
            Marker::F64 => binary(f64::from_be_bytes(self.array()?))?,
            marker => {
                let length = self.text_length(marker)?.ok_or_else(|| unexpected(&Type::Number))?;
                let text = self.text(length)?;
                Number::parse(text).map_err(|error| ValueError::new(error.to_string()))?
            }
        })
    }

    /// Reads an unknown value after its marker. A refinement that cannot be read is left out: the
    /// value is unknown in any case.
    fn unknown(&mut self, length: usize) -> Result<Value, ValueError> {
        let kind = self.array::<1>()?[0] as i8;
        let payload = self.bytes(length)?;
        match kind {
            UNKNOWN => Ok(Value::UNKNOWN),
            REFINED => {
                let refinement = Reader { rest: payload }.refinement().unwrap_or_default();
                let is_empty = refinement == Refinement::default();
                Ok(Value::Unknown(if is_empty { None } else { Some(Box::new(refinement)) }))
            }
            kind => Err(ValueError::new(format!("unknown kind of value {kind}"))),
        }
    }

    fn refinement(&mut self) -> Result<Refinement, ValueError> {
        let marker = self.marker()?;
        let invalid = || ValueError::new("invalid refinement");
        let length = self.map_length(marker)?.ok_or_else(invalid)?;
        let mut out = Refinement::default();
        for _ in 0..length {
            match self.small()? {
                key::NULLNESS => {
                    out.is_null = self.scalar(&Type::Bool)?.map(|it| it == true.into());
                }
                key::PREFIX => {
                    out.prefix =
                        self.scalar(&Type::String)?.and_then(|it| Some(it.as_str()?.into()));
                }
                key::MIN => out.min = Some(self.bound()?),
                key::MAX => out.max = Some(self.bound()?),
                key::MIN_LENGTH => out.min_length = Some(self.small()?),
                key::MAX_LENGTH => out.max_length = Some(self.small()?),
                // The length of a later kind of refinement is not known: what was read counts.
                _ => break,
            }
        }
        Ok(out)
    }

    fn scalar(&mut self, ty: &Type) -> Result<Option<Value>, ValueError> {
        self.value(ty, MAX_DEPTH).map(|it| Some(it).filter(|it| !it.is_null()))
    }

    fn bound(&mut self) -> Result<Bound, ValueError> {
        let invalid = || ValueError::new("invalid refinement");
        let marker = self.marker()?;
        if self.array_length(marker)? != Some(2) {
            return Err(invalid());
        }
        let marker = self.marker()?;
        let number = self.number(marker)?;
        match self.scalar(&Type::Bool)? {
            Some(Value::Bool(is_inclusive)) => Ok((number, is_inclusive)),
            _ => Err(invalid()),
        }
    }

    fn small(&mut self) -> Result<u64, ValueError> {
        let marker = self.marker()?;
        let number = self.number(marker)?.as_i64().and_then(|it| u64::try_from(it).ok());
        number.ok_or_else(|| ValueError::new("invalid refinement"))
    }

    fn key(&mut self) -> Result<&'a str, ValueError> {
        let marker = self.marker()?;
        let length = self.text_length(marker)?.ok_or_else(|| ValueError::new("expected a key"))?;
        self.text(length)
    }

    fn marker(&mut self) -> Result<Marker, ValueError> {
        Ok(Marker::from_u8(self.array::<1>()?[0]))
    }

    fn array_length(&mut self, marker: Marker) -> Result<Option<usize>, ValueError> {
        Ok(Some(match marker {
            Marker::FixArray(length) => length.into(),
            Marker::Array16 => self.length16()?,
            Marker::Array32 => self.length32()?,
            _ => return Ok(None),
        }))
    }

    fn map_length(&mut self, marker: Marker) -> Result<Option<usize>, ValueError> {
        Ok(Some(match marker {
            Marker::FixMap(length) => length.into(),
            Marker::Map16 => self.length16()?,
            Marker::Map32 => self.length32()?,
            _ => return Ok(None),
        }))
    }

    fn text_length(&mut self, marker: Marker) -> Result<Option<usize>, ValueError> {
        Ok(Some(match marker {
            Marker::FixStr(length) => length.into(),
            Marker::Str8 => self.array::<1>()?[0].into(),
            Marker::Str16 => self.length16()?,
            Marker::Str32 => self.length32()?,
            _ => return Ok(None),
        }))
    }

    fn bytes_length(&mut self, marker: Marker) -> Result<Option<usize>, ValueError> {
        Ok(Some(match marker {
            Marker::Bin8 => self.array::<1>()?[0].into(),
            Marker::Bin16 => self.length16()?,
            Marker::Bin32 => self.length32()?,
            _ => return Ok(None),
        }))
    }

    fn extension_length(&mut self, marker: Marker) -> Result<Option<usize>, ValueError> {
        Ok(Some(match marker {
            Marker::FixExt1 => 1,
            Marker::FixExt2 => 2,
            Marker::FixExt4 => 4,
            Marker::FixExt8 => 8,
            Marker::FixExt16 => 16,
            Marker::Ext8 => self.array::<1>()?[0].into(),
            Marker::Ext16 => self.length16()?,
            Marker::Ext32 => self.length32()?,
            _ => return Ok(None),
        }))
    }

    fn length16(&mut self) -> Result<usize, ValueError> {
        Ok(u16::from_be_bytes(self.array()?).into())
    }

    fn length32(&mut self) -> Result<usize, ValueError> {
        Ok(u32::from_be_bytes(self.array()?) as usize)
    }

    /// Returns how many elements to make room for: each has at least one byte.
    fn capacity(&self, length: usize) -> usize {
        length.min(self.rest.len())
    }

    fn text(&mut self, length: usize) -> Result<&'a str, ValueError> {
        let bytes = self.bytes(length)?;
        str::from_utf8(bytes).map_err(|_| ValueError::new("a text is not UTF-8"))
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], ValueError> {
        let (head, rest) = self.rest.split_first_chunk().ok_or_else(cut_off)?;
        self.rest = rest;
        Ok(*head)
    }

    fn bytes(&mut self, length: usize) -> Result<&'a [u8], ValueError> {
        let (head, rest) = self.rest.split_at_checked(length).ok_or_else(cut_off)?;
        self.rest = rest;
        Ok(head)
    }
}

#[cold]
fn cut_off() -> ValueError {
    ValueError::new("the value is cut off")
}

#[cold]
fn unexpected(ty: &Type) -> ValueError {
    ValueError::new(format!("expected a {ty}"))
}
