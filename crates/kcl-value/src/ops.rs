//! Operators on values, with the reference's results and messages.
//!
//! Binary arithmetic takes `strict`: whether numbers must stay in the 32-bit range.

mod access;
mod arith;
mod compare;

pub use access::{attribute, attribute_optional, index, index_optional, slice};
pub use arith::{
    add, bit_and, bit_or_int, bit_xor, div, floor_div, invert, minus, mul, plus, pow, rem, shl,
    shr, sub,
};
pub use compare::{contains, equals, greater, greater_equal, is_same, less, less_equal};
