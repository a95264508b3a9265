//! Limits, at the last value that suffices and the first that does not.

use crate::expression::evaluate;
use crate::host::TestHost;
use kcl_value::{Value, show};

/// The result of an expression as text, or the message of its fault.
fn outcome(expression: &str, host: &mut TestHost) -> String {
    evaluate(expression, host).map_or_else(|fault| fault.message, |value| show(&value))
}

/// The least room that an expression needs.
fn least_room(expression: &str) -> usize {
    let fails = |room: usize| {
        let found = outcome(expression, &mut TestHost { room, ..TestHost::new() });
        found == "the program was stopped: it takes too much memory"
    };
    let least = (0..4096).find(|room| !fails(*room)).expect("some room suffices");
    assert!((least..least + 64).all(|room| !fails(room)), "{expression}");
    least
}

#[test]
fn a_result_needs_as_much_room_as_it_takes() {
    let value = size_of::<Value>();
    let rooms = [
        ("range(0)", 0),
        ("range(3)", 3 * value),
        ("range(10)", 10 * value),
        (r#""-".join(["abc", "de"])"#, 6),
        (r#""-".join(["abc"])"#, 4),
        (r#""-".join([])"#, 0),
        (r#""-".join("abc")"#, 5),
        (r#""-".join({abc=1,de=2})"#, 6),
        (r#""aaaa".replace("a", "bb")"#, 8),
        (r#""aaaa".replace("a", "bb", 2)"#, 6),
        (r#""abab".replace("b", "ccc")"#, 8),
        (r#""ab".replace("", "ccc")"#, 11),
        (r#""abcd".replace("x", "yyyyyyyy")"#, 4),
        (r#""{:9}".format(1)"#, 9),
        (r#"regex.replace("aaaa", "a", "bb")"#, 9),
        (r#"template.execute("abc{{x}}", {x="de"})"#, 5),
        (r#"file.read("f.txt")"#, 6),
    ];
    let found: Vec<(&str, usize)> =
        rooms.iter().map(|(expression, _)| (*expression, least_room(expression))).collect();
    assert_eq!(found, rooms);
}

#[test]
fn texts_of_values_are_measured_before_they_are_written() {
    let long = format!("[{}]", ["\"0123456789\""; 12].join(", "));
    let short = "[\"0123456789\"]";
    for call in [
        "str(@)",
        "print(@)",
        "\"-\".join([@])",
        "\"{}\".format(@)",
        "dict([[@, 1]])",
        "json.encode(@)",
        "json.encode(@, indent=2)",
        "yaml.encode(@)",
        "yaml.encode(@, multiline_string=True)",
        "yaml.encode_all(@)",
        "json.dump_to_file(@, \"o\")",
        "yaml.dump_to_file(@, \"o\")",
        "yaml.dump_all_to_file(@, \"o\")",
        "template.execute(\"{{x}}\", {x=@})",
    ] {
        let (few, many) =
            (least_room(&call.replace('@', short)), least_room(&call.replace('@', &long)));
        assert!(few >= 10 && many >= few + 100, "{call}: {few} {many}");
    }
}

#[test]
fn a_match_is_measured_with_its_groups() {
    let plain = least_room(r#"regex.replace("aaaa", "a", "bb")"#);
    let groups = least_room(r#"regex.replace("aaaa", "(a)", "$1$1$1$1")"#);
    let long = least_room(r#"regex.replace("aaaaaaaaaaaaaaaa", "(a+)", "$1$1$1$1")"#);
    assert!(plain < groups && groups + 40 < long, "{plain} {groups} {long}");
}

#[test]
fn a_list_has_at_most_so_many_items() {
    let mut host = TestHost { room: usize::MAX, ..TestHost::new() };
    let too_many = "range() result has too many items: 33554433";
    assert_eq!(outcome("range(33554433)", &mut host), too_many);
    let most = &mut TestHost { room: 1 << 20, ..TestHost::new() };
    let no_room = "the program was stopped: it takes too much memory";
    assert_eq!(outcome("range(33554432)", most), no_room);
    assert_eq!(outcome("range(0, 67108864, 2)", most), no_room);
    assert_eq!(outcome("range(67108865, 0, -2)", most), too_many);
}

#[test]
fn a_width_has_a_limit() {
    let mut host = TestHost { room: usize::MAX, ..TestHost::new() };
    let too_wide = "Too many decimal digits in format string";
    assert_eq!(outcome("\"{:16777217}\".format(1)", &mut host), too_wide);
    assert_eq!(outcome("\"{:16777216}\".format(1)", &mut host).len(), 1 << 24);
    let precise = "Formatting argument out of range";
    assert_eq!(outcome("\"{:.65536f}\".format(1.5)", &mut host), precise);
    assert_eq!(outcome("\"{:.65535f}\".format(1.5)", &mut host).len(), 65_537);
}

#[test]
fn numbers_of_32_bits() {
    let mut host = TestHost { strict_range: true, ..TestHost::new() };
    assert_eq!(outcome("sum([2147483646, 1])", &mut host), "2147483647");
    let overflow = "2147483648: A 32 bit integer overflow";
    assert_eq!(outcome("sum([2147483647, 1])", &mut host), overflow);
    let too_large = "inf: A 32-bit floating point number overflow";
    assert_eq!(outcome("float(\"1e39\")", &mut host), too_large);
    assert_eq!(outcome("float(1e39)", &mut host), too_large);
    assert_eq!(outcome("float(\"1.5e38\")", &mut host), outcome("float(1.5e38)", &mut host));
    assert_eq!(outcome("float(\"inf\")", &mut host), too_large);
    assert_eq!(
        outcome("float(1e39)", &mut TestHost::new()),
        outcome("float(\"1e39\")", &mut TestHost::new())
    );
    // Without the flag for debugging, units are not checked.
    assert_eq!(outcome("int(2097152Ki)", &mut host), "2147483648");
}

#[test]
fn units_are_checked_with_the_flag_for_debugging() {
    let mut strict = TestHost { strict_range: true, debug: true, ..TestHost::new() };
    assert_eq!(outcome("int(2097151Ki)", &mut strict), "2147482624");
    let overflow = "2147483648: A 32 bit integer overflow";
    assert_eq!(outcome("int(2097152Ki)", &mut strict), overflow);
    assert_eq!(outcome("int(2147483Ki)", &mut strict), "2199022592: A 32 bit integer overflow");
    assert_eq!(outcome("int(2147483K)", &mut strict), "2147483000");
    assert_eq!(outcome("int(3000000000m)", &mut strict), "3000000000: A 32 bit integer overflow");
    let mut wide = TestHost { debug: true, ..TestHost::new() };
    assert_eq!(outcome("int(2097152Ki)", &mut wide), "2147483648");
    assert_eq!(outcome("int(9007199254740991Ki)", &mut wide), "9223372036854774784");
    let overflow = "9223372036854775808: A 64 bit integer overflow";
    assert_eq!(outcome("int(9007199254740992Ki)", &mut wide), overflow);
    assert_eq!(outcome("int(9007199254740992Ki)", &mut TestHost::new()), "9223372036854775807");
}

#[test]
fn templates_nest_to_a_limit() {
    let blocks = |n: usize| {
        let text = format!("{}x{}", "{{#if a}}".repeat(n), "{{/if}}".repeat(n));
        outcome(&format!("template.execute(\"{text}\", {{a=1}})"), &mut TestHost::new())
    };
    let too_deep = "register template failed: the template nests too deeply";
    assert_eq!(blocks(100), "x");
    assert_eq!(blocks(101), too_deep);
    // Blocks one behind the other do not nest.
    let flat = "{{#if a}}x{{/if}}".repeat(150);
    let flat = outcome(&format!("template.execute(\"{flat}\", {{a=1}})"), &mut TestHost::new());
    assert_eq!(flat, "x".repeat(150));
    let brackets = |n: usize| {
        let text = format!("{{{{{}a{}}}}}", "(not ".repeat(n), ")".repeat(n));
        let found =
            outcome(&format!("template.execute(\"{text}\", {{a=1}})"), &mut TestHost::new());
        found == too_deep
    };
    assert_eq!((brackets(99), brackets(100), brackets(101)), (false, false, true));
    let flat = format!("{{{{and {}}}}}", "(not a) ".repeat(150));
    let flat = outcome(&format!("template.execute(\"{flat}\", {{a=1}})"), &mut TestHost::new());
    assert_ne!(flat, too_deep);
}

#[test]
fn inline_partials_include_no_partials() {
    let refused = "register template failed: an inline partial must not include partials";
    let execute =
        |text: &str| outcome(&format!("template.execute({text:?}, {{a=1}})"), &mut TestHost::new());
    assert_eq!(execute("{{#*inline \"p\"}}{{> q}}{{/inline}}"), refused);
    assert_eq!(execute("{{#*inline \"p\"}}{{#> q}}{{/q}}{{/inline}}"), refused);
    assert_eq!(execute("{{#*inline \"p\"}}{{#if a}}{{> q}}{{/if}}{{/inline}}"), refused);
    assert_eq!(execute("{{#*inline \"p\"}}{{#if a}}y{{/if}}{{~> q}}{{/inline}}"), refused);
    assert_eq!(execute("{{#*inline \"p\"}}x{{/inline}}{{> p}}{{#if a}}{{> p}}{{/if}}"), "xx");
    assert_eq!(execute("{{#if a}}{{#*inline \"p\"}}x{{/inline}}{{> p}}{{/if}}"), "x");
}

#[test]
fn folders_are_copied_and_searched_to_a_depth() {
    let deep = |n: usize| {
        let path = format!("/app/deep/{}f.txt", "d/".repeat(n));
        TestHost { system: TestHost::new().system.with_file(path, "x"), ..TestHost::new() }
    };
    assert_eq!(outcome("file.cp(\"deep\", \"copy\")", &mut deep(127)), "None");
    let message = outcome("file.cp(\"deep\", \"copy\")", &mut deep(128));
    assert!(message.ends_with("folders are nested too deeply"), "{message}");
    let found = |n: usize| outcome("file.glob(\"deep/**/f.txt\")", &mut deep(n)) != "[]";
    let most = (1..80).take_while(|n| found(*n)).count();
    assert!((55..=65).contains(&most), "{most}");
}

#[test]
fn paths_are_free_where_the_environment_says_so() {
    let read = |word: &str| {
        let system = TestHost::new().system.with_env("KCL_FILE_SCOPE", word);
        outcome("file.read(\"/etc/passwd\")", &mut TestHost { system, ..TestHost::new() })
    };
    for word in ["off", "OFF", "0", "false", "False", "no", "NO"] {
        assert_eq!(read(word), "root", "{word}");
    }
    for word in ["", "on", "1", "true", "yes", "offs"] {
        let refused = "path '/etc/passwd' escapes module root '/app'";
        assert_eq!(read(word), refused, "{word}");
    }
}

#[test]
fn what_is_written_is_there() {
    let mut host = TestHost::new();
    let mut run = |expression: &str| outcome(expression, &mut host);
    run("file.write(\"w.txt\", \"abc\")");
    run("file.append(\"w.txt\", \"de\")");
    assert_eq!(run("file.read(\"w.txt\")"), "abcde");
    assert_eq!(run("file.size(\"w.txt\")"), "5");
    run("file.cp(\"w.txt\", \"c.txt\")");
    run("file.mv(\"w.txt\", \"m.txt\")");
    assert_eq!(
        run("[file.exists(\"w.txt\"), file.exists(\"c.txt\"), file.exists(\"m.txt\")]"),
        "[False, True, True]"
    );
    run("file.delete(\"c.txt\")");
    assert_eq!(run("file.exists(\"c.txt\")"), "False");
    run("file.cp(\"g\", \"h\")");
    assert_eq!(run("file.glob(\"h/**/*.txt\")").matches("/app/h/").count(), 6);
    assert_eq!(run("file.mkdir(\"n\")"), "None");
    run("json.dump_to_file({b=1,a=None,_c=2}, \"o.json\", True, 2, True, True)");
    assert_eq!(run("file.read(\"o.json\")"), "{\n  \"b\": 1\n}");
    run("yaml.dump_to_file({b=1,a=None,_c=2}, \"o.yaml\", True, False, False)");
    assert_eq!(run("file.read(\"o.yaml\")"), "_c: 2\na: null\nb: 1\n");
    run("yaml.dump_all_to_file([{b=1,a=None},{_c=2}], \"o.yaml\", False, True, True)");
    assert_eq!(run("file.read(\"o.yaml\")"), "b: 1\n\n---\n{}\n");
    assert_eq!(
        run("json.dump_to_file({a=1}, \"/etc/o\")"),
        "path '/etc/o' escapes module root '/app'"
    );
    assert_eq!(
        run("json.dump_to_file({a=1})"),
        "dump_to_file() missing 2 required positional arguments: 'data' and 'filename'"
    );
    assert_eq!(
        run("yaml.dump_to_file({a=1})"),
        "dump_to_file() missing 2 required positional arguments: 'data' and 'filename'"
    );
    assert_eq!(
        run("yaml.dump_all_to_file([])"),
        "dump_all_to_file() missing 2 required positional arguments: 'data' and 'filename'"
    );
}

#[test]
fn the_name_of_the_machine() {
    let host = |system| TestHost { system, ..TestHost::new() };
    let system = || TestHost::new().system;
    let proc = system().with_file("/proc/sys/kernel/hostname", "proc\n");
    assert_eq!(outcome("net.fqdn()", &mut host(proc)), "proc");
    let both =
        system().with_file("/proc/sys/kernel/hostname", "proc\n").with_env("HOSTNAME", "env");
    assert_eq!(outcome("net.fqdn()", &mut host(both)), "env");
    assert_eq!(outcome("net.fqdn(\"x\")", &mut host(system())), "x");
}
