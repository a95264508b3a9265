//! Wrong texts, and what is said about them.

use base_text::LineIndex;
use kcl_syntax::{parse, parse_expr, parse_type};

/// Checks the first errors of a text, written `line:column message` (columns from 0).
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let index = LineIndex::new(text);
    let found: Vec<String> = parse(text)
        .diagnostics
        .iter()
        .take(expected.len())
        .map(|error| {
            let at = index.line_col(text, error.span.start);
            format!("{}:{} {}", at.line, at.col - 1, error.message)
        })
        .collect();
    assert_eq!(found, expected, "{text}");
}

const OPERAND: &str = r#"expected one of ["identifier", "literal", "(", "[", "{"] got"#;

#[test]
fn missing_operands() {
    check("assert", &[&format!("1:6 {OPERAND} newline")]);
    check("a = 1 +\n", &[&format!("1:7 {OPERAND} newline")]);
    check("a = --1", &[&format!("1:5 {OPERAND} -")]);
    check("a = .5", &[&format!("1:4 {OPERAND} ."), r#"1:5 expected one of ["identifier"] got 5"#]);
}

#[test]
fn missing_brackets() {
    check("a = f(1", &[r#"1:7 expected one of [")"] got newline"#]);
    check("a = [1", &[r#"1:6 expected one of ["]"] got eof"#]);
    check("a = {b = 1\n", &[r#"1:11 expected one of ["}"] got eof"#]);
    check("a = (1]", &["1:6 mismatched closing delimiter"]);
    check("a = [1)", &["1:6 error nesting on close paren"]);
    check("a = (1}", &["1:6 error nesting on close brace"]);
    check("x = any i in a { i", &[r#"1:18 expected one of ["}"] got newline"#]);
}

#[test]
fn lines_end_expressions() {
    check(
        "a = (1 +\n    2)",
        &[
            &format!("1:8 {OPERAND} newline"),
            r#"1:8 expected one of [")"] got newline"#,
            "2:4 unexpected token 'indent'",
        ],
    );
    check(
        "a = f(1,\n2)",
        &[r#"1:8 expected one of [")"] got newline"#, "2:1 unexpected token ')'"],
    );
    check("x = {a=1\nb=2}", &[r#"2:0 expected one of ["}"] got identifier"#]);
    check("x = [1\n 2]", &["2:3 unexpected token 'dedent'"]);
}

#[test]
fn illegal_targets() {
    check("a + b = 1", &["1:0 'BinaryExpression' is an illegal expression for assignment"]);
    check("f() += 1", &["1:0 'CallExpression' is an illegal expression for assignment"]);
    check("\"a\" = 1", &["1:0 'StringLitExpression' is an illegal expression for assignment"]);
    check(
        "a?.b = 1",
        &[
            "1:0 'SelectorExpression' is an illegal expression for assignment, because the left-hand side of an assignment expression may not be an optional attribute access.",
        ],
    );
    check(
        "a[1:2] = 1",
        &[
            "1:0 'SubscriptExpression' is an illegal expression for assignment, because the left-hand side of an assignment expression may not be a slice access.",
        ],
    );
}

#[test]
fn indentation() {
    check(
        "if a:\n    b = 1\n  c = 2",
        &[
            "3:2 invalid indentation with 2 spaces, try to align indents by adding or removing spaces",
        ],
    );
    check(
        "if a:\n  b = 1\n c = 2",
        &[
            "3:1 invalid indentation with 1 space, try to align indents by adding or removing spaces",
        ],
    );
    check("if a:\n    b = 1\n\tc = 2", &["3:1 inconsistent use of tabs and spaces in indentation"]);
    check("a = 1\n    b = 2", &["2:4 unexpected token 'indent'"]);
    check("schema A:\n    check:\n", &[r#"2:11 expected one of ["indent"] got dedent"#]);
}

#[test]
fn statements() {
    check("a: int", &[r#"1:6 expected one of ["="] got eof"#]);
    check("import", &[r#"1:6 expected one of ["identifier"] got newline"#]);
    check("import a as b.c", &["1:15 Invalid import asname"]);
    check(
        "if a:\n    b = 1\nelse if c:\n    b = 2",
        &["3:0 'else if' here is invalid in KCL, consider using the 'elif' keyword"],
    );
    check("if a\n    b = 1", &[r#"1:4 expected one of [":"] got newline"#]);
    check("type = 1", &[&format!("1:5 {OPERAND} ="), "1:5 expected identifier"]);
    check("type 1 = int", &["1:5 expected identifier"]);
    check("@a\n", &["1:3 unexpected token 'eof'"]);
}

#[test]
fn schemas() {
    check("schema A(B, C):\n    a: int", &[r#"1:10 expected one of [")"] got ,"#]);
    check(
        "schema A:\n    [str]: int\n    [str]: str",
        &["3:4 duplicate schema index signature definitions, only one is allowed in the schema"],
    );
    check(
        "schema A:\n    [.x]: int",
        &["2:5 expected a index signature or list expression here, got ."],
    );
    check(
        "schema A:\n    a:\n",
        &[
            r#"2:6 expected one of ["any", "bool", "int", "float", "str", "True", "False", "identifier", "literal", "[", "{", ")"] got newline"#,
        ],
    );
}

#[test]
fn calls_and_subscripts() {
    check("f(a=1, 2)", &["1:7 positional argument follows keyword argument"]);
    check("a[]", &["1:3 expected expression got newline"]);
    check("a[1 2]", &["1:4 a list should have only one expr"]);
    check("a[1:2:3:4]", &[r#"1:7 expected one of ["]"] got :"#]);
}

#[test]
fn comprehensions() {
    check("[for i in a]", &["1:1 missing list comp clause expression"]);
    check(
        "[1, 2 for i in a]",
        &["1:1 multiple list comp clause expression found: expected 1, got 2"],
    );
    check("[i for i a]", &[r#"1:9 expected one of ["in"] got identifier"#]);
    check("{\"a\" for a in b}", &[r#"1:5 expected one of [":", "=", "+="] got identifier"#]);
}

#[test]
fn numbers() {
    check("a = 0x", &["1:4 no valid digits found for number"]);
    check("a = 07", &["1:4 no valid digits found for number"]);
    check("a = 1Kx", &["1:4 invalid int binary suffix"]);
    check("a = 1e", &["1:4 expected at least one digit in exponent"]);
    check("a = 0x1.5", &["1:4 hexadecimal float literal is not supported"]);
    check("a = 0b12", &["1:7 invalid digit for a base 2 literal, start: 7, stop: 8"]);
    check("a = 1__0", &[r#"1:4 expected one of ["int"] got 1__0"#]);
    check("a = 1_0.5", &[r#"1:4 expected one of ["float"] got 1_0.5"#]);
    check("a = 9223372036854775808", &[r#"1:4 expected one of ["int"] got 9223372036854775808"#]);
    check("a = 18446744073709551616", &[r#"1:4 expected one of ["int"] got 18446744073709551616"#]);
}

#[test]
fn strings() {
    check("a = \"b\n", &["1:4 unterminated string"]);
    check("a = r'b\n", &["1:5 unterminated string"]);
    check("a = \"\"\"b\n", &["1:4 unterminated string"]);
    check(r#"a = "\xZZ""#, &["1:5 invalid string syntax"]);
    check(r#"a = "${}""#, &["1:5 invalid string interpolation expression: ''"]);
    check(r#"a = "${b c}""#, &["1:7 invalid string interpolation expression: 'b c'"]);
    check(r#"a = "${b""#, &["1:9 invalid joined string"]);
    check(r#"a = "${b: c}""#, &["1:10 invalid joined string spec without #"]);
}

#[test]
fn characters() {
    check("a = 1;", &["1:5 the semicolon ';' here is unnecessary, please remove it"]);
    check("a = !b", &["1:4 invalid token '!', consider using 'not '"]);
    check("a = 1 \\ 2", &["1:6 unexpected character after line continuation character"]);
    check("a = `1`", &["1:4 unknown start of token", "1:6 unknown start of token"]);
    check("a = 😀b", &["1:4 unknown start of token"]);
}

#[test]
fn lexical_errors_come_first() {
    check("a = (\nb = 1;", &["2:5 the semicolon ';' here is unnecessary, please remove it"]);
}

#[test]
fn an_error_leaves_the_rest_of_the_tree() {
    let parsed = parse("a = 1 +\nschema B:\n    c: int\nd = B {c = }\ne = 2");
    assert_eq!(parsed.diagnostics.len(), 2);
    assert_eq!(parsed.module.body.len(), 4);
}

#[test]
fn expressions_and_types_end_with_their_text() {
    assert_eq!(parse_expr("1 2").errors[0].message, "unexpected token '2'");
    assert_eq!(parse_type("int str").errors[0].message, "unexpected token 'identifier'");
    assert_eq!(parse_expr("").errors.len(), 1);
}
