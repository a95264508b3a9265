//! Every construct and the tree it gives.

use crate::dump;
use kcl_syntax::{parse, parse_expr, parse_type, print};

/// Checks the tree of a text without errors, and that printing gives the same tree.
#[track_caller]
fn check(text: &str, expected: &str) {
    let parsed = parse(text);
    assert_eq!(parsed.diagnostics, [], "{text}");
    let tree = dump::module(&parsed.module);
    assert_eq!(tree, expected, "{text}");
    for source in ["", text] {
        let printed = print(&parsed.module, source);
        let again = parse(&printed);
        assert_eq!(again.diagnostics, [], "printed: {printed}");
        assert_eq!(dump::module(&again.module), tree, "printed: {printed}");
    }
}

/// Checks the tree of an expression without errors.
#[track_caller]
fn check_expr(text: &str, expected: &str) {
    let parsed = parse_expr(text);
    assert_eq!(parsed.errors, [], "{text}");
    assert_eq!(dump::expr(&parsed.module, parsed.root), expected, "{text}");
    check(&format!("x = {text}"), &format!("(= x {expected})"));
}

/// Checks the tree of a type without errors.
#[track_caller]
fn check_type(text: &str, expected: &str) {
    let parsed = parse_type(text);
    assert_eq!(parsed.errors, [], "{text}");
    assert_eq!(dump::ty(&parsed.module, parsed.root), expected, "{text}");
    check(&format!("x: {text} = 1"), &format!("(= x:{expected} 1)"));
}

#[test]
fn numbers() {
    check_expr("12", "12");
    check_expr("0x1F", "31");
    check_expr("0b101", "5");
    check_expr("0o17", "15");
    check_expr("017", "15");
    check_expr("1_000", "1000");
    check_expr("1.5", "1.5f");
    check_expr("1.", "1.0f");
    check_expr("1e3", "1000.0f");
    check_expr("1.5e-3", "0.0015f");
    check_expr("1Ki", "1Ki");
    check_expr("1m", "1m");
    check_expr("1M", "1M");
    check_expr("1i", "1");
    check_expr("1.5Ki", "1.5f");
    check_expr("9223372036854775807", "9223372036854775807");
    check_expr("-9223372036854775808", "-9223372036854775808");
}

#[test]
fn strings() {
    check_expr(r#""a'b""#, r#""a'b""#);
    check_expr(r"'a\'b'", r#""a'b""#);
    check_expr(r#""\t\n\\\x41\u00e9\U0001F600\101""#, r#""\t\n\\Aé😀A""#);
    check_expr(r#""\q\$x""#, r#""\\q\\$x""#);
    check_expr(r#"r"a\n${b}""#, r#""a\\n${b}""#);
    check_expr(r"R'a\'b'", r#""a\\'b""#);
    check_expr("\"\"\"a\nb\"\"\"", "\"a\\nb\"L");
    check_expr("'''\na\"\"\"b'''", "\"a\\\"\\\"\\\"b\"L");
    check_expr(r#""\N{BULLET}""#, "\"•\"");
    check("a = \"\"\"x\r\ny\"\"\"\r\nb = 1\r\n", "(= a \"x\\ny\"L)\n(= b 1)");
}

#[test]
fn long_strings_lose_their_indentation() {
    check_expr("\"\"\"\n    x\n      y\n    \"\"\"", "\"x\\n  y\\n\"L");
    check_expr("\"\"\"\n    x\n  \"\"\"", "\"  x\\n\"L");
    check_expr("\"\"\"\n\n    x\n    \"\"\"", "\"\\nx\\n\"L");
    check_expr("\"\"\"x\n    y\n    \"\"\"", "\"x\\n    y\\n    \"L");
    check_expr("\"\"\"   \"\"\"", "\"\"L");
    check_expr("\"\"\"\n    x\\n  z\n    \"\"\"", "\"  x\\nz\\n  \"L");
    check_expr("r\"\"\"\n    x\\n\n    \"\"\"", "\"x\\\\n\\n\"L");
    check_expr("\"\"\"\n    ${x}\n      y\n    \"\"\"", "(joinL ${x} \"\\n  y\\n\")");
}

#[test]
fn interpolation() {
    check_expr(r#""a ${b} c""#, r#"(join "a " ${b} " c")"#);
    check_expr(r#""${a.b[0] + 1}""#, "(join ${(+ ([] a.b 0) 1)})");
    check_expr(r#""${a: #json}""#, "(join ${a#json})");
    check_expr(r#""${a['k']}""#, r#"(join ${([] a "k")})"#);
    check_expr(r#""\${a} ${b}""#, r#"(join "${a}" " " ${b})"#);
    check_expr(r#""$a""#, r#""$a""#);
    check_expr(r#""\x24{a} b""#, r#"(join "${a} b")"#);
}

#[test]
fn escapes_neither_begin_nor_end_an_interpolation() {
    check_expr(r#""${'\x7d'}z""#, r#"(join ${"}"} "z")"#);
    check_expr(r#""${'\x27\x22\\'}z""#, r#"(join ${"'\"\\"} "z")"#);
    check_expr(r#""\x24{a} ${b}""#, r#"(join "${a} " ${b})"#);
    check_expr(r#""$\x7ba} ${b}\x7d""#, r#"(join "${a} " ${b} "}")"#);
    check_expr(r#""\N{DOLLAR SIGN}{a} ${b}""#, r#"(join "${a} " ${b})"#);
    check_expr(r#""\\${a} ${b}""#, r#"(join "${a}" " " ${b})"#);
    check_expr(r#""\${\x7d ${b}""#, r#"(join "${} ${b}")"#);
    check_expr(r#""\$x \x24{a}${b}""#, r#"(join "\\$x ${a}" ${b})"#);
    check_expr(r#""x\x5c${b}""#, r#"(join "x\\" ${b})"#);
    check_expr(r#""\\\$x \\\${a} t""#, r#"(join "\\$x \\${a}" " t")"#);
    check_expr(r#""\x24{b} \${a\x7d} t""#, r#"(join "${b} ${a}}" " t")"#);
    check_expr(r#""${'\x24{'}z""#, r#"(join ${(join "${")} "z")"#);
    check_expr(r#""${'\x24{\x7d'}z""#, r#"(join ${(join "${}")} "z")"#);
    check_expr(r#""${r'${'}z""#, r#"(join ${"${"} "z")"#);
    check_expr(r#""${r'\x7d'}z""#, r#"(join ${"\\x7d"} "z")"#);
}

#[test]
fn long_strings_and_interpolation() {
    check_expr(r#""${'''a'\x7d'''}""#, r#"(join ${"a'}"L})"#);
    check_expr(r#"'${"""a\n b"""}'"#, r#"(join ${"a\n b"L})"#);
    check_expr("'''${\"\"\"a\n b\"\"\"}'''", r#"(joinL ${"a\n b"L})"#);
    check_expr("'''${r\"\"\"${\n b\"\"\"}'''", r#"(joinL ${"${\n b"L})"#);
    check_expr(r#""""${r'${"'}""""#, r#"(joinL ${"${\""})"#);
    check_expr("\"\"\"\n x ${'a\\nb'}\n\"\"\"", r#"(joinL " x " ${"a\nb"} "\n")"#);
    check_expr("\"\"\"\n    ${a\n  }\"\"\"", r#"(joinL "  " ${a})"#);
    check_expr(r#"'${"""  a\n """}'"#, r#"(join ${" a\n"L})"#);
    check_expr("\"\"\"\n  ${a}\n \"\"\"", r#"(joinL " " ${a} "\n")"#);
    let text = "\"\"\"\n    \\${a}\n      ${b}\n    \\x7d\n    \"\"\"";
    check_expr(text, r#"(joinL "${a}" "\n  " ${b} "\n}\n")"#);
}

#[test]
fn operators_bind_as_in_the_reference() {
    check_expr("2 ** 3 ** 2", "(** (** 2 3) 2)");
    check_expr("-2 ** 2", "(** (Minus 2) 2)");
    check_expr("1 + 2 * 3 - 4", "(- (+ 1 (* 2 3)) 4)");
    check_expr("1 | 2 ^ 3 & 4 << 5", "(| 1 (^ 2 (& 3 (<< 4 5))))");
    check_expr("a or b and not c", "(or a (and b (Not c)))");
    check_expr("not a == b", "(cmp (Not a) == b)");
    check_expr("a // b % c", "(% (// a b) c)");
    check_expr("a | b | c", "(| (| a b) c)");
    check_expr("~a >> +b", "(>> (Invert a) (Plus b))");
    check_expr("1 < a <= 3", "(cmp 1 < a <= 3)");
    check_expr("a == b < c", "(cmp a == (cmp b < c))");
    check_expr("a < b == c", "(cmp a < b == c)");
    check_expr("a in b and c not in d", "(and (cmp a in b) (cmp c not in d))");
    check_expr("a is b or c is not None", "(or (cmp a is b) (cmp c is not None))");
    check_expr("a as int", "(as a int)");
    check_expr("a + 1 as pkg.T", "(as (+ a 1) <pkg.T>)");
    check_expr("a as [str]", "(as a [str])");
    check_expr("a if b else c if d else e", "(if b a else (if d c else e))");
    check_expr("(a)", "(paren a)");
}

#[test]
fn members_calls_and_subscripts() {
    check_expr("a.b.c", "a.b.c");
    check_expr("a().b", "(. (call a) b)");
    check_expr("a?.b.c", "(?. a b.c)");
    check_expr("a[0]?[1]", "(?[] ([] a 0) 1)");
    check_expr("a[1:2]", "([:] a 1:2:)");
    check_expr("a[::2]", "([:] a ::2)");
    check_expr("a[:]", "([:] a ::)");
    check_expr("f(a, b, k=1, l=2,)", "(call f a b k=1 l=2)");
    check_expr("f(\n    a\n    b = 1\n)", "(call f a b=1)");
    check_expr("\"a\".upper()", "(call (. \"a\" upper))");
    check_expr("1.foo", "(. 1 foo)");
}

#[test]
fn lists() {
    check_expr("[]", "[]");
    check_expr("[1, *a, 2,]", "[1 (* a) 2]");
    check_expr("[\n    1\n    2\n]", "[1 2]");
    check_expr("[{}\n{}]", "[{} {}]");
    check_expr("[if a: 1, 2]", "[(if a [1]) 2]");
    check_expr(
        "[\n    if a:\n        1\n        2\n    elif b:\n        3\n    else:\n        4\n    5\n]",
        "[(if a [1 2] else (if b [3] else [4])) 5]",
    );
    check_expr("[x for x in xs]", "[x (for x in xs)]");
    check_expr(
        "[x + y for k, x in xs if (x) if k else z for y in ys]",
        "[(+ x y) (for k x in xs if (if k (paren x) else z)) (for y in ys)]",
    );
    check_expr("[\n    x\n    for x in xs\n]", "[x (for x in xs)]");
}

#[test]
fn configs() {
    check_expr("{}", "{}");
    check_expr("{a: 1, b = 2, c += [3]}", "{a: 1, b = 2, c += [3]}");
    check_expr("{\n    a: 1\n\n    \"b\": 2,\n    **c\n}", "{a: 1, \"b\": 2, **c}");
    check_expr("{a.b.c = 1}", "{a: {b: {c = 1}}}");
    check_expr("{a.b += [1]}", "{a: {b += [1]}}");
    check_expr("{a[0]: 1, b[-1] = 2}", "{([] a 0): 1, ([] b (Minus 1)) = 2}");
    check_expr("{\"a.b\" = 1}", "{\"a.b\" = 1}");
    check_expr("{name, b}", "{name = name, b = b}");
    check_expr("{k: v for k, v in d if v}", "{k: v (for k v in d if v)}");
    check_expr("{k for k in d}", "{k = k (for k in d)}");
    check_expr("{if a: b = 1}", "{(if a {b = 1})}");
    check_expr(
        "{\n    if a:\n        b.c = 1\n        **d\n        if e: f: 2\n    elif g:\n        h = 3\n    else:\n        i = 4\n    j = 5\n}",
        "{(if a {b: {c = 1}, **d, (if e {f: 2})} else (if g {h = 3} else {i = 4})), j = 5}",
    );
}

#[test]
fn schema_expressions() {
    check_expr("A {}", "(new A {})");
    check_expr("p.A {x = 1}", "(new p.A {x = 1})");
    check_expr("A(1, k=2) {x: 3}", "(new A 1 k=2 {x: 3})");
    check_expr("A {k: v for k, v in d}", "(new A {k: v (for k v in d)})");
}

#[test]
fn lambdas() {
    check_expr("lambda {1}", "(lambda _ [(expr 1)])");
    check_expr("lambda x {x}", "(lambda (x) [(expr x)])");
    check_expr(
        "lambda x: int, y: [str] = [] -> str {\n    z = x\n    if z:\n        w = 1\n    z\n}",
        "(lambda (x:int y:[str]=[]) -> str [(= z x) (if z [(= w 1)] []) (expr z)])",
    );
    check_expr(
        "lambda {\n    a: int = 1,\n    b\n} -> int { a }",
        "(lambda (a:int=1 b) -> int [(expr a)])",
    );
    check_expr("lambda {} -> int { 1 }", "(lambda () -> int [(expr 1)])");
}

#[test]
fn quantifiers() {
    check_expr("all x in xs { x > 1 }", "(All x in xs (cmp x > 1))");
    check_expr("any k, v in d { v if k }", "(Any k v in d v if k)");
    check_expr("map x in [1] { x + 1 }", "(Map x in [1] (+ x 1))");
    check_expr("filter x in a.b?.c[0] { x }", "(Filter x in ([] (?. a.b c) 0) x)");
    check_expr("all x in xs {\n    x > 1\n}", "(All x in xs (cmp x > 1))");
}

#[test]
fn types() {
    check_type("any", "any");
    check_type("int | str | [float] | {str:bool}", "int|str|[float]|{str:bool}");
    check_type("[]", "[]");
    check_type("{:}", "{:}");
    check_type("{str:}", "{str:}");
    check_type("\"a\" | 1 | 1Ki | 1.5 | True | False", "\"a\"|1|1Ki|1.5f|True|False");
    check_type("a.b.C", "<a.b.C>");
    check_type("(int, str) -> bool", "(int str)->bool");
    check_type("() -> any", "()->any");
    check_type("(int)", "(int)->");
    check_type("$int", "<int>");
}

#[test]
fn assignments() {
    check("a = 1", "(= a 1)");
    check("a = b = 1", "(= a b 1)");
    check("a: int = 1", "(= a:int 1)");
    check("a.b[0].c = 1", "(= a.b[0].c 1)");
    check("a[\"k\"] |= {}", "(With(BitOr) a[\"k\"] {})");
    check("a += 1\nb **= 2", "(With(Add) a 1)\n(With(Pow) b 2)");
    check("a: A {x = 1}", "(unify a (new A {x = 1}))");
    check("a: p.A(1) {}", "(unify a (new p.A 1 {}))");
    check("$if = 1\nb = $if", "(= if 1)\n(= b if)");
    check("$type = 1", "(= type 1)");
}

#[test]
fn simple_statements() {
    check("import a.b as c", "(import a.b as c)");
    check("import .a\nimport ..a.b\nimport ...c", "(import .a)\n(import ..a.b)\n(import ...c)");
    check("type A = int | str", "(type A int|str)");
    check("assert a if b, \"c\"", "(assert a if b , \"c\")");
    check("f(x)\n~x", "(expr (call f x))\n(expr (Invert x))");
    check("\"\"\"doc \\q\"\"\"\na = 1", "(doc \"doc \\\\q\")\n(= a 1)");
    check("a = 1 + \\\n    2", "(= a (+ 1 2))");
}

#[test]
fn if_statements() {
    check(
        "if a: b = 1\nelif c: b = 2\nelse: b = 3",
        "(if a [(= b 1)] [(if c [(= b 2)] [(= b 3)])])",
    );
    check(
        "if a:\n    b = 1\n\n    # comment\n    if c:\n        d = 1\nelse:\n    e = 1\nf = 1",
        "(if a [(= b 1) (if c [(= d 1)] [])] [(= e 1)])\n(= f 1)",
    );
    check("if a:\n\tb = 1\n\tc = 2", "(if a [(= b 1) (= c 2)] [])");
}

#[test]
fn schemas() {
    check("schema A:\n\na = 1", "(Schema A _ [] [])\n(= a 1)");
    check(
        "@deprecated\nschema A[x: int, y = 1](p.B) for C:\n    \"\"\"doc\"\"\"\n    mixin [D, e.F]\n    a: int\n    b?: str = \"x\"\n    \"c-d\": int\n    @info(k=1)\n    e: {str:str} = {}\n    f: [int] += [1]\n    g = 1\n    if x:\n        g = 2\n    assert x\n    check:\n        a > 1 if b, \"msg\"\n        len(e) < 3",
        "(@(call deprecated) Schema A <- p.B for C doc \"doc\" (x:int y=1) mixin D mixin e.F [(attr \"a\" int) (attr \"b\"? str Assign  \"x\") (attr \"c-d\" int) (attr @(call info k=1) \"e\" {str:str} Assign  {}) (attr \"f\" [int] With(Add)  [1]) (= g 1) (if x [(= g 2)] []) (assert x)] [(check (cmp a > 1) if b , \"msg\") (check (cmp (call len e) < 3))])",
    );
    check("mixin M for P:\n    a: int", "(Mixin M for P _ [(attr \"a\" int)] [])");
    check("protocol P:\n    a: int", "(Protocol P _ [(attr \"a\" int)] [])");
    check("schema AMixin:\n    a: int", "(Mixin AMixin _ [(attr \"a\" int)] [])");
    check(
        "schema A:\n    mixin [\n        B\n        C,\n    ]",
        "(Schema A _ mixin B mixin C [] [])",
    );
}

#[test]
fn index_signatures() {
    check("schema A:\n    [str]: int", "(Schema A _ [str]: int [] [])");
    check("schema A:\n    [...str]: int = 1", "(Schema A _ [...str]: int = 1 [] [])");
    check(
        "schema A:\n    [k: str]: int\n    a: int",
        "(Schema A _ [k: str]: int [(attr \"a\" int)] [])",
    );
    check("schema A:\n    [k: ...str]: any", "(Schema A _ [k: ...str]: any [] [])");
    check("schema A:\n    [a]", "(Schema A _ [(expr [a])] [])");
}

#[test]
fn rules() {
    check(
        "@d\nrule A[x](B, C) for D:\n    \"\"\"doc\"\"\"\n    a > 1, \"m\"",
        "(@(call d) rule A <- B <- C for D doc \"doc\" (x) [(check (cmp a > 1) , \"m\")])",
    );
}

#[test]
fn comments_are_kept_apart() {
    let text = "# one\na = 1 # two\r\n    # three";
    let parsed = parse(text);
    let comments: Vec<&str> = parsed.module.comments.iter().map(|span| span.slice(text)).collect();
    assert_eq!(comments, ["# one", "# two", "# three"]);
    assert_eq!(dump::module(&parsed.module), "(= a 1)");
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    check("\u{feff}a = 1", "(= a 1)");
}

#[test]
fn names_may_be_in_any_script() {
    check("名 = {ä: 1}", "(= 名 {ä: 1})");
}
