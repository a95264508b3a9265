//! From a program to what there is to say about its schemas.

use crate::comment::Comment;
use crate::literal;
use crate::model::{
    AttributeDoc, CheckDoc, DecoratorDoc, Docs, IndexDoc, PackageDoc, SchemaDoc, SchemaKind,
    TypeDoc,
};
use crate::types::type_doc;
use base_diag::Findings;
use base_system::System;
use base_text::{FileId, Name, Span};
use kcl_driver::{RunError, RunOptions, compile_with_types};
use kcl_fmt::Style;
use kcl_hir::program::MAIN_PACKAGE;
use kcl_hir::{PackageId, Program, SourceFile};
use kcl_syntax::ast::{self, Check, Expr, ExprId, Module, Stmt, StrNode};
use kcl_syntax::walk::{Node, children};
use kcl_types::TypeTable;
use kcl_types::ty::{SchemaId, SchemaType, Type};
use std::collections::HashMap;
use thiserror::Error;

/// Why there is no documentation.
#[derive(Debug, Error)]
pub enum DocError {
    /// The program can't be loaded.
    #[error(transparent)]
    Load(Box<RunError>),
    /// There is nothing to document.
    #[error("no schemas found in the parsed program")]
    NoSchemas(Findings),
}

/// Lines of bases are followed this far.
const MAX_BASES: usize = 1_000;

impl Docs {
    /// Compiles a program and describes its schemas and those of the packages that it imports.
    /// Returns what the compiler found beside them: declarations are described as far as they
    /// could be understood.
    ///
    /// # Errors
    ///
    /// If the program can't be loaded or has no schemas.
    pub fn read(
        system: &(dyn System + Sync),
        options: &RunOptions,
    ) -> Result<(Self, Findings), DocError> {
        let (compiled, types) = compile_with_types(system, options).map_err(DocError::Load)?;
        let errors = compiled.diagnostics.into_iter().filter(base_diag::Diagnostic::is_error);
        let findings = Findings::new(errors.collect(), &compiled.program);
        let docs = Reader::new(&compiled.program, &types).docs();
        if docs.packages.is_empty() {
            Err(DocError::NoSchemas(findings))
        } else {
            Ok((docs, findings))
        }
    }
}

/// A declaration in its file.
#[derive(Clone, Copy)]
struct Declared<'p> {
    file: FileId,
    decl: Decl<'p>,
}

#[derive(Clone, Copy)]
enum Decl<'p> {
    Schema(&'p ast::Schema),
    Rule(&'p ast::Rule),
}

struct Reader<'p> {
    program: &'p Program,
    types: &'p TypeTable,
    declared: HashMap<(PackageId, Name), Declared<'p>>,
}

impl<'p> Reader<'p> {
    fn new(program: &'p Program, types: &'p TypeTable) -> Self {
        let mut declared = HashMap::new();
        for (at, file) in program.files.iter().enumerate() {
            for stmt in &file.module.body {
                let (name, decl) = match &file.module[*stmt].kind {
                    Stmt::Schema(schema) => (schema.name.name, Decl::Schema(schema)),
                    Stmt::Rule(rule) => (rule.name.name, Decl::Rule(rule)),
                    _ => continue,
                };
                let file_id = FileId(at as u32);
                declared.entry((file.package, name)).or_insert(Declared { file: file_id, decl });
            }
        }
        Self { program, types, declared }
    }

    fn docs(&self) -> Docs {
        let mut docs = Docs::default();
        for (at, package) in self.program.packages.iter().enumerate() {
            let id = PackageId(at as u32);
            let mut schemas = Vec::new();
            for stmt_of in package.files.iter().map(|file| self.program.file(*file)) {
                for stmt in &stmt_of.module.body {
                    let name = match &stmt_of.module[*stmt].kind {
                        Stmt::Schema(schema) => schema.name.name,
                        Stmt::Rule(rule) => rule.name.name,
                        _ => continue,
                    };
                    schemas.extend(self.schema(id, name));
                }
            }
            if !schemas.is_empty() {
                docs.packages.push(PackageDoc { path: package.path.clone(), schemas });
            }
        }
        docs.packages.sort_by(|a, b| {
            let key = |it: &PackageDoc| (it.path != MAIN_PACKAGE, it.path.clone());
            key(a).cmp(&key(b))
        });
        docs.typed_names = self.typed_names();
        docs
    }

    fn typed_names(&self) -> Vec<(String, (String, String))> {
        let mut names = Vec::new();
        for (name, ty) in self.types.globals(PackageId(0)) {
            if let TypeDoc::Schema { package, name: schema } = self.type_doc(ty) {
                names.push((name.as_str().to_owned(), (package, schema)));
            }
        }
        names.sort();
        names
    }

    /// What the checker knows of a schema.
    fn known(&self, package: PackageId, name: Name) -> Option<(SchemaId, &'p SchemaType)> {
        let (_, ty) = self.types.globals(package).find(|(it, _)| *it == name)?;
        let Type::Schema(schema) = ty else { return None };
        Some((schema.id, self.types.schema(schema.id)?))
    }

    fn schema(&self, package: PackageId, name: Name) -> Option<SchemaDoc> {
        let Declared { file, decl } = *self.declared.get(&(package, name))?;
        let source = self.program.file(file);
        let known = self.known(package, name).map(|(_, known)| known);
        let path = self.program.package(package).path.clone();
        let comment = comment_of(source, decl);
        let (kind, checks, decorators) = match decl {
            Decl::Schema(schema) => {
                let kind = match schema.kind {
                    ast::SchemaKind::Schema => SchemaKind::Schema,
                    ast::SchemaKind::Mixin => SchemaKind::Mixin,
                    ast::SchemaKind::Protocol => SchemaKind::Protocol,
                };
                (kind, &schema.checks, &schema.decorators)
            }
            Decl::Rule(rule) => (SchemaKind::Rule, &rule.checks, &rule.decorators),
        };
        let named = |id: SchemaId| {
            let schema = self.types.schema(id)?;
            let package = self.program.package(schema.package).path.clone();
            Some((package, schema.name.as_str().to_owned()))
        };
        let is_rule = kind == SchemaKind::Rule;
        let mut doc = SchemaDoc {
            kind,
            name: name.as_str().to_owned(),
            package: path,
            description: comment.description,
            examples: comment.examples,
            base: known.and_then(|it| it.base).and_then(named),
            mixins: known
                .map_or(Vec::new(), |it| it.mixins.iter().filter_map(|id| named(*id)).collect()),
            attributes: Vec::new(),
            checks: checks.iter().map(|check| check_doc(source, check)).collect(),
            index_signature: known.and_then(|it| it.index_signature.as_ref()).map(|it| IndexDoc {
                key_name: it.key_name.map(|name| name.as_str().to_owned()),
                key: self.type_doc(&it.key),
                value: self.type_doc(&it.value),
                any_other: it.any_other,
            }),
            deprecated: deprecated(source, decorators),
            decorators: decorator_docs(source, decorators),
        };
        if !is_rule {
            self.add_attributes(package, name, known, &mut doc.attributes);
        }
        Some(doc)
    }

    /// Adds the attributes of a schema, then those of its mixins, then those of its bases; the
    /// first of a name counts.
    fn add_attributes(
        &self,
        package: PackageId,
        name: Name,
        known: Option<&'p SchemaType>,
        out: &mut Vec<AttributeDoc>,
    ) {
        let mut next = Some((package, name, known));
        for _ in 0..MAX_BASES {
            let Some((package, name, known)) = next else { return };
            self.add_own(package, name, known, out);
            let Some(known) = known else { return };
            for mixin in known.mixins.iter().filter_map(|id| self.types.schema(*id)) {
                self.add_own(mixin.package, mixin.name, Some(mixin), out);
            }
            let base = known.base.and_then(|id| self.types.schema(id));
            next = base.map(|base| (base.package, base.name, Some(base)));
        }
    }

    fn add_own(
        &self,
        package: PackageId,
        name: Name,
        known: Option<&SchemaType>,
        out: &mut Vec<AttributeDoc>,
    ) {
        let Some(Declared { file, decl: decl @ Decl::Schema(schema) }) =
            self.declared.get(&(package, name)).copied()
        else {
            return;
        };
        let source = self.program.file(file);
        let module = &source.module;
        let comment = comment_of(source, decl);
        let declared_by = (self.program.package(package).path.clone(), name.as_str().to_owned());
        for stmt in &schema.body {
            let (name, value, is_optional, decorators) = match &module[*stmt].kind {
                Stmt::SchemaAttr(attr) => {
                    (attr.name.name, attr.value, attr.is_optional, attr.decorators.as_slice())
                }
                // `name: Schema {…}` declares an attribute, too.
                Stmt::Unification(unification) => match unification.target.names.as_slice() {
                    [target] => (target.name, Some(unification.value), false, &[][..]),
                    _ => continue,
                },
                _ => continue,
            };
            if out.iter().any(|it| it.name == name.as_str()) {
                continue;
            }
            let ty = known.and_then(|known| known.attrs.get(name));
            let ty = ty.map_or(TypeDoc::Any, |attr| self.type_doc(&attr.ty));
            let mut default = value.map(|value| source_of(source, module, value));
            let mut default_value = value.and_then(|value| literal::value(module, value));
            if default.is_none()
                && !is_optional
                && let Some((text, value)) = literal::only_value(&ty)
            {
                // A type with one value is its own default.
                (default, default_value) = (Some(text), value);
            }
            out.push(AttributeDoc {
                name: name.as_str().to_owned(),
                ty,
                is_optional,
                default,
                default_value,
                description: comment.attribute(name.as_str()).to_owned(),
                deprecated: deprecated(source, decorators),
                decorators: decorator_docs(source, decorators),
                declared_by: declared_by.clone(),
            });
        }
    }

    fn type_doc(&self, ty: &Type) -> TypeDoc {
        type_doc(ty, self.types, self.program)
    }
}

fn comment_of(source: &SourceFile, decl: Decl<'_>) -> Comment {
    let doc: Option<&StrNode> = match decl {
        Decl::Schema(schema) => schema.doc.as_ref(),
        Decl::Rule(rule) => rule.doc.as_ref(),
    };
    doc.map(|doc| Comment::read(doc.span.slice(&source.text))).unwrap_or_default()
}

fn check_doc(source: &SourceFile, check: &Check) -> CheckDoc {
    let text = |expr: ExprId| source_of(source, &source.module, expr);
    CheckDoc {
        condition: text(check.test),
        when: check.if_cond.map(text),
        message: check.msg.map(text),
    }
}

fn decorator_docs(source: &SourceFile, decorators: &[ExprId]) -> Vec<DecoratorDoc> {
    let module = &source.module;
    let text = |expr: &ExprId| source_of(source, module, *expr);
    let decorator = |id: &ExprId| {
        let Expr::Call(call) = &module[*id].kind else { return None };
        let kwargs = call.kwargs.iter().filter_map(|it| {
            let name = it.arg.names.first()?.name.as_str().to_owned();
            Some((name, text(it.value.as_ref()?)))
        });
        Some(DecoratorDoc {
            name: text(&call.func),
            args: call.args.iter().map(text).collect(),
            kwargs: kwargs.collect(),
        })
    };
    decorators.iter().filter_map(decorator).collect()
}

/// Why something is deprecated, if a decorator says so.
fn deprecated(source: &SourceFile, decorators: &[ExprId]) -> Option<String> {
    let module = &source.module;
    decorators.iter().find_map(|decorator| {
        let Expr::Call(call) = &module[*decorator].kind else { return None };
        let Expr::Ident(path) = &module[call.func].kind else { return None };
        if path.names.first()?.name.as_str() != "deprecated" {
            return None;
        }
        let option = |name: &str| {
            let keyword = call
                .kwargs
                .iter()
                .find(|it| it.arg.names.first().is_some_and(|arg| arg.name.as_str() == name))?;
            match &module[keyword.value?].kind {
                Expr::String(text) => Some(text.value.to_string()),
                _ => None,
            }
        };
        let since = option("version").map(|version| format!("since {version}"));
        let parts: Vec<String> = since.into_iter().chain(option("reason")).collect();
        Some(parts.join(": "))
    })
}

/// An expression as it stands in the source, without comments, without the indentation of the
/// statement, and without commas at line ends. Dotted keys are written out, as in all that the
/// reference prints.
fn source_of(source: &SourceFile, module: &Module, expr: ExprId) -> String {
    let text = &source.text;
    let mut span = module[expr].span;
    if let Expr::Schema(schema) = &module[expr].kind {
        // The value of `name: Schema {…}` starts with the name of the schema.
        span.start = schema.name.span.start;
    }
    if has_dotted_key(text, module, expr) {
        let style = Style { write_out_keys: true, ..Style::default() };
        return kcl_fmt::print_expr(module, text, expr, style);
    }
    let written = without_comments(text, span, &module.comments);
    if !written.contains('\n') {
        let printed = kcl_syntax::print_expr(module, text, expr);
        return if printed.contains('\n') { written } else { printed };
    }
    let start = span.start as usize;
    let line_start = text.get(..start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    let line = text.get(line_start..).unwrap_or_default();
    let margin = line.len() - line.trim_start_matches([' ', '\t']).len();
    let is_text = matches!(module[expr].kind, Expr::String(_) | Expr::Joined(_));
    let lines = written.split('\n').enumerate().filter_map(|(at, line)| {
        if at == 0 || is_text {
            return Some(line.trim_end_matches(if is_text { "" } else { "," }).to_owned());
        }
        let blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
        let line = line.get(margin.min(blanks)..).unwrap_or_default().trim_end();
        let line = line.strip_suffix(',').unwrap_or(line);
        (!line.trim().is_empty()).then(|| line.to_owned())
    });
    lines.collect::<Vec<String>>().join("\n")
}

/// Whether there is a key such as `a.b` in an expression: its config has no braces.
fn has_dotted_key(text: &str, module: &Module, expr: ExprId) -> bool {
    let mut open = vec![Node::Expr(expr)];
    while let Some(node) = open.pop() {
        if let Node::Expr(id) = node
            && matches!(module[id].kind, Expr::Config(_))
            && !module[id].span.slice(text).starts_with('{')
        {
            return true;
        }
        children(module, node, |child| open.push(child));
    }
    false
}

fn without_comments(text: &str, span: Span, comments: &[Span]) -> String {
    let mut written = String::new();
    let mut at = span.start;
    for comment in comments.iter().filter(|it| it.start >= span.start && it.end <= span.end) {
        written.push_str(Span::new(at, comment.start).slice(text).trim_end_matches([' ', '\t']));
        at = comment.end;
    }
    written.push_str(Span::new(at, span.end).slice(text));
    written
}
