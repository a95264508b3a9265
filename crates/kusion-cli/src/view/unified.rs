//! Steps as unified diffs.

use super::change::{CONTEXT, public, signed, texts};
use super::content::content;
use super::plan::PlanFormat;
use super::style::{Role, Style, one_line};
use super::words::{self, of_action};
use kusion_app::secrets::hide;
use kusion_model::{Action, FieldChange, Management, Shown, Step};
use kusion_plan::text_differences;
use serde_json::Value;

/// The name of a side that does not exist.
const NOTHING: &str = "/dev/null";

/// Formats a step as a unified diff: the names of both sides, then a hunk for each field.
pub(crate) fn text(step: &Step, format: PlanFormat<'_>) -> String {
    let id = one_line(step.id.as_str());
    let (old, new) = match step.action {
        Action::Create => (NOTHING, id.as_str()),
        Action::Delete | Action::Forget => (id.as_str(), NOTHING),
        _ => (id.as_str(), id.as_str()),
    };
    let origin = step.origin.as_ref().map(|it| format!("  {}", one_line(&it.to_string())));
    let mut diff = Diff { style: format.style, text: String::new() };
    diff.line(Role::Heading, &format!("--- {old}"));
    diff.line(Role::Heading, &format!("+++ {new}{}", origin.unwrap_or_default()));
    diff.line(Role::Muted, &format!("@@ {} @@", of_action(step.action).verb));
    if let (Action::Create, Some(desired)) = (step.action, &step.desired) {
        let mut value = desired.attributes.clone().into_value();
        hide(&mut value, &|_| Value::from("(secret)"));
        diff.side('+', &value);
    }
    for change in &step.changes {
        diff.change(change);
    }
    if let Some(reason) = &step.terminating {
        diff.line(Role::Muted, &format!("# it is being deleted: {}", one_line(reason)));
    }
    if !step.interruption.is_empty() {
        diff.line(Role::Muted, &format!("# meanwhile: {}", one_line(&step.interruption)));
    }
    for conflict in &step.conflicts {
        let text = words::of_conflict(conflict, &conflict.fields.join(", "));
        diff.line(Role::Bad, &format!("# {text}"));
    }
    for problem in &step.problems {
        diff.line(Role::Bad, &one_line(&format!("# rejected: {problem}")));
    }
    diff.text
}

struct Diff {
    style: Style,
    text: String,
}

impl Diff {
    fn line(&mut self, role: Role, line: &str) {
        self.text.push_str(&self.style.paint(role, line));
        self.text.push('\n');
    }

    fn signed(&mut self, sign: char, text: &str) {
        let line = format!("{sign}{text}");
        match sign {
            '-' => self.line(Role::Bad, &line),
            '+' => self.line(Role::Good, &line),
            _ => {
                self.text.push_str(line.trim_end());
                self.text.push('\n');
            }
        }
    }

    fn side(&mut self, sign: char, value: &Value) {
        for line in content(value, &|_| None) {
            self.signed(sign, &line.text);
        }
    }

    fn change(&mut self, change: &FieldChange) {
        let label = one_line(&change.label());
        let origin = change.origin.as_ref().map(|it| format!("  {}", one_line(&it.to_string())));
        let origin = origin.unwrap_or_default();
        if let Some((before, after)) = texts(change) {
            for hunk in text_differences(before, after, CONTEXT) {
                let head = format!("@@ {label} {} @@{origin}", hunk.position());
                self.line(Role::Muted, &head);
                for line in &hunk.lines {
                    let (sign, text) = signed(line);
                    self.signed(sign, &text);
                }
            }
            return;
        }
        let what = match (change.management, &change.before, &change.after) {
            (Some(Management::Ended), ..) => " (no longer set by this stack)",
            (Some(Management::Started), ..) => " (now set by this stack)",
            (None, Some(Shown::Secret { .. }), Some(Shown::Secret { .. })) => " (secret, changed)",
            _ => "",
        };
        self.line(Role::Muted, &format!("@@ {label}{what} @@{origin}"));
        if change.management.is_some() {
            for line in change.after.iter().flat_map(|it| content(&public(it), &|_| None)) {
                self.signed(' ', &line.text);
            }
            return;
        }
        if let Some(before) = &change.before {
            self.side('-', &public(before));
        }
        if let Some(after) = &change.after {
            self.side('+', &public(after));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::DiffForm;
    use kusion_model::{FieldPath, Origins, Reason, ResourceId, ResourceType};
    use serde_json::json;

    #[test]
    fn each_field_is_a_hunk() {
        let change = |path: &str, before: Option<Value>, after: Option<Value>| FieldChange {
            path: FieldPath::default().key(path),
            before: before.map(Shown::Plain),
            after: after.map(Shown::Plain),
            ..FieldChange::default()
        };
        let id = ResourceId::new("a");
        let resource_type = ResourceType::new("Test");
        let mut step = Step::new(id, resource_type, Action::Update, Reason::Differs);
        step.changes = vec![
            change("color", Some(json!("blue")), Some(json!("green"))),
            change("text", Some(json!("one\ntwo")), Some(json!("one\n2"))),
            change("item", None, Some(json!({"name": "x"}))),
        ];
        let origins = Origins::default();
        let (form, style) = (DiffForm::Unified, Style::default());
        let format = PlanFormat { form, style, columns: None, origins: &origins };
        let expected = "\
--- a
+++ a
@@ update @@
@@ color @@
-blue
+green
@@ text -1,2 +1,2 @@
 one
-two
+2
@@ item @@
+name: x
";
        assert_eq!(text(&step, format), expected);
    }
}
