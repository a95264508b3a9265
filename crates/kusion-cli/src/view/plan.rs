//! Plans as text.

use super::content::content;
use super::style::{Role, Style, one_line, pad, short_id};
use super::words::{self, of_action};
use super::{change, unified};
use crate::arguments::DiffForm;
use kusion_app::secrets::hide;
use kusion_model::{Action, Conflict, FieldChange, Note, Origins, Plan, Step};
use kusion_plan::waves;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr as _;

/// A note on at least this many resources is shown once for all of them.
const OFTEN: usize = 3;

/// How a plan is shown.
#[derive(Clone, Copy)]
pub(crate) struct PlanFormat<'a> {
    /// The form of differences.
    pub(crate) form: DiffForm,
    /// The colours.
    pub(crate) style: Style,
    /// The columns of the terminal, if there is one.
    pub(crate) columns: Option<usize>,
    /// Source locations of desired values, where they are known.
    pub(crate) origins: &'a Origins,
}

/// Formats a plan: one line for each changed resource in the order of work, followed by its fields.
pub(crate) fn text(plan: &Plan, format: PlanFormat<'_>) -> String {
    let shown = shown_steps(plan);
    let mut text = String::new();
    let notes = note_counts(&shown);
    if format.form == DiffForm::Unified {
        for (_, step) in &shown {
            text.push_str(&unified::text(step, format));
        }
    } else {
        let layout = Layout::of(&shown);
        for (wave, step) in &shown {
            add_step(&mut text, plan, *wave, step, &layout, &notes, format);
        }
    }
    for (note, count) in notes.into_iter().filter(|(_, count)| *count >= OFTEN) {
        let note = one_line(&words::of_note(note));
        let note = format!("note on {}: {note}", words::count(count, "resource"));
        let _ = writeln!(text, "  {}", format.style.paint(Role::Muted, &note));
    }
    text.push_str(&summary(plan));
    text.push('\n');
    text
}

/// Returns the steps to show with their waves, in the order of work.
pub(crate) fn shown_steps(plan: &Plan) -> Vec<(usize, &Step)> {
    let is_shown = |step: &Step| step.action != Action::Keep || step.terminating.is_some();
    let steps = waves(&plan.steps).into_iter().zip(&plan.steps);
    let mut shown: Vec<(usize, &Step)> = steps.filter(|(_, step)| is_shown(step)).collect();
    // Steps without a call come last.
    shown.sort_by_key(|(wave, _)| if *wave == 0 { usize::MAX } else { *wave });
    shown
}

/// The widths of the columns of a plan.
struct Layout {
    /// Of the number of the wave; 0 if there is only one wave.
    wave: usize,
    /// Of the action.
    verb: usize,
}

impl Layout {
    fn of(steps: &[(usize, &Step)]) -> Self {
        let n_waves = steps.iter().map(|(wave, _)| *wave).max().unwrap_or(0);
        let wave = if n_waves > 1 { n_waves.to_string().len() } else { 0 };
        let verbs = steps.iter().map(|(_, step)| of_action(step.action).verb.len());
        Self { wave, verb: verbs.max().unwrap_or(0) }
    }

    /// Returns the text before the action: the number of the wave.
    fn margin(&self, wave: usize) -> String {
        match (self.wave, wave) {
            (0, _) => "  ".to_owned(),
            (width, 0) => " ".repeat(width + 4),
            (width, wave) => format!("  {wave:>width$}  "),
        }
    }
}

fn add_step(
    text: &mut String,
    plan: &Plan,
    wave: usize,
    step: &Step,
    layout: &Layout,
    notes: &BTreeMap<&Note, usize>,
    format: PlanFormat<'_>,
) {
    let style = format.style;
    let words = of_action(step.action);
    let reason = words::of_reason(step, plan.options.relocate);
    let reason = if reason.is_empty() { reason } else { format!("  ({reason})") };
    let margin = layout.margin(wave);
    let action = format!("{} {}", words.sign, pad(words.verb, layout.verb));
    let used = margin.len() + action.width() + 2;
    let id =
        short_id(&one_line(step.id.as_str()), format.columns.map(|it| it.saturating_sub(used)));
    let origin = match (&step.origin, format.form) {
        (Some(origin), DiffForm::Full) => format!("  {}", one_line(&origin.to_string())),
        _ => String::new(),
    };
    let _ = writeln!(
        text,
        "{margin}{}  {id}{}",
        style.paint(words.role, &action),
        style.paint(Role::Muted, &format!("{reason}{origin}")),
    );
    let indent = format!("{}    ", " ".repeat(margin.len()));
    for line in step_lines(step, notes, format) {
        let _ = writeln!(text, "{}", format!("{indent}{line}").trim_end());
    }
}

/// Returns the lines below a step.
fn step_lines(step: &Step, notes: &BTreeMap<&Note, usize>, format: PlanFormat<'_>) -> Vec<String> {
    let style = format.style;
    let mut lines = Vec::new();
    if let Some(reason) = &step.terminating {
        let text = format!("it is being deleted: {}", one_line(reason));
        lines.push(style.paint(Role::Changed, &text));
    }
    if !step.interruption.is_empty() {
        let text = format!("meanwhile: {}", one_line(&step.interruption));
        lines.push(style.paint(Role::Replaced, &text));
    }
    let mut conflicts: Vec<(&Conflict, &str)> = Vec::new();
    for conflict in &step.conflicts {
        conflicts.extend(conflict.fields.iter().map(|it| (conflict, it.as_str())));
    }
    for change in &step.changes {
        lines.extend(change::lines(change, format.form, style));
        for conflict in step.conflicts.iter().filter(|it| is_about(it, change)) {
            let text = words::of_conflict(conflict, "this field");
            lines.push(style.paint(Role::Bad, &format!("  {text}")));
        }
    }
    // Conflicts about fields that the plan does not show.
    for (conflict, field) in conflicts {
        let place = conflict.fields.iter().position(|it| it == field);
        let path = place.and_then(|it| conflict.paths.get(it));
        let is_shown = |change: &FieldChange| path.is_some_and(|it| overlap(it, &change.path));
        if !step.changes.iter().any(is_shown) {
            lines.push(style.paint(Role::Bad, &words::of_conflict(conflict, field)));
        }
    }
    for problem in &step.problems {
        lines.push(style.paint(Role::Bad, &one_line(&format!("rejected: {problem}"))));
    }
    if let (DiffForm::Full, Action::Create, Some(desired)) =
        (format.form, step.action, &step.desired)
    {
        let mut value = desired.attributes.clone().into_value();
        hide(&mut value, &|_| Value::from("(secret)"));
        for line in content(&value, &|path| format.origins.find(&step.id, path)) {
            let origin = line.origin.map(|it| format!("  {}", one_line(&it.to_string())));
            let origin = style.paint(Role::Muted, &origin.unwrap_or_default());
            let text = style.paint(Role::Good, &format!("+ {}", line.text));
            lines.push(format!("{text}{origin}"));
        }
    }
    for note in step.notes.iter().filter(|it| notes.get(*it).is_none_or(|n| *n < OFTEN)) {
        let note = format!("note: {}", one_line(&words::of_note(note)));
        lines.push(style.paint(Role::Muted, &note));
    }
    lines
}

/// Returns whether a conflict is about a changed field.
fn is_about(conflict: &Conflict, change: &FieldChange) -> bool {
    conflict.paths.iter().any(|it| overlap(it, &change.path))
}

fn overlap(a: &kusion_model::FieldPath, b: &kusion_model::FieldPath) -> bool {
    a.is_prefix_of(b) || b.is_prefix_of(a)
}

/// Counts how often each note is made.
fn note_counts<'a>(steps: &[(usize, &'a Step)]) -> BTreeMap<&'a Note, usize> {
    let mut counts = BTreeMap::new();
    for note in steps.iter().flat_map(|(_, it)| &it.notes) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use kusion_model::{
        FieldPath, Operation, Origin, Place, Reason, ResourceId, ResourceType, Shown, StackKey,
    };
    use serde_json::json;

    fn step(id: &str, action: Action, reason: Reason, changes: Vec<FieldChange>) -> Step {
        let resource_type = ResourceType::new("Test");
        Step { changes, ..Step::new(ResourceId::new(id), resource_type, action, reason) }
    }

    fn change(path: &str, before: Option<Shown>, after: Option<Shown>) -> FieldChange {
        let origin = Origin::new("main.k", 4, 1);
        FieldChange {
            path: FieldPath::default().key(path),
            before,
            after,
            origin: Some(origin),
            ..FieldChange::default()
        }
    }

    fn plan(steps: Vec<Step>) -> Plan {
        Plan::new(StackKey::new("p", "s", Place::Main), Operation::Apply, steps)
    }

    fn shown_as(plan: &Plan, form: DiffForm, columns: Option<usize>) -> String {
        let origins = Origins::default();
        text(plan, PlanFormat { form, style: Style::default(), columns, origins: &origins })
    }

    fn shown(plan: &Plan) -> String {
        shown_as(plan, DiffForm::Fields, None)
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
        assert_eq!(shown(&plan), expected);
    }

    #[test]
    fn a_note_on_many_resources_is_shown_once() {
        let steps = ["a", "b", "c"].map(|id| {
            let mut step = step(id, Action::Create, Reason::New, Vec::new());
            step.notes.push(Note::Warning { message: "checked later".into() });
            step
        });
        let text = shown(&plan(steps.to_vec()));
        assert!(
            text.ends_with("c\n  note on 3 resources: warning: checked later\n3 to create\n"),
            "{text}"
        );
        assert_eq!(text.matches("checked").count(), 1);
    }

    #[test]
    fn a_plan_without_changes_is_one_line() {
        let keep = step("d", Action::Keep, Reason::Same, Vec::new());
        assert_eq!(shown(&plan(vec![keep])), "no changes; 1 unchanged\n");
        assert_eq!(summary(&plan(Vec::new())), "nothing to do");
    }

    #[test]
    fn the_order_of_work_is_shown() {
        let mut second = step("a", Action::Create, Reason::New, Vec::new());
        second.after.push(ResourceId::new("z"));
        let first = step("z", Action::Create, Reason::New, Vec::new());
        let forgotten = step("b", Action::Forget, Reason::Removed, Vec::new());
        let expected = "  1  + create  z
  2  + create  a
     ? forget  b  (no longer in the stack)
2 to create, 1 to forget
";
        assert_eq!(shown(&plan(vec![second, forgotten, first])), expected);
    }

    #[test]
    fn conflicts_stand_with_their_fields() {
        let plain = |value: Value| Some(Shown::Plain(value));
        let replicas = change("replicas", plain(json!(5)), plain(json!(3)));
        let mut update = step("a", Action::Update, Reason::Differs, vec![replicas]);
        update.conflicts.push(Conflict {
            paths: vec![FieldPath::default().key("replicas"), FieldPath::default().key("x")],
            time: Some("2026-01-01T00:00:00Z".into()),
            ..Conflict::new("kubectl", vec!["replicas".into(), "x".into()])
        });
        let expected = "  ~ update  a
      replicas: 5 → 3  main.k:4
        conflict: `kubectl` manages this field (changed at 2026-01-01T00:00:00Z)
      conflict: `kubectl` manages x (changed at 2026-01-01T00:00:00Z)
1 to update
";
        assert_eq!(shown(&plan(vec![update])), expected);
    }

    #[test]
    fn what_is_being_deleted_or_replaced_says_more() {
        let mut kept = step("a", Action::Keep, Reason::Same, Vec::new());
        kept.terminating = Some("waiting for the finalizers `x`".into());
        let reason = Reason::Immutable { fields: Vec::new(), message: "no".into() };
        let mut replaced = step("b", Action::Replace, reason, Vec::new());
        replaced.interruption = "its 3 pods are deleted".into();
        let expected = "  ± replace  b  (cannot be updated in place: no)
      meanwhile: its 3 pods are deleted
    keep     a
      it is being deleted: waiting for the finalizers `x`
1 to replace; 1 unchanged
";
        assert_eq!(shown(&plan(vec![kept, replaced])), expected);
    }

    #[test]
    fn a_name_stays_on_a_narrow_terminal() {
        let id = "networking.k8s.io/v1:NetworkPolicy:a-long-namespace:a-name-that-matters";
        let plan = plan(vec![step(id, Action::Create, Reason::New, Vec::new())]);
        let text = shown_as(&plan, DiffForm::Fields, Some(80));
        assert!(
            text.starts_with("  + create  NetworkPolicy:a-long-namespace:a-name-that-matters\n")
        );
        assert!(shown_as(&plan, DiffForm::Fields, Some(120)).contains(id));
    }

    #[test]
    fn created_resources_are_shown_in_full_if_requested() {
        let mut created = step("a", Action::Create, Reason::New, Vec::new());
        created.origin = Some(Origin::new("main.k", 2, 1));
        created.desired = Some(kusion_model::Resource {
            id: ResourceId::new("a"),
            resource_type: ResourceType::new("Test"),
            attributes: json!({"n": 1, "token": {"$sealed": {"hash": "h", "data": "d"}}}).into(),
            depends_on: Vec::new(),
            extensions: serde_json::Map::new(),
        });
        let plan = plan(vec![created]);
        let expected =
            "  + create  a  main.k:2\n      + n: 1\n      + token: (secret)\n1 to create\n";
        assert_eq!(shown_as(&plan, DiffForm::Full, None), expected);
        let unified = shown_as(&plan, DiffForm::Unified, None);
        let expected = "--- /dev/null\n+++ a  main.k:2\n@@ create @@\n+n: 1\n+token: (secret)\n";
        assert_eq!(unified, format!("{expected}1 to create\n"));
    }
}
