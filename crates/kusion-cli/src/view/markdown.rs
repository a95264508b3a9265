//! Plans as Markdown, for comments on pull requests.
//!
//! Names and values come from a cluster or a repository, so nothing of them is Markdown or HTML:
//! names are escaped `<code>` elements, and values are in code blocks whose fence is longer than
//! every fence inside.

use super::plan::{PlanFormat, shown_steps, summary};
use super::style::{one_line, printable};
use super::unified;
use super::words::{self, count, of_action};
use kusion_model::{Plan, Step};
use kusion_plan::Refusal;
use std::fmt::Write as _;

/// Maximum size of the output of a command, in bytes: hosts of pull requests cut longer comments.
pub(crate) const MAX_SIZE: usize = 60_000;

/// Formats a plan; `room` is the number of bytes that are left, and is reduced.
pub(crate) fn text(
    title: &str,
    plan: &Plan,
    refusals: &[Refusal],
    format: PlanFormat<'_>,
    room: &mut usize,
) -> String {
    let mut text = format!("### {}\n\n**{}**\n\n", escaped(title), summary(plan));
    for refusal in refusals {
        let head = if words::is_approval(refusal) { "needs approval:" } else { "rejected:" };
        let _ = writeln!(text, "- **{head}** {}", escaped(&words::of_refusal(refusal)));
    }
    let notes = words::notes_of_policies(plan);
    for finding in &notes {
        let (level, note) = (words::of_level(finding), words::of_finding(finding));
        let _ = writeln!(text, "- **{level}** {}", escaped(&note));
    }
    if !refusals.is_empty() || !notes.is_empty() {
        text.push('\n');
    }
    let steps = shown_steps(plan);
    // The end of the text needs some room, too.
    let mut left = room.saturating_sub(text.len() + 500);
    let mut n_rows = 0;
    for (wave, step) in &steps {
        let row = row(plan, *wave, step);
        let head = if n_rows == 0 { HEAD } else { "" };
        if row.len() + head.len() > left {
            break;
        }
        left -= row.len() + head.len();
        text.push_str(head);
        text.push_str(&row);
        n_rows += 1;
    }
    if n_rows > 0 {
        text.push('\n');
    }
    let mut n_details = 0;
    for (_, step) in &steps[..n_rows] {
        let details = details(step, format);
        if details.len() <= left {
            left -= details.len();
            text.push_str(&details);
        } else {
            n_details += 1;
        }
    }
    let hidden = [
        (steps.len() - n_rows, "resource is", "resources are"),
        (n_details, "diff is", "diffs are"),
    ];
    for (n, one, many) in hidden.into_iter().filter(|it| it.0 > 0) {
        let words = if n == 1 { one } else { many };
        let _ = writeln!(text, "_{n} {words} not shown: the comment would be too long._\n");
    }
    *room = room.saturating_sub(text.len());
    text
}

/// Formats the summary of several stacks.
pub(crate) fn summary_of_all(summary: &str) -> String {
    format!("**{}**\n", summary.trim_end())
}

/// Formats the error of a command.
pub(crate) fn error(text: &str) -> String {
    let text = printable(text);
    let fence = fence(&text);
    format!("**error:**\n\n{fence}text\n{}\n{fence}\n", text.trim_end())
}

const HEAD: &str = "| order | action | resource | reason |\n|---|---|---|---|\n";

fn row(plan: &Plan, wave: usize, step: &Step) -> String {
    let words = of_action(step.action);
    let wave = if wave == 0 { String::new() } else { wave.to_string() };
    let mut reasons = vec![words::of_reason(step, plan.options.relocate)];
    reasons.extend(step.terminating.as_ref().map(|it| format!("it is being deleted: {it}")));
    reasons.push(step.interruption.clone());
    let n_conflicts = step.conflicts.iter().map(|it| it.fields.len()).sum();
    if n_conflicts > 0 {
        reasons.push(count(n_conflicts, "conflict"));
    }
    if !step.problems.is_empty() {
        reasons.push("rejected".into());
    }
    reasons.extend(step.notes.iter().map(words::of_note));
    reasons.retain(|it| !it.is_empty());
    let reasons: Vec<String> = reasons.iter().map(|it| escaped(it)).collect();
    let id = escaped(step.id.as_str());
    format!("| {wave} | {} | <code>{id}</code> | {} |\n", words.verb, reasons.join("; "))
}

/// Formats the differences of a step, folded; empty if there are none.
fn details(step: &Step, format: PlanFormat<'_>) -> String {
    let has_content = !step.changes.is_empty() || step.desired.is_some();
    if !has_content || !step.action.is_change() {
        return String::new();
    }
    let diff = unified::text(step, format);
    let fence = fence(&diff);
    let (verb, id) = (of_action(step.action).verb, escaped(step.id.as_str()));
    format!(
        "<details><summary>{verb} <code>{id}</code></summary>\n\n{fence}diff\n{diff}{fence}\n\n\
         </details>\n\n"
    )
}

/// Returns the fence of a code block that no line of a text can end.
fn fence(text: &str) -> String {
    let longest = text.split(|it| it != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

/// Escapes a text: every character that Markdown or HTML could interpret becomes an entity.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in one_line(text).chars() {
        match char {
            'a'..='z' | 'A'..='Z' | '0'..='9' | ' ' | ',' | ';' | '/' | '.' | '-' | '=' | ':' => {
                out.push(char);
            }
            _ if char.is_ascii() => {
                let _ = write!(out, "&#{};", u32::from(char));
            }
            _ => out.push(char),
        }
    }
    // Words that look like an address become links, also outside of Markdown.
    out.replace("www.", "www&#46;").replace("://", "&#58;//")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::DiffForm;
    use crate::view::style::Style;
    use kusion_model::{
        Action, FieldChange, FieldPath, Operation, Origins, Place, Reason, ResourceId,
        ResourceType, Shown, StackKey,
    };
    use serde_json::{Value, json};

    fn markdown(steps: Vec<Step>, room: &mut usize) -> String {
        let plan = Plan::new(StackKey::new("p", "s", Place::Main), Operation::Apply, steps);
        let origins = Origins::default();
        let (form, style) = (DiffForm::Fields, Style::default());
        let format = PlanFormat { form, style, columns: None, origins: &origins };
        text("p/s", &plan, &[], format, room)
    }

    fn update(id: &str, before: Value, after: Value) -> Step {
        let id = ResourceId::new(id);
        let resource_type = ResourceType::new("Test");
        let mut step = Step::new(id, resource_type, Action::Update, Reason::Differs);
        step.changes = vec![FieldChange {
            path: FieldPath::default().key("a"),
            before: Some(Shown::Plain(before)),
            after: Some(Shown::Plain(after)),
            ..FieldChange::default()
        }];
        step
    }

    #[test]
    fn a_plan_is_a_table_with_folded_diffs() {
        let expected = "\
### p/s

**1 to update**

| order | action | resource | reason |
|---|---|---|---|
| 1 | update | <code>v1:Pod:b</code> |  |

<details><summary>update <code>v1:Pod:b</code></summary>

```diff
--- v1:Pod:b
+++ v1:Pod:b
@@ update @@
@@ a @@
-1
+2
```

</details>

";
        let found = markdown(vec![update("v1:Pod:b", json!(1), json!(2))], &mut MAX_SIZE.clone());
        assert_eq!(found, expected);
    }

    #[test]
    fn names_and_values_are_never_markup() {
        let hostile = "x`|</code><img src=x onerror=alert(1)>\n# @all [a](http://b) <!-- www.a.b";
        let value = "```\n</details><script>\n````\n~~~\n@everyone";
        let found =
            markdown(vec![update(hostile, json!("a\nb"), json!(value))], &mut MAX_SIZE.clone());
        let fence = "`````";
        let (outside, rest) = found.split_once(&format!("{fence}diff\n")).expect("a fence");
        let (inside, end) = rest.split_once(&format!("\n{fence}\n")).expect("its end");
        assert!(inside.contains("</details><script>"), "{inside}");
        assert!(!inside.contains(fence));
        for markup in ["<img", "<script", "`", "[a]", "@all", "http://", "<!--", "www."] {
            assert!(!outside.contains(markup) && !end.contains(markup), "{markup}: {outside}");
        }
        // Each row of the table has four cells.
        let row = outside.lines().find(|it| it.starts_with("| 1")).expect("a row");
        assert_eq!(row.matches('|').count(), 5, "{row}");
    }

    #[test]
    fn secrets_are_not_shown() {
        let mut step = update("a", json!({"$secret": "h1"}), json!("x"));
        step.changes[0].after = Some(Shown::Secret { hash: "h2".into() });
        let found = markdown(vec![step], &mut MAX_SIZE.clone());
        assert!(!found.contains("h1") && !found.contains("h2"), "{found}");
        assert!(found.contains("-(secret)\n+(secret)"), "{found}");
    }

    #[test]
    fn an_error_is_a_code_block() {
        let expected = "**error:**\n\n````text\nno ```\n<b>\n````\n";
        assert_eq!(error("no ```\n<b>\n"), expected);
    }

    #[test]
    fn long_plans_are_cut() {
        let step = |n: usize| update(&format!("r{n}"), json!("a"), json!("b".repeat(2_000)));
        let mut room = MAX_SIZE;
        let found = markdown((0..5_000).map(step).collect(), &mut room);
        assert!(found.len() <= MAX_SIZE, "{}", found.len());
        assert!(found.contains("resources are not shown"), "{found}");
        assert_eq!(room, MAX_SIZE - found.len());
        let next = markdown(vec![step(1)], &mut 100);
        assert!(next.contains("_1 resource is not shown"), "{next}");
    }
}
