//! Texts made to break a parser: each gives a tree and, where it is too deep, one error.

use kcl_syntax::{Parsed, parse, print};

/// Parses with the stack of a main thread.
fn parse_deep(text: String) -> Parsed {
    std::thread::Builder::new()
        .stack_size(8 << 20)
        .spawn(move || parse(&text))
        .expect("a thread can be started")
        .join()
        .expect("the parser does not panic")
}

#[track_caller]
fn check_too_deep(text: String) {
    let parsed = parse_deep(text);
    assert!(
        parsed.diagnostics.iter().any(|error| error.message == "nested more than 1000 levels deep"),
        "{:?}",
        parsed.diagnostics.first()
    );
}

#[track_caller]
fn check_fits(text: String) {
    assert_eq!(parse_deep(text).diagnostics, []);
}

const N: usize = 100_000;

#[test]
fn brackets_nest_deep_but_not_without_end() {
    for (open, close) in [("[", "]"), ("(", ")"), ("{a = ", "}"), ("f(", ")"), ("A {a: ", "}")] {
        check_fits(format!("a = {}1{}", open.repeat(900), close.repeat(900)));
        check_too_deep(format!("a = {}1{}", open.repeat(N), close.repeat(N)));
        check_too_deep(format!("a = {}", open.repeat(N)));
    }
}

#[test]
fn operators_between_brackets_need_no_stack() {
    let open = "{a = 1 or 2 and 3 == 3 + 4 * [".repeat(450);
    check_fits(format!("a = {open}{}", "]}".repeat(450)));
}

#[test]
fn everything_else_that_nests() {
    check_too_deep(format!("a = {}1", "lambda {".repeat(N)));
    check_too_deep(format!("a = {}1", "1 if x else ".repeat(N)));
    check_too_deep(format!("a = {}", "all x in [".repeat(N)));
    check_too_deep(format!("a = [{}1]", "if a: ".repeat(N)));
    check_too_deep(format!("a = {{{}b = 1}}", "if a: ".repeat(N)));
    check_too_deep(format!("a: {}int = 1", "[".repeat(N)));
    check_too_deep(format!("a: {}int = 1", "() -> ".repeat(N)));
    check_too_deep(format!("a = {{a{}: 1}}", ".b".repeat(N)));
    check_too_deep(format!("a = f{}", "()".repeat(N)));
    check_too_deep(format!("a = f{}", "[0]".repeat(N)));
    check_too_deep(format!("if a:\n    b = 1\n{}", "elif a:\n    b = 1\n".repeat(N)));
    let steps: Vec<String> = (0..2000).map(|i| format!("{}if a:\n", " ".repeat(i))).collect();
    check_too_deep(steps.concat());
}

#[test]
fn chains_of_operators_are_no_nesting() {
    for chain in [" + 1", " | a", " ** 1", " < 1", " and a or b", " or 1 and 1 == 1 + 1 * 2 ** 3"] {
        check_fits(format!("a = 1{}", chain.repeat(N)));
    }
    check_fits(format!("a: int{} = 1", "|int".repeat(N)));
    check_fits(format!("a = b{}", ".c".repeat(N)));
    check_fits(format!("a = \"{}\"", "${a}".repeat(N)));
}

#[test]
fn chains_print_without_stack() {
    let text = format!("a = 1{}\n", " + 1".repeat(N));
    assert_eq!(print(&parse(&text).module, ""), text);
}

#[test]
fn nonsense_gives_a_tree() {
    for piece in [
        "\u{1f600})]}{[(!~;\\$\n",
        "-",
        "not ",
        "\"${",
        "${",
        "@a(",
        "schema a:\n ",
        "a = ",
        "mixin [",
        "\0",
        "\\",
        "'",
        "if x:\n",
        "[if x:\n",
    ] {
        parse_deep(piece.repeat(20_000));
    }
}

/// Random mixes of words of the language: no panic, no endless loop.
#[test]
fn random_words_give_a_tree() {
    const WORDS: &[&str] = &[
        "a",
        "1",
        "\"s\"",
        "\"${a}\"",
        "\"\"\"",
        "'",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ":",
        "=",
        "+=",
        ",",
        ".",
        "?",
        "*",
        "**",
        "-",
        "->",
        "|",
        "~",
        "!",
        "@",
        "$",
        "...",
        ";",
        "#",
        "\\",
        "\n",
        "\n    ",
        "\n  ",
        "\n\t",
        " if ",
        " elif ",
        " else",
        " for ",
        " in ",
        " not ",
        " is ",
        " as ",
        " lambda ",
        " all ",
        " schema ",
        " mixin ",
        " rule ",
        " check",
        " import ",
        " type ",
        " assert ",
        " int ",
        " True ",
        "0x",
        "1Ki",
        "é",
        "\u{1f600}",
        "\0",
        "\r",
    ];
    let mut state = 1u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    for _ in 0..3000 {
        let n = 1 + next() % 60;
        let text: String = (0..n).map(|_| WORDS[next() % WORDS.len()]).collect();
        parse(&text);
    }
}
