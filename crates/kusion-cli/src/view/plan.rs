//! Plans as text and as JSON.

use super::style::{Role, Style, one_line, pad};
use super::words::{self, of_action};
use kusion_model::markers::{secret_hash, shown_secret};
use kusion_model::{Action, FieldChange, Operation, Plan, Shown, StackKey, Step};
use kusion_plan::Refusal;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The longest value that is shown whole, in characters.
const LONG: usize = 120;
/// A note on so many resources is shown once for all of them.
const OFTEN: usize = 3;

/// Writes what a plan does: one line for each resource that changes, its fields below.
pub(crate) fn text(plan: &Plan, style: Style) -> String {
    let mut text = String::new();
    let shown: Vec<&Step> = plan.steps.iter().filter(|it| it.action != Action::Keep).collect();
    let notes = note_counts(&shown);
    let width = shown.iter().map(|it| of_action(it.action).verb.len()).max().unwrap_or(0);
    for step in shown {
        let words = of_action(step.action);
        let reason = words::of_reason(&step.reason);
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
        for note in step.notes.iter().filter(|it| notes[it.as_str()] < OFTEN) {
            let note = format!("note: {}", one_line(note));
            let _ = writeln!(text, "      {}", style.paint(Role::Muted, &note));
        }
    }
    for (note, count) in notes.into_iter().filter(|(_, count)| *count >= OFTEN) {
        let note = format!("note on {}: {}", words::count(count, "resource"), one_line(note));
        let _ = writeln!(text, "  {}", style.paint(Role::Muted, &note));
    }
    text.push_str(&summary(plan));
    text.push('\n');
    text
}

/// Counts how often each note is made.
fn note_counts<'a>(steps: &[&'a Step]) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    for note in steps.iter().flat_map(|it| &it.notes) {
        *counts.entry(note.as_str()).or_default() += 1;
    }
    counts
}

/// Says in one line how much a plan does: `2 to create, 1 to change; 12 unchanged`.
pub(crate) fn summary(plan: &Plan) -> String {
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
        .map(|action| (plan.count(action), of_action(action).verb))
        .filter(|(count, _)| *count > 0)
        .map(|(count, verb)| format!("{count} to {verb}"))
        .collect();
    let kept = plan.count(Action::Keep);
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

/// Writes a value as people may see it.
fn shown(value: &Shown) -> String {
    match value {
        Shown::Secret { .. } => "(secret)".to_owned(),
        Shown::Later(reference) => format!("(known later: {})", one_line(reference)),
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

/// A plan for programs: the same for the same inputs, without secrets. Written step by step, so
/// that a large plan is not held twice.
#[derive(Serialize)]
#[serde(tag = "event", rename = "plan")]
pub(crate) struct PlanEvent<'a> {
    counts: Map<String, Value>,
    plan: ShownPlan<'a>,
    refusals: Vec<String>,
}

impl<'a> PlanEvent<'a> {
    /// Makes the event of a plan and of what guards forbid of it.
    pub(crate) fn new(plan: &'a Plan, refusals: &[Refusal]) -> Self {
        let counts = [
            ("create", Action::Create),
            ("adopt", Action::Adopt),
            ("update", Action::Update),
            ("replace", Action::Replace),
            ("delete", Action::Delete),
            ("forget", Action::Forget),
            ("keep", Action::Keep),
        ];
        let counts = counts.map(|(name, action)| (name.to_owned(), plan.count(action).into()));
        Self {
            counts: counts.into_iter().collect(),
            plan: ShownPlan {
                version: plan.version,
                key: &plan.key,
                operation: plan.operation,
                state_seq: plan.state_seq,
                spec_digest: &plan.spec_digest,
                steps: ShownSteps(&plan.steps),
            },
            refusals: refusals.iter().map(ToString::to_string).collect(),
        }
    }
}

/// A [`Plan`] without secrets.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownPlan<'a> {
    version: u32,
    key: &'a StackKey,
    operation: Operation,
    state_seq: u64,
    spec_digest: &'a str,
    steps: ShownSteps<'a>,
}

struct ShownSteps<'a>(&'a [Step]);

impl Serialize for ShownSteps<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|step| {
            let mut value = json!(step);
            hide(&mut value, &|hash| shown_secret(hash.clone()));
            value
        }))
    }
}

/// Puts something else in the place of sealed values and hashes of secrets.
pub(crate) fn hide(value: &mut Value, instead: &dyn Fn(&Value) -> Value) {
    if let Some(hash) = secret_hash(value) {
        *value = instead(hash);
        return;
    }
    match value {
        Value::Object(map) => map.values_mut().for_each(|inner| hide(inner, instead)),
        Value::Array(items) => items.iter_mut().for_each(|inner| hide(inner, instead)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kusion_model::{FieldPath, Operation, Origin, Reason, ResourceId, ResourceType, StackKey};

    fn step(id: &str, action: Action, reason: Reason, changes: Vec<FieldChange>) -> Step {
        let kubernetes = ResourceType::kubernetes();
        Step { changes, ..Step::new(ResourceId::new(id), kubernetes, action, reason) }
    }

    fn change(path: &str, before: Option<Shown>, after: Option<Shown>) -> FieldChange {
        let origin = Origin { file: "main.k".into(), line: 4, column: 1 };
        FieldChange { path: FieldPath::default().key(path), before, after, origin: Some(origin) }
    }

    fn plan(steps: Vec<Step>) -> Plan {
        let key = StackKey {
            project: "p".into(),
            stack: "s".into(),
            cell: String::new(),
            cluster: "c".into(),
        };
        Plan::new(key, Operation::Apply, steps)
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
        let mut gone = step("c", Action::Delete, Reason::Unwanted, Vec::new());
        gone.notes.push("its\nnote".into());
        let plan = plan(vec![
            step("a", Action::Create, Reason::Vanished, Vec::new()),
            step("b", Action::Update, Reason::Differs, changes),
            gone,
            step("d", Action::Keep, Reason::Same, Vec::new()),
        ]);
        let expected = r#"  + create  a  (it was there and is gone)
  ~ change  b
      replicas: 1 → 2  main.k:4
      token: (secret, changed)  main.k:4
      old: "x" → (none)  main.k:4
      new: {"k":"(secret)"}  main.k:4
      later: (known later: $kusion_path.a)  main.k:4
  - delete  c  (the stack no longer wants it)
      note: its note
1 to create, 1 to change, 1 to delete; 1 unchanged
"#;
        assert_eq!(text(&plan, Style::default()), expected);
    }

    #[test]
    fn a_note_on_many_resources_is_shown_once() {
        let steps = ["a", "b", "c"].map(|id| {
            let mut step = step(id, Action::Create, Reason::New, Vec::new());
            step.notes.push("checked later".into());
            step
        });
        let text = text(&plan(steps.to_vec()), Style::default());
        assert!(text.ends_with("c\n  note on 3 resources: checked later\n3 to create\n"), "{text}");
        assert_eq!(text.matches("checked").count(), 1);
    }

    #[test]
    fn a_plan_without_changes_is_one_line() {
        let keep = step("d", Action::Keep, Reason::Same, Vec::new());
        assert_eq!(text(&plan(vec![keep]), Style::default()), "no changes; 1 unchanged\n");
        assert_eq!(summary(&plan(Vec::new())), "nothing to do");
    }

    #[test]
    fn sealed_values_are_not_in_the_json() {
        let mut value = json!({"a": [{"$sealed": {"hash": "h", "data": "bytes"}}]});
        hide(&mut value, &|hash| json!({"$secret": hash}));
        assert_eq!(value, json!({"a": [{"$secret": "h"}]}));
    }
}
