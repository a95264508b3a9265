//! Arithmetic, with its messages.

use crate::{text, value};
use kcl_value::{Result, Value, ops};

fn apply(op: &str, a: &Value, b: &Value, strict: bool) -> Result<Value> {
    match op {
        "+" => ops::add(a, b, strict),
        "-" => ops::sub(a, b, strict),
        "*" => ops::mul(a, b, strict),
        "/" => ops::div(a, b, strict),
        "//" => ops::floor_div(a, b, strict),
        "%" => ops::rem(a, b, strict),
        "**" => ops::pow(a, b, strict),
        "<<" => ops::shl(a, b, strict),
        ">>" => ops::shr(a, b, strict),
        "&" => ops::bit_and(a, b, strict),
        "|" => ops::bit_or_int(a, b, strict),
        "^" => ops::bit_xor(a, b, strict),
        _ => unreachable!("no operator {op}"),
    }
}

fn check(strict: bool, cases: &[(&str, &str, &str, &str)]) {
    for (a, op, b, expected) in cases {
        assert_eq!(text(apply(op, &value(a), &value(b), strict)), *expected, "{a} {op} {b}");
    }
}

#[test]
fn numbers() {
    check(
        false,
        &[
            ("1", "+", "2.5", "3.5"),
            ("2.5", "-", "-7", "9.5"),
            ("0", "*", "2.5", "0.0"),
            ("1", "/", "1", "1.0"),
            ("0", "/", "-7", "-0.0"),
            ("1", "/", "0", "null"),
            ("1", "//", "-7", "-1"),
            ("-7", "//", "2.5", "-3.0"),
            ("2.5", "//", "-7", "-1.0"),
            ("1", "%", "-7", "-6"),
            ("-7", "%", "2.5", "-2.0"),
            ("2.5", "%", "-7", "2.5"),
            ("9223372036854775807", "%", "2.5", "0.5"),
            ("-7", "**", "0", "1"),
            ("1", "**", "-7", "1"),
            ("2.5", "**", "-7", "0.0016384"),
            ("-7", "**", "2.5", "null"),
            ("-2", "**", "63", "-9223372036854775808"),
            ("-7", "<<", "1", "-14"),
            ("1", "<<", "63", "-9223372036854775808"),
            ("9223372036854775807", "<<", "1", "-2"),
            ("-7", ">>", "1", "-4"),
            ("-7", "&", "9223372036854775807", "9223372036854775801"),
            ("5", "|", "10", "15"),
            ("1", "^", "-7", "-8"),
        ],
    );
}

#[test]
fn integers_that_do_not_fit() {
    check(
        false,
        &[
            ("1", "+", "9223372036854775807", "! 9223372036854775808: A 64 bit integer overflow"),
            ("-7", "-", "9223372036854775807", "! -9223372036854775814: A 32 bit integer overflow"),
            (
                "-7",
                "*",
                "9223372036854775807",
                "! -64563604257983430649: A 64 bit integer overflow",
            ),
            ("2", "**", "63", "! 9223372036854775808: A 64 bit integer overflow"),
            ("10", "**", "-1", "! 0: A 64 bit integer overflow"),
            ("1", "**", "9223372036854775807", "! 1: A 64 bit integer overflow"),
            ("1", "<<", "64", "! 18446744073709551616: A 64 bit integer overflow"),
            ("1", "<<", "-7", "! 2658455991569831745807614120560689152: A 64 bit integer overflow"),
            ("-7", ">>", "-7", "! -1: A 64 bit integer overflow"),
            ("1", "//", "0", "! attempt to divide by zero"),
            ("-7", "//", "0", "! attempt to calculate the remainder with a divisor of zero"),
            ("1", "%", "0", "! attempt to calculate the remainder with a divisor of zero"),
            ("-9223372036854775808", "//", "-1", "! attempt to divide with overflow"),
            (
                "-9223372036854775808",
                "%",
                "-1",
                "! attempt to calculate the remainder with overflow",
            ),
            ("1", "+", "1e39", "! 1e+39: A 32-bit floating point number overflow"),
        ],
    );
}

#[test]
fn the_strict_range_is_32_bits() {
    check(
        true,
        &[
            ("2147483646", "+", "1", "2147483647"),
            ("2147483647", "+", "1", "! 2147483648: A 32 bit integer overflow"),
            ("2147483648", "+", "0", "! 2147483648: A 32 bit integer overflow"),
            ("-2147483648", "-", "1", "! -2147483649: A 32 bit integer overflow"),
            ("65536", "*", "65536", "! 4294967296: A 32 bit integer overflow"),
            ("2", "**", "31", "! 2147483648: A 32 bit integer overflow"),
            ("1", "<<", "31", "2147483648"),
            ("1", "<<", "32", "! 4294967296: A 32 bit integer overflow"),
            ("1", ">>", "40", "! 0: A 32 bit integer overflow"),
            ("1e38", "*", "10.0", "! 1e+39: A 32-bit floating point number overflow"),
            ("1e39", "-", "1e39", "! 0e+0: A 32-bit floating point number overflow"),
            ("2.0", "**", "3000000000.0", "! inf: A 32-bit floating point number overflow"),
            ("4294967296", "//", "1", "4294967296"),
            ("1e39", "/", "1.0", "1e+39"),
        ],
    );
}

#[test]
fn strings_and_lists() {
    check(
        false,
        &[
            ("\"ab\"", "+", "\"c\"", "\"abc\""),
            ("\"ab\"", "*", "2", "\"abab\""),
            ("0", "*", "\"ab\"", "\"\""),
            ("[1]", "+", "[2]", "[1, 2]"),
            ("2", "*", "[1, 2]", "[1, 2, 1, 2]"),
            ("[1]", "*", "0", "[]"),
            ("[1]", "*", "-1", "! capacity overflow"),
            ("\"ab\"", "*", "-7", "! capacity overflow"),
            ("\"ab\"", "*", "100000000000", "! capacity overflow"),
            ("[1]", "+", "1", "! can only concatenate list (not \"int\") to list"),
            (
                "[1]",
                "+",
                "1Ki",
                "! can only concatenate list (not \"number_multiplier(1Ki)\") to list",
            ),
        ],
    );
}

#[test]
fn operands_that_do_not_fit() {
    check(
        false,
        &[
            ("1", "+", "\"ab\"", "! unsupported operand type(s) for +: 'int' and 'str'"),
            ("null", "-", "1", "! unsupported operand type(s) for -: 'NoneType' and 'int'"),
            ("{}", "*", "2.5", "! unsupported operand type(s) for *: 'dict' and 'float'"),
            (
                "Undefined",
                "/",
                "1Ki",
                "! unsupported operand type(s) for /: 'UndefinedType' and 'number_multiplier(1Ki)'",
            ),
            ("true", "**", "-7", "! unsupported operand type(s) for **: 'bool' and 'int'"),
            ("2.5", "<<", "0", "! unsupported operand type(s) for <<: 'float' and 'int'"),
            ("lambda", "&", "{}", "! unsupported operand type(s) for &: 'function' and 'dict'"),
        ],
    );
}

#[test]
fn unary() {
    for (op, a, expected) in [
        ("+", "1", "1"),
        ("-", "2.5", "-2.5"),
        ("-", "0.0", "0.0"),
        ("-", "-9223372036854775808", "-9223372036854775808"),
        ("~", "-7", "6"),
        ("~", "2.5", "-3"),
        ("~", "1Ki", "-1025"),
        ("~", "\"ab\"", "-1"),
        ("-", "\"a\"", "! bad operand type for unary -: 'str'"),
        ("+", "null", "! bad operand type for unary +: 'NoneType'"),
        ("+", "1Ki", "! bad operand type for unary +: 'number_multiplier(1Ki)'"),
    ] {
        let result = match op {
            "+" => ops::plus(&value(a)),
            "-" => ops::minus(&value(a)),
            _ => ops::invert(&value(a)),
        };
        assert_eq!(text(result), expected, "{op} {a}");
    }
}
