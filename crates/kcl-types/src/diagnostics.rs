//! The findings, one function per kind, in the words of the reference.

use crate::ty::Type;
use base_diag::{Diagnostic, Severity};
use base_text::FileSpan;
use rustc_hash::{FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};

/// Findings in order, each once.
#[derive(Default)]
pub(crate) struct Findings {
    list: Vec<Diagnostic>,
    seen: FxHashSet<u64>,
}

impl Findings {
    /// Adds a finding unless the same one is there already.
    pub(crate) fn add(&mut self, diagnostic: Diagnostic) {
        let mut hasher = FxHasher::default();
        (diagnostic.severity == Severity::Error, diagnostic.code, diagnostic.kind)
            .hash(&mut hasher);
        for label in &diagnostic.labels {
            (label.at, &label.message, &label.note, &label.suggestions).hash(&mut hasher);
        }
        if self.seen.insert(hasher.finish()) {
            self.list.push(diagnostic);
        }
    }

    /// All findings.
    pub(crate) fn into_vec(self) -> Vec<Diagnostic> {
        self.list
    }
}

/// A `TypeError`.
pub(crate) fn type_error(at: FileSpan, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error("E2G22", "TypeError", at, message)
}

/// A `CompileError`.
pub(crate) fn compile_error(at: FileSpan, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error("E2L23", "CompileError", at, message)
}

fn illegal_attribute(at: FileSpan, message: String) -> Diagnostic {
    Diagnostic::error("E2A31", "IllegalAttributeError", at, message)
}

fn index_signature(at: FileSpan, message: String) -> Diagnostic {
    Diagnostic::error("E1001", "IndexSignatureError", at, message)
}

/// `, did you mean '["a", "b"]'?`, or nothing.
fn did_you_mean(suggestions: &[String]) -> String {
    if suggestions.is_empty() {
        String::new()
    } else {
        format!(", did you mean '{suggestions:?}'?")
    }
}

/// A name stands for nothing.
pub(crate) fn not_defined(at: FileSpan, name: &str, suggestions: Vec<String>) -> Diagnostic {
    let message = format!("name '{name}' is not defined{}", did_you_mean(&suggestions));
    compile_error(at, message).suggest(suggestions)
}

/// A value does not fit its place.
pub(crate) fn mismatch(
    expected: &Type,
    got: &Type,
    at: FileSpan,
    declared: Option<FileSpan>,
    attribute: Option<FileSpan>,
) -> Diagnostic {
    let mut diagnostic = type_error(at, format!("expected {expected}, got {got}"));
    if let Some(declared) = declared {
        diagnostic = diagnostic.label(
            declared,
            format!("variable is defined here, its type is {expected}, but got {got}"),
        );
    }
    match attribute {
        Some(attribute) => diagnostic.label(attribute, "config attribute is defined here"),
        None => diagnostic,
    }
}

/// An attribute is not part of a value's type.
pub(crate) fn no_attribute(
    at: FileSpan,
    attribute: &str,
    ty: &Type,
    suggestions: &[String],
) -> Diagnostic {
    let attribute = if attribute.is_empty() { "[missing name]" } else { attribute };
    let hint = did_you_mean(suggestions);
    type_error(at, format!("attribute '{attribute}' not found in '{ty}'{hint}"))
}

/// A config sets what its schema does not have.
pub(crate) fn cannot_add_member(
    at: FileSpan,
    member: &str,
    schema: &str,
    suggestions: Vec<String>,
    attribute: Option<FileSpan>,
) -> Diagnostic {
    let hint = did_you_mean(&suggestions);
    let message = format!("Cannot add member '{member}' to schema '{schema}'{hint}");
    with_attribute(compile_error(at, message).suggest(suggestions), attribute)
}

/// A config sets what none of several schemas has.
pub(crate) fn cannot_add_member_to_union(
    at: FileSpan,
    member: &str,
    schemas: &[&str],
    suggestions: Vec<String>,
    attribute: Option<FileSpan>,
) -> Diagnostic {
    let hint = did_you_mean(&suggestions);
    let schemas = match schemas {
        [schema] => format!("schema {schema}"),
        _ => format!("schemas {schemas:?}"),
    };
    let message = format!("Cannot add member '{member}' to '{schemas}'{hint}");
    with_attribute(compile_error(at, message).suggest(suggestions), attribute)
}

fn with_attribute(diagnostic: Diagnostic, attribute: Option<FileSpan>) -> Diagnostic {
    match attribute {
        Some(at) => diagnostic.label(at, "config attribute is defined here"),
        None => diagnostic,
    }
}

/// A schema instance lacks an attribute.
pub(crate) fn missing_attribute(at: FileSpan, attribute: &str, schema: &str) -> Diagnostic {
    let message =
        format!("attribute '{attribute}' of {schema} is required and can't be None or Undefined");
    compile_error(at, message)
}

/// A key is no string.
pub(crate) fn not_a_key(at: FileSpan, ty: &Type) -> Diagnostic {
    illegal_attribute(at, format!("A attribute must be string type, got '{ty}'"))
}

/// `+=` in a config takes lists only.
pub(crate) fn insert_of_no_list(at: FileSpan, ty: &Type) -> Diagnostic {
    illegal_attribute(at, format!("only list type can in inserted, got '{ty}'"))
}

/// `**` takes dicts and schemas only.
pub(crate) fn cannot_unpack_entries(at: FileSpan, ty: &Type) -> Diagnostic {
    compile_error(at, format!("only dict and schema can be used ** unpack, got '{ty}'"))
}

/// An operator does not take such operands.
pub(crate) fn bad_operands(at: FileSpan, op: &str, left: &Type, right: &Type) -> Diagnostic {
    type_error(at, format!("unsupported operand type(s) for {op}: '{left}' and '{right}'"))
}

/// A global that is not private gets a second value.
pub(crate) fn immutable(at: FileSpan, name: &str, first: FileSpan) -> Diagnostic {
    let message =
        format!("Can not change the value of '{name}', because it was declared immutable");
    Diagnostic::error("E1001", "ImmutableError", at, message)
        .label(first, format!("The variable '{name}' is declared here"))
        .note(mutable_hint(name))
}

/// A global that is not private is changed by `+=` or the like.
pub(crate) fn immutable_modified(at: FileSpan, name: &str, first: Option<FileSpan>) -> Diagnostic {
    let message = format!("Immutable variable '{name}' is modified during compiling");
    let diagnostic = Diagnostic::error("E1001", "ImmutableError", at, message);
    match first {
        Some(first) => diagnostic
            .label(first, format!("The variable '{name}' is declared here firstly"))
            .note(mutable_hint(name)),
        None => diagnostic,
    }
}

fn mutable_hint(name: &str) -> String {
    format!("change the variable name to '_{name}' to make it mutable")
}

/// A name is declared twice.
pub(crate) fn not_unique(at: FileSpan, name: &str, first: Option<FileSpan>) -> Diagnostic {
    let message = format!("Unique key error name '{name}'");
    let diagnostic = Diagnostic::error("E2L28", "UniqueKeyError", at, message);
    match first {
        Some(first) => diagnostic.label(first, format!("The variable '{name}' is declared here")),
        None => diagnostic,
    }
}

/// A variable is annotated with another type than before.
pub(crate) fn type_changed(
    at: FileSpan,
    name: &str,
    to: &Type,
    first: FileSpan,
    expected: &Type,
) -> Diagnostic {
    type_error(at, format!("can not change the type of '{name}' to {to}"))
        .label(first, format!("expected {expected}"))
}

/// A parent, protocol or mixin is of the wrong sort.
pub(crate) fn illegal_inherit(at: FileSpan, message: String) -> Diagnostic {
    Diagnostic::error("E2D34", "IllegalInheritError", at, message)
}

/// A mixin's name lacks the suffix.
pub(crate) fn bad_mixin_name(at: FileSpan, name: &str) -> Diagnostic {
    let message = format!("a valid mixin name should end with 'Mixin', got '{name}'");
    Diagnostic::error("E1001", "NameError", at, message)
}

/// The key of an index signature is called like an attribute.
pub(crate) fn index_signature_name(at: FileSpan, name: &str) -> Diagnostic {
    let message = format!(
        "index signature attribute name '{name}' cannot have the same name as schema attributes"
    );
    index_signature(at, message)
}

/// The key of an index signature is no string.
pub(crate) fn index_signature_key(at: FileSpan, ty: &Type) -> Diagnostic {
    index_signature(at, format!("invalid index signature key type: '{ty}'"))
}

/// An attribute does not fit the index signature of its schema.
pub(crate) fn index_signature_attribute(
    at: FileSpan,
    ty: &Type,
    name: &str,
    signature: &crate::ty::IndexSignature,
) -> Diagnostic {
    let message = format!(
        "the type '{ty}' of schema attribute '{name}' does not meet the index signature definition {signature}"
    );
    index_signature(at, message)
}

/// A parameter with a default stands before one without.
pub(crate) fn default_before_required(at: FileSpan) -> Diagnostic {
    let message = "non-default argument follows default argument";
    Diagnostic::error("E1001", "IllegalParameterError", at, message).note("A default argument")
}

/// A call has too many positional arguments.
pub(crate) fn too_many_arguments(
    at: FileSpan,
    function: &str,
    expected: usize,
    found: usize,
) -> Diagnostic {
    let expected = positional(expected);
    compile_error(at, format!("{function} takes {expected} but {found} were given"))
}

/// A call lacks arguments.
pub(crate) fn too_few_arguments(at: FileSpan, expected: usize, found: usize) -> Diagnostic {
    compile_error(at, format!("expected {}, found {found}", positional(expected)))
}

fn positional(count: usize) -> String {
    let plural = if count > 1 { "s" } else { "" };
    format!("{count} positional argument{plural}")
}

/// A call names a parameter that is not there.
pub(crate) fn unexpected_keyword(
    at: FileSpan,
    function: &str,
    name: &str,
    suggestions: Vec<String>,
) -> Diagnostic {
    let hint = if suggestions.is_empty() {
        String::new()
    } else {
        format!(", did you mean '{}'?", suggestions.join(" or "))
    };
    let message = format!("{function} got an unexpected keyword argument '{name}'{hint}");
    compile_error(at, message).suggest(suggestions)
}

/// Schemas, rules or modules need each other in a circle.
pub(crate) fn circular(at: FileSpan, what: &str, names: &str) -> Diagnostic {
    compile_error(at, format!("There is a circular reference between {what} {names}"))
}
