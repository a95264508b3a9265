//! Limits, at the last value that suffices and the first that does not.

use crate::support::loaded;
use kcl_eval::{Earlier, Evaluated, Limits, Options, Request, evaluate};
use std::fmt::Write as _;
use std::time::Duration;

/// Evaluates a program within limits; fails with the first line of the message.
fn within(source: &str, limits: Limits) -> Result<Evaluated, String> {
    let loaded = loaded(source);
    let options = Options { limits, ..Options::default() };
    let request = Request { options, ..Request::default() };
    evaluate(&loaded.program, &loaded.system, &request, Earlier::Nothing).map_err(|error| {
        error.diagnostics[0].message().lines().next().unwrap_or_default().to_owned()
    })
}

fn failure(source: &str, limits: Limits) -> String {
    within(source, limits).map_or_else(|message| message, |_| "no failure".to_owned())
}

const PROGRAM: &str = "
schema A:
    n: int = 1
    l: [int] = [x for x in range(n)]
    check:
        n > 0
f = lambda x: int -> int { x + 1 }
a = A {n = f(2)}
b = \"${a.n} and {}\".format(\"text\" * 3)
c = a | {n = 4}
d = a.l + [f(x) for x in range(5)]
";

#[test]
fn as_many_steps_and_bytes_as_a_program_takes_suffice() {
    let usage = within(PROGRAM, Limits::default()).expect("the limits suffice").usage;
    let exact = Limits { steps: usage.steps, memory: usage.memory, ..Limits::default() };
    let again = within(PROGRAM, exact).expect("the limits suffice").usage;
    assert_eq!(again, usage);
    let fewer = Limits { steps: usage.steps - 1, ..Limits::default() };
    assert_eq!(failure(PROGRAM, fewer), "the program was stopped: it takes too many steps");
    let less = Limits { memory: usage.memory - 1, ..Limits::default() };
    assert_eq!(failure(PROGRAM, less), "the program was stopped: it takes too much memory");
}

#[test]
fn steps_go_on_after_a_slice() {
    let source = "a = len([x for x in range(200000)])\n";
    let usage = within(source, Limits::default()).expect("the limits suffice").usage;
    assert!(usage.steps > 200_000 && usage.steps < 1_000_000, "{usage:?}");
    let fewer = Limits { steps: usage.steps - 1, ..Limits::default() };
    assert_eq!(failure(source, fewer), "the program was stopped: it takes too many steps");
}

#[test]
fn every_new_value_takes_memory() {
    let least =
        |source: &str| within(source, Limits::default()).expect("the limits suffice").usage.memory;
    let pairs = [
        ("a = [x for x in range(10)]\n", "a = [x for x in range(20)]\n"),
        ("a = [1, 2]\n", "a = [1, 2, 3]\n"),
        ("a = {b = 1}\n", "a = {b = 1, c = 2}\n"),
        ("a = \"x\" * 10\n", "a = \"x\" * 20\n"),
        ("a = [1] * 10\n", "a = [1] * 20\n"),
        ("a = [1] + [2]\n", "a = [1] + [2, 3, 4, 5]\n"),
        ("a = \"x\" + \"y\"\n", "a = \"x\" + \"yyyy\"\n"),
        ("_t = \"x\" * 9\na = \"${_t}\"\n", "_t = \"x\" * 9\na = \"${_t}${_t}\"\n"),
        ("a = \"x\".upper()\n", "a = \"xyz\".upper()\n"),
        ("a = range(5)\n", "a = range(9)\n"),
        ("a = {str(x): x for x in range(3)}\n", "a = {str(x): x for x in range(9)}\n"),
        ("schema S:\n    a = 1\na = S {}\n", "schema S:\n    a = 1\na = S {}\nb = S {}\n"),
        ("schema S:\n    a = 1\na = S {}\n", "schema S:\n    a = 1\n    b = 1\na = S {}\n"),
        ("_m: any = \"abc\".upper\na = 1\n", "_m: any = \"abc\".upper\na = _m()\n"),
    ];
    for (small, large) in pairs {
        assert!(least(small) < least(large), "{small}{large}{} {}", least(small), least(large));
    }
}

#[test]
fn a_program_may_print_as_much_as_the_limit_says() {
    let source = "print(\"123\")\nprint(\"456\")\n";
    let limit = |output| Limits { output, ..Limits::default() };
    let printed = within(source, limit(8)).expect("the limit suffices").printed;
    assert_eq!(printed, "123\n456\n");
    assert_eq!(failure(source, limit(7)), "the program was stopped: it prints more than 7 bytes");
}

#[test]
fn the_time_is_over_when_the_clock_says_so() {
    let timed = |time| failure(PROGRAM, Limits { time: Some(time), ..Limits::default() });
    assert_eq!(timed(Duration::ZERO), "the program was stopped: timed out after 0ns");
    // The clock of a system in memory stands still.
    assert_eq!(timed(Duration::from_nanos(1)), "no failure");
}

const TOO_DEEP: &str = "stack overflow: expressions or calls nest too deeply";

#[test]
fn what_has_ended_takes_no_depth() {
    let mut source = String::from(
        "f = lambda x { x + 1 }\ng = lambda x { f(x) }\nschema P:\n    p: int = 1\n\
         schema Q(P):\n    q: int = p\n    check:\n        q > 0\nrule R[n]:\n    n > 0\n\
         rule T[n](R):\n    n > 0\nmixin M:\n    m: int = 1\n",
    );
    for at in 0..150 {
        let _ = write!(
            source,
            "a{at} = g({at}) + (1 + (2))\nb{at} = Q {{}}\nc{at} = T(1)\nd{at} = \
             [x for x in range(2)]\ne{at} = {{k{at} = {{l = a{at}}}}}\nh{at}: Q {{q = 2}}\n\
             schema S{at}(Q):\n    mixin [M]\n    v = w\n    w: int = {at}\ni{at} = S{at} {{}}\n\
             j{at} = k{at}\nk{at} = 1\n_l{at} = 1\nm{at} = _l{at}\nif m{at} == 2:\n    \
             _l{at} = 2\nelif m{at} == 3:\n    _l{at} = 3\n_n{at} = all x in [1] {{ x > 0 }}\n\
             o{at} = \"${{a{at}}}\"\np{at} = typeof(1) if a{at} else 2\nq{at} = a{at} as int\n"
        );
    }
    let shallow = Limits { depth: 60, ..Limits::default() };
    assert_eq!(failure(&source, shallow), "no failure");
}

#[test]
fn every_kind_of_nesting_takes_depth() {
    let sources = [
        "_f = lambda n { _f(n + 1) }\na = _f(0)\n",
        "_f = lambda n { [_f(n + 1)][0] }\na = _f(0)\n",
        "schema A:\n    n: int\n    a?: A = A {n = n + 1}\na = A {n = 0}\n",
        "schema A:\n    n: int\n    check:\n        (A {n = n + 1}).n > 0\na = A {n = 0}\n",
        "schema A:\n    n: int\n    _f = lambda { A {n = n + 1} }\n    v = _f().n\na = A {n = 0}\n",
        "rule R[n]:\n    R(n + 1)\na = R(0)\n",
        "_f = lambda n { {a = {b = _f(n + 1)}} }\na = _f(0)\n",
        "_f = lambda n { [_f(x) for x in [n]] }\na = _f(0)\n",
        "_f = lambda n { all x in [n] { _f(x) } }\na = _f(0)\n",
        "_f = lambda n { \"${_f(n)}\" }\na = _f(0)\n",
        "_f = lambda n { _f(n) if n else 1 }\na = _f(1)\n",
        "_f = lambda l, x { sum([reduce(_f, [1, 2])]) }\na = reduce(_f, [1, 2])\n",
        "schema A[n]:\n    a = A(n + 1) {}\na = A(1) {}\n",
        "schema A:\n    [...str]: int = len(A {b = 1})\na = A {b = 1}\n",
    ];
    for source in sources {
        let shallow = Limits { depth: 100, ..Limits::default() };
        assert_eq!(failure(source, shallow), TOO_DEEP, "{source}");
    }
}

#[test]
fn depth_suffices_to_the_last_level() {
    let nested = |levels: usize| format!("a = {}1{}\n", "[".repeat(levels), "]".repeat(levels));
    let least = |source: &str| {
        let passes = |depth| within(source, Limits { depth, ..Limits::default() }).is_ok();
        (1..1000).find(|depth| passes(*depth)).expect("some depth suffices")
    };
    let (few, more) = (least(&nested(10)), least(&nested(20)));
    assert_eq!(more - few, 10, "{few} {more}");
    let below = Limits { depth: few - 1, ..Limits::default() };
    assert_eq!(failure(&nested(10), below), TOO_DEEP);
}
