//! Evaluation of policies.

use crate::exception::Exception;
use crate::matching::{has_labels, is_for_kind, is_for_stack};
use crate::outcome::{self, Outcome};
use crate::policy::{Policy, PolicyError, PolicySet, Target};
use crate::subject::{Subject, SubjectResource};
use kusion_model::{FieldPath, PolicyFinding, PolicyLevel, ResourceId};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

/// How many findings there may be at most.
const MAX_FINDINGS: usize = 10_000;

/// A rule that failed or reached a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleError {
    /// Why, with the place.
    pub message: String,
}

/// Calls the rules of policies.
pub trait Evaluator {
    /// An input in the form of the language. Cheap to clone.
    type Input: Clone;

    /// Converts data.
    fn input(&mut self, data: &Value) -> Self::Input;

    /// Makes a map of inputs, which it shares.
    fn map(&mut self, entries: &[(&str, Self::Input)]) -> Self::Input;

    /// Makes a list of inputs, which it shares.
    fn list(&mut self, items: Vec<Self::Input>) -> Self::Input;

    /// Calls the rule of the policy with a number, by the order of the set. The same input always
    /// gives the same result, within bounded time and memory.
    fn call(&mut self, policy: usize, input: &Self::Input) -> Result<Value, RuleError>;
}

/// A finding, with the value that the field should have, if the rule says so.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The finding, without a source location.
    pub finding: PolicyFinding,
    /// The value that the field should have.
    pub value: Option<Value>,
}

/// Evaluates policies on a subject, and returns what they find: what blocks a plan first, then in
/// the order of resources and policies. A rule that fails is a finding of its policy.
///
/// # Errors
///
/// If a selector of cells is invalid for the axes of the stack.
pub fn check<E: Evaluator>(
    set: &PolicySet,
    evaluator: &mut E,
    subject: &Subject<'_>,
) -> Result<Vec<Found>, PolicyError> {
    let mut active = Vec::new();
    for (at, policy) in set.policies.iter().enumerate() {
        if is_for_stack(policy, &subject.stack)? {
            active.push((at, policy));
        }
    }
    let mut exceptions = Vec::new();
    for exception in &set.exceptions {
        if exception.is_for(&subject.stack)? {
            exceptions.push(exception);
        }
    }
    if active.is_empty() {
        return Ok(Vec::new());
    }
    let shared = [
        ("stack", subject.stack.input()),
        ("cell", subject.stack.cell_input()),
        ("actor", subject.actor.as_str().into()),
        ("release", subject.release_input()),
        ("now", subject.now.input()),
    ];
    let shared = shared.map(|(key, value)| (key, evaluator.input(&value)));
    let today = subject.now.date();
    let mut run = Run { evaluator, shared: &shared, exceptions, today, found: Vec::new() };
    run.resources(&active, &subject.resources);
    run.whole(&active, subject);
    let mut found = run.found;
    // Those that are excepted come last.
    found.sort_by_key(|it| (it.finding.exception.is_some(), std::cmp::Reverse(it.finding.level)));
    Ok(found)
}

/// Marks findings that exceptions are about.
///
/// # Errors
///
/// If a selector of cells is invalid for the axes of the stack.
pub fn except(
    exceptions: &[Exception],
    subject: &Subject<'_>,
    found: &mut [Found],
) -> Result<(), PolicyError> {
    let mut active = Vec::new();
    for exception in exceptions {
        if exception.is_for(&subject.stack)? {
            active.push(exception);
        }
    }
    let today = subject.now.date();
    for it in found {
        except_one(&active, &today, &mut it.finding);
    }
    Ok(())
}

fn except_one(exceptions: &[&Exception], today: &str, finding: &mut PolicyFinding) {
    let is_about = |it: &&&Exception| it.is_about(&finding.policy, finding.resource.as_ref());
    let about: Vec<&&Exception> = exceptions.iter().filter(is_about).collect();
    if let Some(exception) = about.iter().find(|it| !it.is_expired(today)) {
        finding.exception = Some(exception.said());
    } else if let Some(expired) = about.first() {
        let (owner, date) = (&expired.owner, &expired.expires);
        finding.message =
            format!("{}; the exception of {owner} expired on {date}", finding.message);
    }
}

/// One evaluation.
struct Run<'r, E: Evaluator> {
    evaluator: &'r mut E,
    shared: &'r [(&'static str, E::Input)],
    exceptions: Vec<&'r Exception>,
    today: String,
    found: Vec<Found>,
}

impl<E: Evaluator> Run<'_, E> {
    /// Evaluates the policies on resources and changes.
    fn resources(&mut self, active: &[(usize, &Policy)], resources: &[SubjectResource<'_>]) {
        let of_each =
            |it: &&(usize, &Policy)| matches!(it.1.target(), Target::Resource | Target::Change);
        let of_each: Vec<&(usize, &Policy)> = active.iter().filter(of_each).collect();
        // Many resources have few kinds.
        let mut by_kind: FxHashMap<&str, Vec<&(usize, &Policy)>> = FxHashMap::default();
        for resource in resources {
            let kind = resource.kind();
            let policies = by_kind.entry(kind).or_insert_with(|| {
                of_each.iter().filter(|it| is_for_kind(it.1, kind)).copied().collect()
            });
            let mut input: Option<E::Input> = None;
            for (at, policy) in &*policies {
                let applies = match policy.target() {
                    Target::Change => resource.action.is_change(),
                    _ => resource.desired.is_some(),
                };
                if !applies || !has_labels(policy, resource) {
                    continue;
                }
                let input = match &input {
                    Some(input) => input.clone(),
                    None => input.insert(self.resource_input(resource)).clone(),
                };
                self.call(*at, policy, Some(&resource.id), &input);
            }
        }
    }

    fn resource_input(&mut self, resource: &SubjectResource<'_>) -> E::Input {
        let of = |value: Option<&Value>| value.cloned().unwrap_or(Value::Null);
        let mut entries = vec![
            ("id", self.evaluator.input(&resource.id.as_str().into())),
            ("resource", self.evaluator.input(&of(resource.desired.as_deref()))),
            ("old", self.evaluator.input(&of(resource.old.as_deref()))),
            ("change", self.evaluator.input(&resource.change_input())),
        ];
        entries.extend(self.shared.iter().cloned());
        self.evaluator.map(&entries)
    }

    /// Evaluates the policies on the stack, the release and the layers.
    fn whole(&mut self, active: &[(usize, &Policy)], subject: &Subject<'_>) {
        let mut stack: Option<E::Input> = None;
        for (at, policy) in active {
            match policy.target() {
                Target::Resource | Target::Change => {}
                Target::Stack => {
                    let input = match &stack {
                        Some(input) => input.clone(),
                        None => stack.insert(self.stack_input(&subject.resources)).clone(),
                    };
                    self.call(*at, policy, None, &input);
                }
                Target::Release if matches!(subject.operation, "check" | "scan") => {}
                Target::Release => {
                    let input = self.evaluator.map(self.shared);
                    self.call(*at, policy, None, &input);
                }
                Target::Layer => {
                    for layer in &subject.layers {
                        let mut entries = vec![("layer", self.evaluator.input(layer))];
                        entries.extend(self.shared.iter().cloned());
                        let input = self.evaluator.map(&entries);
                        self.call(*at, policy, None, &input);
                    }
                }
            }
        }
    }

    fn stack_input(&mut self, resources: &[SubjectResource<'_>]) -> E::Input {
        let mut items = Vec::with_capacity(resources.len());
        for resource in resources {
            if let Some(desired) = resource.desired.as_deref() {
                let id = self.evaluator.input(&json!(resource.id.as_str()));
                let desired = self.evaluator.input(desired);
                items.push(self.evaluator.map(&[("id", id), ("resource", desired)]));
            }
        }
        let mut entries = vec![("resources", self.evaluator.list(items))];
        entries.extend(self.shared.iter().cloned());
        self.evaluator.map(&entries)
    }

    fn call(&mut self, at: usize, policy: &Policy, id: Option<&ResourceId>, input: &E::Input) {
        if self.found.len() > MAX_FINDINGS {
            return;
        }
        let outcomes = self.evaluator.call(at, input).map_err(|error| error.message);
        match outcomes.and_then(outcome::read) {
            Ok(outcomes) => outcomes.into_iter().for_each(|it| self.add(policy, id, it)),
            Err(message) => {
                let message = format!("the policy failed: {message}");
                self.add(policy, id, Outcome { message, ..Outcome::default() });
            }
        }
    }

    fn add(&mut self, policy: &Policy, id: Option<&ResourceId>, outcome: Outcome) {
        let or = |own: String, other: &str| if own.is_empty() { other.to_owned() } else { own };
        let mut finding = PolicyFinding {
            policy: policy.name.clone(),
            level: policy.level(),
            message: or(outcome.message, policy.message()),
            resource: id.cloned(),
            path: if id.is_some() { outcome.path } else { FieldPath::default() },
            origin: None,
            fix: or(outcome.fix, policy.fix()),
            role: policy.role().to_owned(),
            exception: None,
        };
        if self.found.len() == MAX_FINDINGS {
            // What is not said must not pass.
            finding.message = format!("there are more than {MAX_FINDINGS} findings");
            (finding.level, finding.path) = (PolicyLevel::Deny, FieldPath::default());
            self.found.push(Found { finding, value: None });
            return;
        }
        except_one(&self.exceptions, &self.today, &mut finding);
        self.found.push(Found { finding, value: outcome.value });
    }
}
