//! `JUnit` XML, which CI systems read: a test suite for each stack, a test for each policy.

use super::Located;
use crate::policy::Policy;
use std::fmt::Write as _;

/// Writes findings as test suites. `policies` are those that were evaluated on all stacks.
pub fn junit(policies: &[Policy], stacks: &[&str], findings: &[Located<'_>]) -> String {
    let mut suites = String::new();
    let (mut n_tests, mut n_failed) = (0, 0);
    for stack in stacks {
        let of_stack: Vec<&Located<'_>> = findings.iter().filter(|it| it.stack == *stack).collect();
        let mut cases = String::new();
        let mut failed = 0;
        for policy in policies {
            let own: Vec<&&Located<'_>> =
                of_stack.iter().filter(|it| it.finding.policy == policy.name).collect();
            failed += usize::from(add_case(&mut cases, policy, &own));
        }
        let (name, count) = (escaped(stack), policies.len());
        // Writing to a string does not fail.
        let _ = writeln!(
            suites,
            "  <testsuite name=\"{name}\" tests=\"{count}\" failures=\"{failed}\">\n{cases}  \
             </testsuite>"
        );
        n_tests += count;
        n_failed += failed;
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"{n_tests}\" \
         failures=\"{n_failed}\">\n{suites}</testsuites>\n"
    )
}

/// Adds the test of a policy. Returns whether it failed.
fn add_case(cases: &mut String, policy: &Policy, findings: &[&&Located<'_>]) -> bool {
    let (name, title) = (escaped(&policy.name), escaped(policy.title()));
    let lines = |blocks: bool| {
        let own = findings.iter().filter(|it| it.finding.blocks(&[]) == blocks);
        own.map(|it| escaped(&it.finding.text())).collect::<Vec<_>>().join("\n")
    };
    let (failures, notes) = (lines(true), lines(false));
    let _ = write!(cases, "    <testcase classname=\"{name}\" name=\"{title}\"");
    if failures.is_empty() && notes.is_empty() {
        cases.push_str("/>\n");
        return false;
    }
    cases.push_str(">\n");
    if !failures.is_empty() {
        let level = policy.level();
        let _ = writeln!(
            cases,
            "      <failure message=\"{title}\" type=\"{level}\">{failures}</failure>"
        );
    }
    if !notes.is_empty() {
        let _ = writeln!(cases, "      <system-out>{notes}</system-out>");
    }
    cases.push_str("    </testcase>\n");
    !failures.is_empty()
}

/// Escapes a text for XML. Control characters, which XML cannot have, are left out.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(char),
            '\u{fffe}' | '\u{ffff}' => {}
            _ if char.is_control() => {}
            _ => escaped.push(char),
        }
    }
    escaped
}
