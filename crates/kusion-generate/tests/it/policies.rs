//! Policies in KCL: where they are found, what they see, and how they end.

use crate::support::{compile_all, files};
use base_system::MemorySystem;
use kusion_generate::{RepositoryPolicies, check_subject, fix_spec, run_tests};
use kusion_policy::Moment;
use std::path::Path;

const NOW: Moment = Moment { millis: 1_796_083_509_000 };

const REPOSITORY: &str = "\
#- /r/kcl.mod
[package]
name = \"r\"
#- /r/shop/project.yaml
name: shop
#- /r/shop/dev/stack.yaml
name: dev
#- /r/shop/dev/main.k
web = {apiVersion = 'v1', kind = 'ConfigMap', metadata = {name = 'web', namespace = 'a'}, data = {size = '3'}}
key = {apiVersion = 'v1', kind = 'Secret', metadata = {name = 'key', namespace = 'a'}, stringData = {password = 'hidden'}}
";

fn repository(policies: &str) -> MemorySystem {
    files(&format!("{REPOSITORY}#- /r/policies/main.k\n{policies}"))
}

/// Evaluates policies and returns their findings, with the line that set the value.
fn found(system: &MemorySystem) -> Result<Vec<String>, String> {
    let compiled = compile_all(system, "/r/shop/dev")?.remove(0);
    let policies =
        RepositoryPolicies::of_stack(system, &compiled.stack).map_err(|error| error.to_string())?;
    let subject = check_subject(&compiled, Vec::new(), "ann", NOW);
    let found = policies.check(system, &[subject]).map_err(|error| error.to_string())?.remove(0);
    let line = |it: kusion_policy::Found| {
        let finding = it.finding;
        let id = finding.resource.expect("a resource");
        let origin = compiled.origins.find(&id, &finding.path);
        let place = origin.map_or(String::new(), |it| format!(" ({it})"));
        format!("{} {}: {id}: {}{place}", finding.level, finding.policy, finding.message)
    };
    Ok(found.into_iter().map(line).collect())
}

#[test]
fn rules_see_the_input_and_findings_know_the_line_of_the_value() {
    let system = repository(
        "small = {level = 'warn', kinds = ['ConfigMap'], find = lambda it {\n    \
         [{message = '${it.actor} ${it.now.date} ${it.stack.project} ${it.resource.data.size}', \
         path = 'data.size'}]\n}}\n",
    );
    let expected = ["warn small: v1:ConfigMap:a:web: ann 2026-12-01 shop 3 (main.k:1)"];
    assert_eq!(found(&system).expect("findings"), expected);
}

#[test]
fn rules_never_see_secrets() {
    let system = repository(
        "secrets = {kinds = ['Secret'], find = lambda it { [str(it.resource.stringData)] }}\n",
    );
    let found = found(&system).expect("findings");
    assert_eq!(found, ["deny secrets: v1:Secret:a:key: {'password': '(secret)'} (main.k:2)"]);
}

#[test]
fn folders_above_count_up_to_the_root_of_the_repository() {
    let policy =
        |name: &str| format!("{name} = {{kinds = ['Secret'], find = lambda it {{ False }}}}\n");
    let system = repository(&policy("root"))
        .with_file("/policies/main.k", policy("outside"))
        .with_file("/r/shop/policies/main.k", policy("project"))
        .with_file("/r/shop/policies/main_test.k", "broken")
        .with_file("/r/shop/policies/pack/pack.k", "broken");
    let found = found(&system).expect("findings");
    let names: Vec<&str> = found.iter().map(|it| it.split(':').next().expect("a name")).collect();
    assert_eq!(names, ["deny root", "deny project"]);
}

#[test]
fn rules_that_loop_or_take_much_memory_end_at_their_limits() {
    let system = repository(
        "_loop = lambda n { _loop(n + 1) if n < 100000000 else n }\n\
         big = {kinds = ['Secret'], find = lambda it { ['x' * 100000000] }}\n\
         loop = {kinds = ['Secret'], find = lambda it { [str(_loop(0))] }}\n\
         steps = {kinds = ['Secret'], find = lambda it { [str(len([a for a in range(3000) for b in range(3000) if b < 0]))] }}\n",
    );
    let found = found(&system).expect("findings");
    for (line, part) in found.iter().zip(["memory", "nest too deeply", "too many steps"]) {
        assert!(line.contains("the policy failed: ") && line.contains(part), "{line}");
    }
    assert_eq!(found.len(), 3);
}

#[test]
fn invalid_policies_name_file_and_line() {
    let error = |policies: &str| found(&repository(policies)).expect_err("an error");
    let wrong = error("_a = 1\n\nsmall = {knds = [], find = lambda it { [] }}\n");
    assert!(wrong.starts_with("r/policies/main.k:3: `small`: unknown field `knds`"), "{wrong}");
    let wrong = error("small = {fnd = lambda it { [] }}\n");
    assert!(wrong.starts_with("r/policies/main.k:1: `small` is neither a policy"), "{wrong}");
    let wrong =
        error("import file\nsmall = {title = file.read('/r/kcl.mod'), find = lambda it { [] }}\n");
    assert!(wrong.contains("not allowed"), "{wrong}");
    let wrong = error("small = {find = lambda it { [] }\n");
    assert!(wrong.contains("/r/policies/main.k:1:"), "{wrong}");
}

#[test]
fn policies_of_the_level_fix_change_the_spec() {
    let system = repository(
        "team = {level = 'fix', kinds = ['ConfigMap'], find = lambda it {\n    \
         [{message = 'no team', path = 'metadata.labels.team', value = 'web'}] \
         if not it.resource.metadata.labels?.team else []\n}}\n",
    );
    let mut compiled = compile_all(&system, "/r/shop/dev").expect("a stack").remove(0);
    let policies = RepositoryPolicies::of_stack(&system, &compiled.stack).expect("policies");
    let fixed = fix_spec(&system, &policies, &mut compiled, "ann", NOW).expect("fixes");
    assert_eq!(fixed.len(), 1);
    let mut resources = compiled.spec.resources.iter();
    let config = resources.find(|it| it.attributes["kind"] == "ConfigMap").expect("a resource");
    assert_eq!(config.attributes["metadata"]["labels"]["team"], "web");
    let again = fix_spec(&system, &policies, &mut compiled, "ann", NOW).expect("fixes");
    assert_eq!(again, []);
}

#[test]
fn tests_of_policies_count_what_they_cover() {
    let system = repository(
        "small = {find = lambda it { ['${it.resource.size} is small'] if it.resource.size < 3 else [] }}\n\
         other = {find = lambda it { [] }}\n",
    )
    .with_file(
        "/r/policies/tests/small.yaml",
        "- {policy: small, name: a, input: {resource: {size: 2}}, expect: [is small]}\n\
         - {policy: small, name: b, input: {resource: {size: 3}}, expect: pass}\n\
         - {policy: small, name: c, input: {resource: {size: 3}}, expect: fail}\n\
         - {policy: missing, input: {}, expect: pass}\n",
    );
    let folder =
        kusion_generate::PolicyFolder::open(&system, Path::new("/r/policies"), Path::new("/r"))
            .expect("a folder")
            .expect("policies");
    let report = run_tests(&system, &folder, Path::new("/r")).expect("a report");
    let problems: Vec<Option<&str>> = report.cases.iter().map(|it| it.problem.as_deref()).collect();
    let expected = [
        None,
        None,
        Some("expected a finding, but there is none"),
        Some("there is no policy `missing`"),
    ];
    assert_eq!(problems, expected);
    let covered: Vec<(usize, usize)> =
        report.coverage.iter().map(|it| (it.passes, it.finds)).collect();
    assert_eq!(covered, [(0, 0), (1, 1)]);
}

const ADMISSION: &str = "\
#- /r/policies/replicas.yaml
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: sizes}
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints:
    resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  matchConditions: [{name: has-size, expression: has(object.data) && 'size' in object.data}]
  validations:
  - expression: int(object.data.size) <= int(params.data.max)
    messageExpression: \"'size ' + object.data.size + ' is above ' + params.data.max\"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: sizes}
spec: {policyName: sizes, validationActions: [ACTION], paramRef: {name: limits, parameterNotFoundAction: Deny}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: limits}
data: {max: 'MAX'}
";

fn admission(action: &str, max: &str) -> MemorySystem {
    let text = ADMISSION.replace("ACTION", action).replace("MAX", max);
    files(&format!("{REPOSITORY}{text}"))
}

#[test]
fn admission_policies_are_evaluated_with_parameters_and_conditions() {
    let found_with = |action, max| found(&admission(action, max)).expect("findings");
    let line = "deny sizes: v1:ConfigMap:a:web: size 3 is above 2 (main.k:1)";
    assert_eq!(found_with("Deny", "2"), [line]);
    assert_eq!(found_with("Warn", "2"), [line.replace("deny", "warn")]);
    assert_eq!(found_with("Audit", "2"), [""; 0]);
    assert_eq!(found_with("Deny", "3"), [""; 0]);
    let missing =
        ADMISSION.replace("ACTION", "Deny").replace("name: limits}\ndata", "name: other}\ndata");
    let found = found(&files(&format!("{REPOSITORY}{missing}"))).expect("findings");
    assert!(found[0].contains("no params found"), "{found:?}");
}

#[test]
fn exceptions_are_for_admission_policies_too_and_authorizers_are_refused() {
    let exception =
        "exceptions = [{policy = 'sizes', owner = 'ann', reason = 'r', expires = '2027-01-01'}]\n";
    let system = admission("Deny", "2").with_file("/r/policies/main.k", exception);
    let compiled = compile_all(&system, "/r/shop/dev").expect("a stack").remove(0);
    let policies = RepositoryPolicies::of_stack(&system, &compiled.stack).expect("policies");
    let subject = check_subject(&compiled, Vec::new(), "ann", NOW);
    let found = policies.check(&system, &[subject]).expect("findings").remove(0);
    assert_eq!(found[0].finding.exception.as_ref().map(|it| it.owner.as_str()), Some("ann"));
    let asks =
        ADMISSION.replace("has(object.data)", "authorizer.path('/x').check('get').allowed()");
    let error = self::found(&files(&format!("{REPOSITORY}{asks}"))).expect_err("an error");
    assert!(
        error.starts_with("r/policies/replicas.yaml:8: the policy `sizes` uses `authorizer`"),
        "{error}"
    );
}
