//! What of the source runs in tests.

use crate::report;
use kcl_test::{Coverage, PartKind, Tally, TestReport};

/// Tests of `/m/p/p.k`, with the coverage of all below `/m`.
fn covered(code: &str, tests: &str) -> Coverage {
    let report = tested(&[("/m/kcl.mod", ""), ("/m/p/p.k", code), ("/m/p/p_test.k", tests)]);
    let failed = report.counts().failed;
    assert_eq!(
        (failed, report.broken.len()),
        (0, 0),
        "{}",
        report.to_text(base_diag::Colour::Never)
    );
    report.coverage.expect("coverage was asked for")
}

fn tested(files: &[(&str, &str)]) -> TestReport {
    report(files, |options| options.coverage = Some(vec!["/m/...".to_owned()]))
}

/// What no test did, with lines.
fn missing(coverage: &Coverage) -> Vec<String> {
    let files = coverage.files.iter();
    files.flat_map(|file| file.missing().map(|(line, what)| format!("{line}: {what}"))).collect()
}

#[test]
fn without_a_request_nothing_is_reported() {
    let report = report(crate::FILES, |_| ());
    assert!(report.coverage.is_none());
}

#[test]
fn both_results_of_each_kind_of_branch_count() {
    let code = "\
schema App:
    n: int
    size: str = \"big\" if n > 3 else \"small\"
    if n > 4:
        many = True
    labels: {str:str} = {
        if n > 5: huge = \"yes\"
    }
    ports: [int] = [
        if n > 6: 80
    ]
    odd: [int] = [i for i in [n] if i % 2 == 1]
    even: [int] = filter i in [n] {
        i % 2 == 0 if i > 7
    }
";
    let few = "test_few = lambda {\n    a = App {n = 1}\n}\n";
    let never_true = ["3: `n > 3`", "4: `n > 4`", "7: `n > 5`", "10: `n > 6`", "14: `i > 7`"];
    let mut wanted: Vec<String> =
        never_true.iter().map(|it| format!("{it} is never true")).collect();
    wanted.insert(4, "12: `i % 2 == 1` is never false".to_owned());
    assert_eq!(missing(&covered(code, few)), wanted);
    let both = format!("{few}test_many = lambda {{\n    a = App {{n = 8}}\n}}\n");
    assert_eq!(missing(&covered(code, &both)), [""; 0]);
}

#[test]
fn a_rule_must_hold_once_and_be_violated_once() {
    let code = "\
schema Port:
    number: int
    check:
        number > 0, \"positive\"
        number < 100 if number != 50, \"small\"
";
    let valid = "import runtime\ntest_valid = lambda {\n    p = Port {number = 1}\n}\n";
    let coverage = covered(code, valid);
    let wanted = [
        "4: the rule `number > 0` is never violated",
        "5: the rule `number < 100` is never violated",
        "5: `number != 50` is never false",
    ];
    assert_eq!(missing(&coverage), wanted);
    assert_eq!(coverage.tally(Some(PartKind::Rule)), Tally { covered: 2, total: 4 });
    let caught = |name: &str, number: i32| {
        format!(
            "test_{name} = lambda {{\n    m = runtime.catch(lambda {{\n        p = Port {{number = \
             {number}}}\n    }})\n}}\n"
        )
    };
    let all = [valid, &caught("zero", 0), &caught("large", 100), &caught("other", 50)].concat();
    assert_eq!(missing(&covered(code, &all)), [""; 0]);
}

#[test]
fn bases_mixins_lambdas_and_rules_count() {
    let code = "\
schema Base:
    a?: int

mixin NameMixin:
    name?: str = \"x\"

schema App(Base):
    mixin [NameMixin]

schema Unused(Base):
    b?: int

protocol NamedProtocol:
    name: str

rule Small:
    len([1]) == 1

named = lambda x: int -> int {
    x
}
nested = lambda x: int -> int {
    sum([i for i in [(lambda y: int -> int { y })(x)]])
}
unused = lambda {
    1
}
";
    let tests = "\
test_all = lambda {
    a = App {}
    s = Small()
    assert named(x=1) + nested(2) == 3
}
";
    let wanted = [
        "10: `Unused` has no instance",
        "17: the rule `len([1]) == 1` is never violated",
        "25: `unused` is never called",
    ];
    assert_eq!(missing(&covered(code, tests)), wanted);
}

#[test]
fn what_ran_before_a_failure_counts() {
    let code = "f = lambda x: int -> int {\n    1 if x > 0 else 2\n}\n";
    let tests = "test_bad = lambda {\n    assert f(1) == 2\n}\n";
    let files = [("/m/kcl.mod", ""), ("/m/p/p.k", code), ("/m/p/p_test.k", tests)];
    let report = tested(&files);
    assert_eq!(report.counts().failed, 1);
    let coverage = report.coverage.expect("coverage was asked for");
    assert_eq!(missing(&coverage), ["2: `x > 0` is never false"]);
}

#[test]
fn files_of_other_packages_count_if_they_are_named() {
    let files = [
        ("/m/kcl.mod", ""),
        ("/m/p/p.k", "import lib\nf = lambda x: int -> int {\n    lib.g(x)\n}\n"),
        ("/m/p/p_test.k", "test_f = lambda {\n    assert f(1) == 1\n}\n"),
        ("/m/lib/g.k", "g = lambda x: int -> int {\n    x if x > 0 else 0\n}\n"),
        ("/m/alone/alone.k", "schema Alone:\n    a?: int\n"),
        ("/m/broken/broken.k", "schema Broken:\n    a?: int\nx = (\n"),
        ("/m/empty/empty.k", "a = 1\n"),
    ];
    let coverage = tested(&files).coverage.expect("coverage was asked for");
    let paths: Vec<&str> = coverage.files.iter().map(|file| file.path.as_str()).collect();
    let wanted = ["/m/alone/alone.k", "/m/broken/broken.k", "/m/lib/g.k", "/m/p/p.k"];
    assert_eq!(paths.len(), wanted.len(), "{paths:?}");
    assert_eq!(coverage.tally(Some(PartKind::Lambda)), Tally { covered: 2, total: 2 });
    assert_eq!(coverage.tally(Some(PartKind::Schema)), Tally { covered: 0, total: 2 });
}

#[test]
fn counts_do_not_depend_on_threads() {
    let code = "limit = 3 if len([1]) == 1 else 4\nf = lambda x: int -> bool {\n    x < limit\n}\n";
    let tests: Vec<String> = (0..16)
        .map(|n| {
            format!(
                "test_{n} = lambda {{
    assert f(1)
}}
"
            )
        })
        .collect();
    let tests = tests.concat();
    let files = [("/m/kcl.mod", ""), ("/m/p/p.k", code), ("/m/p/p_test.k", tests.as_str())];
    let counts = |threads: usize| {
        let report = report(&files, |options| {
            options.coverage = Some(vec!["/m/...".to_owned()]);
            options.threads = threads;
        });
        report.coverage.map(|coverage| coverage.to_lcov())
    };
    assert_eq!(counts(1), counts(4));
}

#[test]
fn lcov_has_functions_branches_and_lines() {
    let code = "\
f = lambda x: int -> int {
    1 if x > 0 else 2
}
g = lambda -> int {
    1 if f(1) > 9 else 2
}
";
    let coverage = covered(code, "test_f = lambda {\n    a = [f(1), f(2)]\n}\n");
    let text = coverage.to_lcov();
    let (head, rest) = text.split_once("FN:").expect("there are functions");
    assert!(head.starts_with("TN:\nSF:") && head.contains("p/p.k"), "{head}");
    let wanted = "\
1,f
FN:4,g
FNDA:2,f
FNDA:0,g
FNF:2
FNH:1
BRDA:2,0,0,2
BRDA:2,0,1,0
BRDA:5,1,0,-
BRDA:5,1,1,-
BRF:4
BRH:1
DA:1,2
DA:2,2
DA:4,0
DA:5,0
LF:4
LH:2
end_of_record
";
    assert_eq!(rest, wanted);
}

#[test]
fn html_shows_the_source_as_text() {
    let code = "f = lambda x: str -> str {\n    \"<b>&\" if x == \"</pre>\" else x\n}\n";
    let coverage = covered(code, "test_f = lambda {\n    a = f(\"a\")\n}\n");
    let pages = coverage.to_html();
    assert_eq!(
        pages.iter().map(|it| it.file.as_str()).collect::<Vec<_>>(),
        ["index.html", "file-1.html"]
    );
    let page = &pages[1].text;
    assert!(
        page.contains("&quot;&lt;b&gt;&amp;&quot; if x == &quot;&lt;/pre&gt;&quot; else x"),
        "{page}"
    );
    assert!(page.contains("is never true</em>"), "{page}");
}

#[test]
fn shares_are_rounded_down() {
    let tally = |covered, total| Tally { covered, total };
    assert_eq!(tally(1999, 2000).percent(), "99.9 %");
    assert_eq!(tally(2, 3).percent(), "66.6 %");
    assert_eq!(tally(5, 5).percent(), "100.0 %");
    assert_eq!(tally(0, 0).percent(), "100.0 %");
}
