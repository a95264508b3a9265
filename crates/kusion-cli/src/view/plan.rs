//! Plans as text.

use super::style::{Role, Style, one_line, pad};
use super::words::{self, of_action};
use kusion_app::secrets::hide;
use kusion_model::{Action, FieldChange, Note, Plan, Shown, Step};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Maximum length of a value that is shown completely, in characters.
const LONG: usize = 120;
/// A note on at least this many resources is shown once for all of them.
const OFTEN: usize = 3;

/// Formats a plan: one line for each changed resource, followed by its fields.
pub(crate) fn text(plan: &Plan, style: Style) -> String {
    let mut text = String::new();
    let shown: Vec<&Step> = plan.steps.iter().filter(|it| it.action != Action::Keep).collect();
    let notes = note_counts(&shown);
    let width = shown.iter().map(|it| of_action(it.action).verb.len()).max().unwrap_or(0);
    for step in shown {
        let words = of_action(step.action);
        let reason = words::of_reason(&step.reason, plan.options.relocate);
        let reason = if reason.is_empty() { reason } else { format!("  ({reason})") };
        let _ = writeln!(
            text,
            "  {}  {}{}",
            style.paint(words.role, &format!("{} {}", words.sign, pad(words.verb, width))),
            one_line(step.id.as_str()),
            style.paint(Role::Muted, &reason),
        );
        for change in &step.changes {
            let _ = writeln!(text, "      {}", field(change, style));
        }
        for note in step.notes.iter().filter(|it| notes[*it] < OFTEN) {
            let note = format!("note: {}", one_line(&words::of_note(note)));
            let _ = writeln!(text, "      {}", style.paint(Role::Muted, &note));
        }
    }
    for (note, count) in notes.into_iter().filter(|(_, count)| *count >= OFTEN) {
        let note = one_line(&words::of_note(note));
        let note = format!("note on {}: {note}", words::count(count, "resource"));
        let _ = writeln!(text, "  {}", style.paint(Role::Muted, &note));
    }
    text.push_str(&summary(plan));
    text.push('\n');
    text
}

/// Counts how often each note is made.
fn note_counts<'a>(steps: &[&'a Step]) -> BTreeMap<&'a Note, usize> {
    let mut counts = BTreeMap::new();
    for note in steps.iter().flat_map(|it| &it.notes) {
        *counts.entry(note).or_default() += 1;
    }
    counts
}

/// Summarizes a plan in one line: `2 to create, 1 to update; 12 unchanged`.
pub(crate) fn summary(plan: &Plan) -> String {
    summary_of(&|action| plan.count(action))
}

/// Summarizes the plans of several stacks in one line.
pub(crate) fn summary_of_all(plans: &[&Plan]) -> String {
    let counts = summary_of(&|action| plans.iter().map(|plan| plan.count(action)).sum());
    format!("{}: {counts}\n", words::count(plans.len(), "stack"))
}

fn summary_of(count: &dyn Fn(Action) -> usize) -> String {
    let actions = [
        Action::Create,
        Action::Adopt,
        Action::Update,
        Action::Replace,
        Action::Delete,
        Action::Forget,
    ];
    let parts: Vec<String> = actions
        .into_iter()
        .map(|action| (count(action), of_action(action).verb))
        .filter(|(count, _)| *count > 0)
        .map(|(count, verb)| format!("{count} to {verb}"))
        .collect();
    let kept = count(Action::Keep);
    match (parts.is_empty(), kept) {
        (true, 0) => "nothing to do".to_owned(),
        (true, kept) => format!("no changes; {kept} unchanged"),
        (false, 0) => parts.join(", "),
        (false, kept) => format!("{}; {kept} unchanged", parts.join(", ")),
    }
}

fn field(change: &FieldChange, style: Style) -> String {
    let is_secret = |it: &Option<Shown>| matches!(it, Some(Shown::Secret { .. }));
    let value = match (&change.before, &change.after) {
        (before, after) if is_secret(before) && is_secret(after) => {
            let word = if before == after { "(secret)" } else { "(secret, changed)" };
            word.to_owned()
        }
        (None, Some(after)) => style.paint(Role::Good, &shown(after)),
        (Some(before), None) => {
            format!("{} → {}", shown(before), style.paint(Role::Bad, "(none)"))
        }
        (Some(before), Some(after)) => {
            format!("{} → {}", shown(before), style.paint(Role::Changed, &shown(after)))
        }
        (None, None) => String::new(),
    };
    let origin = change.origin.as_ref().map(|it| format!("  {}", one_line(&it.to_string())));
    let origin = style.paint(Role::Muted, &origin.unwrap_or_default());
    format!("{}: {value}{origin}", one_line(&change.path.to_string()))
}

/// Formats a value for display.
fn shown(value: &Shown) -> String {
    match value {
        Shown::Secret { .. } => "(secret)".to_owned(),
        Shown::Later(reference) => format!("(known after apply: {})", one_line(reference)),
        Shown::Plain(value) => {
            let mut value = value.clone();
            hide(&mut value, &|_| Value::from("(secret)"));
            shortened(&one_line(&value.to_string()))
        }
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONG) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kusion_model::{
        FieldPath, Operation, Origin, Place, Reason, ResourceId, ResourceType, StackKey,
    };
    use serde_json::json;

    fn step(id: &str, action: Action, reason: Reason, changes: Vec<FieldChange>) -> Step {
        let resource_type = ResourceType::new("Test");
        Step { changes, ..Step::new(ResourceId::new(id), resource_type, action, reason) }
    }

    fn change(path: &str, before: Option<Shown>, after: Option<Shown>) -> FieldChange {
        let origin = Origin { file: "main.k".into(), line: 4, column: 1 };
        FieldChange { path: FieldPath::default().key(path), before, after, origin: Some(origin) }
    }

    fn plan(steps: Vec<Step>) -> Plan {
        Plan::new(StackKey::new("p", "s", Place::Main), Operation::Apply, steps)
    }

    fn secret(hash: &str) -> Shown {
        Shown::Secret { hash: hash.into() }
    }

    #[test]
    fn a_plan_says_what_changes_and_who_set_it() {
        let plain = |value: Value| Some(Shown::Plain(value));
        let changes = vec![
            change("replicas", plain(json!(1)), plain(json!(2))),
            change("token", Some(secret("a")), Some(secret("b"))),
            change("old", plain(json!("x")), None),
            change("new", None, plain(json!({"k": {"$secret": "h"}}))),
            change("later", None, Some(Shown::Later("$kusion_path.a".into()))),
        ];
        let mut gone = step("c", Action::Delete, Reason::Removed, Vec::new());
        gone.notes.push(Note::Warning { message: "its\nnote".into() });
        let plan = plan(vec![
            step("a", Action::Create, Reason::Missing, Vec::new()),
            step("b", Action::Update, Reason::Differs, changes),
            gone,
            step("d", Action::Keep, Reason::Same, Vec::new()),
        ]);
        let expected = r#"  + create  a  (deleted outside this stack)
  ~ update  b
      replicas: 1 → 2  main.k:4
      token: (secret, changed)  main.k:4
      old: "x" → (none)  main.k:4
      new: {"k":"(secret)"}  main.k:4
      later: (known after apply: $kusion_path.a)  main.k:4
  - delete  c  (no longer in the stack)
      note: warning: its note
1 to create, 1 to update, 1 to delete; 1 unchanged
"#;
        assert_eq!(text(&plan, Style::default()), expected);
    }

    #[test]
    fn a_note_on_many_resources_is_shown_once() {
        let steps = ["a", "b", "c"].map(|id| {
            let mut step = step(id, Action::Create, Reason::New, Vec::new());
            step.notes.push(Note::Warning { message: "checked later".into() });
            step
        });
        let text = text(&plan(steps.to_vec()), Style::default());
        assert!(
            text.ends_with("c\n  note on 3 resources: warning: checked later\n3 to create\n"),
            "{text}"
        );
        assert_eq!(text.matches("checked").count(), 1);
    }

    #[test]
    fn a_plan_without_changes_is_one_line() {
        let keep = step("d", Action::Keep, Reason::Same, Vec::new());
        assert_eq!(text(&plan(vec![keep]), Style::default()), "no changes; 1 unchanged\n");
        assert_eq!(summary(&plan(Vec::new())), "nothing to do");
    }
}
