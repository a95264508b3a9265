//! Imported packages that several programs share.

use crate::support::loaded;
use kcl_eval::{Earlier, Evaluated, Library, Options, Request, Tracking, evaluate};
use kcl_value::output::{OutputOptions, to_yaml};

/// A package whose evaluation takes some steps, and one that only names things.
const PACKAGES: &str = "
#- kcl.mod
#- pkg/p.k
schema Base:
    a: int = 1
schema Derived(Base):
    b: int = 2
table = [x * x for x in range(100)]
_private = 3
add = lambda x: int, y: int -> int { x + y + _private }
if table[3] > 5:
    size = 5
else:
    size = 6
";

/// Evaluates a program, with what earlier ones left in `library` if there is one.
fn evaluated(main: &str, packages: &str, library: Option<&mut Library>) -> Evaluated {
    let loaded = loaded(&format!("{main}{packages}"));
    let earlier = library.map_or(Earlier::Nothing, Earlier::Library);
    let evaluated = evaluate(&loaded.program, &loaded.system, &Request::default(), earlier);
    evaluated.expect("the program is valid")
}

fn shown(evaluated: &Evaluated) -> String {
    to_yaml(&evaluated.value, OutputOptions::default())
}

/// Runs programs one after the other with one library and compares each with itself alone.
/// Returns whether each took fewer steps than alone.
fn shared(mains: &[&str], packages: &str) -> Vec<bool> {
    let mut library = Library::default();
    let mut is_quicker = Vec::new();
    for main in mains {
        let alone = evaluated(main, packages, None);
        let shared = evaluated(main, packages, Some(&mut library));
        assert_eq!(shown(&shared), shown(&alone), "{main}");
        assert_eq!(shared.printed, alone.printed, "{main}");
        assert_eq!(shared.warnings.len(), alone.warnings.len(), "{main}");
        is_quicker.push(shared.usage.steps < alone.usage.steps);
    }
    is_quicker
}

#[test]
fn packages_are_evaluated_once() {
    let mains = [
        "import pkg\na = pkg.table[2]\n",
        "import pkg\n# Another size.\na = pkg.table[3]\nb = [x + 1 for x in pkg.table[:3]]\n",
        "import pkg\nc = pkg.add(1, 2)\n",
    ];
    assert_eq!(shared(&mains, PACKAGES), [false, true, true]);
}

#[test]
fn schemas_of_a_program_are_its_own() {
    let mains = [
        "import pkg\nschema S:\n    a: int = 1\ns = S {}\nt = pkg.table[1]\n",
        "import pkg\nschema S(pkg.Derived):\n    c: int = 9\ns = S {a = 3}\nt = pkg.table[1]\n",
        "import pkg\nd = pkg.Derived {b = 4}\nt = pkg.table[1]\ne: pkg.Base = d\n",
        "import pkg\nschema T:\n    d: pkg.Base = pkg.Derived {}\nt = T {}\nu = pkg.size\n",
        "import pkg\nschema S:\n    z: int = 7\ns = S {}\nd = pkg.Derived {}\n",
    ];
    assert_eq!(shared(&mains, PACKAGES), [false, true, true, true, true]);
}

#[test]
fn what_a_package_does_outside_is_done_again() {
    let main = "import pkg\na = pkg.a\n";
    let asks = [
        "print('loaded')\na = 1\n",
        "import file\na = file.exists('x')\n",
        "import datetime\na = datetime.now('%Y')\n",
        "import file\na = file.workdir()\n",
        "schema S:\n    @deprecated(strict=False)\n    n: int = 1\na = S {n = 2}\n",
        "schema S:\n    n: int = 1\n_s = S {n = 2}\na = len(S.instances())\n",
        "import manifests\na = 1\nmanifests.yaml_stream([{a = 1}])\n",
    ];
    for package in asks {
        let packages = format!("#- kcl.mod\n#- pkg/p.k\n_t = [x for x in range(50)]\n{package}");
        assert_eq!(shared(&[main, main], &packages), [false, false], "{package}");
    }
    let pure = "#- kcl.mod\n#- pkg/p.k\n_t = [x for x in range(50)]\na = 1\n";
    assert_eq!(shared(&[main, main], pure), [false, true]);
}

#[test]
fn what_the_program_itself_does_outside_is_no_matter_of_the_packages() {
    let main = "import pkg\nimport file\nprint('main')\na = pkg.size\nb = file.exists('x')\n";
    assert_eq!(shared(&[main, main], PACKAGES), [false, true]);
}

#[test]
fn a_program_that_fails_leaves_nothing() {
    let mut library = Library::default();
    evaluated("import pkg\na = pkg.size\n", PACKAGES, Some(&mut library));
    let failing = loaded(&format!("import pkg\na = pkg.size\nassert False\n{PACKAGES}"));
    let request = Request::default();
    let earlier = Earlier::Library(&mut library);
    assert!(evaluate(&failing.program, &failing.system, &request, earlier).is_err());
    let main = "import pkg\na = pkg.size\n";
    let alone = evaluated(main, PACKAGES, None);
    let shared = evaluated(main, PACKAGES, Some(&mut library));
    assert_eq!(shared.usage.steps, alone.usage.steps);
}

#[test]
fn contests_are_those_of_one_evaluation() {
    let options = Options { tracking: Tracking::Contests, ..Options::default() };
    let request = Request { options, ..Request::default() };
    let mut library = Library::default();
    let loaded = loaded(&format!("import pkg\na = pkg.size\n{PACKAGES}"));
    let mut steps = || {
        let earlier = Earlier::Library(&mut library);
        let evaluated = evaluate(&loaded.program, &loaded.system, &request, earlier);
        evaluated.expect("the program is valid").usage.steps
    };
    assert_eq!(steps(), steps());
}
