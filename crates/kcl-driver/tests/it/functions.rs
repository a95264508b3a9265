//! Functions that are called many times.

use base_system::MemorySystem;
use kcl_driver::{CallError, CallLimits, Functions, RunOptions, with_functions};
use serde_json::{Value, json};

const LIMITS: CallLimits = CallLimits { steps: 20_000, memory: 100_000 };

fn with<T: Send>(text: &str, work: impl Fn(&mut Functions<'_, '_>) -> T + Sync) -> T {
    let system = MemorySystem::new().with_file("/p/main.k", text);
    let done = with_functions(&system, &RunOptions::files(["/p/main.k"]), work);
    done.map_err(|error| error.to_string()).expect("the program is valid")
}

fn call(
    functions: &mut Functions<'_, '_>,
    path: &[&str],
    data: &Value,
) -> Result<Value, CallError> {
    let function = functions.function(path).expect("a function");
    let argument = functions.argument(data);
    functions.call(&function, &[argument], LIMITS)
}

#[test]
fn functions_see_the_program_and_their_arguments() {
    let text = "_limit = 3\nschema Rule:\n    level: str\n    find: any\n\
                _over = lambda max { lambda it { [n for n in it.list if n > max + _limit] } }\n\
                a = Rule {level = 'deny', find = _over(1)}\nb = {c = {find = _over(5)}}\n";
    with(text, |functions| {
        let data = functions.data().expect("data");
        assert_eq!(data, json!({"a": {"level": "deny"}, "b": {"c": {}}}));
        for _ in 0..3 {
            let list = json!({"list": [1, 5, 9, 2.5]});
            assert_eq!(call(functions, &["a", "find"], &list), Ok(json!([5, 9])));
            assert_eq!(call(functions, &["b", "c", "find"], &list), Ok(json!([9])));
        }
        assert!(functions.function(&["a", "level"]).is_none());
        assert!(functions.function(&["nothing"]).is_none());
    });
}

#[test]
fn a_call_that_fails_leaves_nothing_behind() {
    let text = "f = lambda it {\n    x = it.a.b\n    y = x + 1\n    y\n}\n";
    with(text, |functions| {
        for _ in 0..3 {
            let error =
                call(functions, &["f"], &json!({"a": {"b": "text"}})).expect_err("a failure");
            let line = error.place.expect("a place").line;
            assert_eq!(line, 3, "{}", error.message);
            assert_eq!(call(functions, &["f"], &json!({"a": {"b": 1}})), Ok(json!(2)));
        }
    });
}

#[test]
fn a_call_ends_at_its_limits_and_the_next_one_has_all_of_them_again() {
    let text = "_loop = lambda n { _loop(n + 1) if n < 1000000 else n }\n\
                loop = lambda it { _loop(0) }\n\
                big = lambda it { len('x' * 1000000) }\n\
                many = lambda it { sum([i for i in range(100000)]) }\n\
                small = lambda it { sum([i for i in range(100)]) }\n";
    let text = format!(
        "import crypto\n{text}_a = [1, 1, 1, 1, 1, 1, 1, 1]\n_b = [_a] * 100\n_c = [_b] * 100\n_d = [_c] * 100\n_big = 'x' * 50000\n\
         same = lambda it {{ _d == [_c] * 100 }}\n\
         hash = lambda it {{ [crypto.sha256(_big) for i in range(1000)] }}\n\
         find = lambda it {{ [_big.find('y') for i in range(1000)] }}\n"
    );
    with(&text, |functions| {
        for _ in 0..2 {
            for name in ["same", "hash", "find"] {
                let error = call(functions, &[name], &json!({})).expect_err("a failure");
                assert!(error.message.contains("too many steps"), "{name}: {}", error.message);
            }
            for (name, part) in [("loop", "stopped"), ("big", "memory"), ("many", "memory")] {
                let error = call(functions, &[name], &json!({})).expect_err("a failure");
                assert!(error.message.contains(part), "{name}: {}", error.message);
            }
            assert_eq!(call(functions, &["small"], &json!({})), Ok(json!(4950)));
        }
    });
}

#[test]
fn neither_files_nor_the_clock_can_be_used() {
    let text = "import datetime\nimport file\nimport crypto\n\
                clock = lambda it { datetime.now() }\nread = lambda it { file.read('/p/main.k') }\n";
    with(text, |functions| {
        let error = call(functions, &["read"], &json!({})).expect_err("a failure");
        assert!(error.message.contains("not allowed"), "{error}");
    });
    with(text, |functions| {
        let error = call(functions, &["clock"], &json!({})).expect_err("a failure");
        assert!(error.message.contains("clock"), "{error}");
    });
    let system = MemorySystem::new().with_file("/p/main.k", "import crypto\na = crypto.uuid()\n");
    let done = with_functions(&system, &RunOptions::files(["/p/main.k"]), |_| ());
    assert!(done.expect_err("a failure").to_string().contains("random numbers"));
}

#[test]
fn results_that_share_parts_are_limited_in_size() {
    let text = "f = lambda it {\n    a = [1, 1, 1, 1, 1, 1, 1, 1]\n    b = [a, a, a, a, a, a, a, a]\n    \
                c = [b, b, b, b, b, b, b, b]\n    d = [c, c, c, c, c, c, c, c]\n    \
                e = [d, d, d, d, d, d, d, d]\n    [e, e, e, e, e, e, e, e]\n}\n";
    with(text, |functions| {
        let error = call(functions, &["f"], &json!({})).expect_err("a failure");
        assert!(error.message.contains("too large"), "{error}");
    });
}
