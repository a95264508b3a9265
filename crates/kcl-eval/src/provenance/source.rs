//! From numbers to what they stand for.

use super::Provenance;
use base_text::{FileId, FileSpan};
use kcl_hir::{Program, SourceFile};
use kcl_syntax::ast::{BinOp, Expr, ExprId};
use kcl_value::Origin;
use std::sync::Arc;

/// What set a leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// An expression of a program.
    Text {
        /// The place of the program in the order of evaluation.
        program: usize,
        /// The expression.
        at: FileSpan,
    },
    /// A change from outside, as it was written: `a.b=1`.
    Override(Arc<str>),
    /// A top-level argument that the program reads with `option`.
    Option {
        /// The name of the argument.
        name: String,
        /// The place of the program in the order of evaluation.
        program: usize,
        /// The expression that reads it.
        at: FileSpan,
    },
    /// No expression at all.
    Builtin,
}

/// What gave a value, behind all expressions that only read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Giver<'p> {
    /// An expression, or the expression that reads an argument.
    Text {
        /// The place of the program in the order of evaluation.
        program: usize,
        /// The expression.
        at: FileSpan,
    },
    /// A change from outside, as it was written: `a.b=1`.
    Override(&'p Arc<str>),
}

/// An expression of a program.
pub(super) struct Node<'p> {
    pub(super) program: usize,
    pub(super) file: FileId,
    source: &'p SourceFile,
    /// The number in the file: expressions first, then statements.
    index: u32,
}

impl<'p> Node<'p> {
    /// The change from outside that brought the expression into the tree.
    fn graft(&self) -> Option<&'p Arc<str>> {
        let mut grafts = self.source.grafts.iter().rev();
        grafts.find(|graft| graft.exprs.contains(&self.index)).map(|graft| &graft.spec)
    }

    fn at(&self) -> FileSpan {
        let module = &self.source.module;
        let n_exprs = module.exprs.len();
        let index = self.index as usize;
        let span = match module.exprs.get(index) {
            Some(expr) => Some(expr.span),
            None => module.stmts.get(index - n_exprs).map(|stmt| stmt.span),
        };
        FileSpan { file: self.file, span: span.unwrap_or_default() }
    }
}

impl Provenance {
    pub(super) fn find<'p>(&self, programs: &[&'p Program], node: Origin) -> Option<Node<'p>> {
        if node.0 == 0 {
            return None;
        }
        let program = self.programs.partition_point(|p| p.files[0] <= node.0).checked_sub(1)?;
        let files = &self.programs[program].files;
        let file = files.partition_point(|first| *first <= node.0).checked_sub(1)?;
        let source = programs.get(program)?.files.get(file)?;
        let index = node.0 - files[file];
        Some(Node { program, file: FileId(file as u32), source, index })
    }

    /// What gave a value; `None` if no expression did.
    pub fn find_giver<'p>(&self, programs: &[&'p Program], origin: Origin) -> Option<Giver<'p>> {
        let node = self.find(programs, self.giver(origin))?;
        Some(match node.graft() {
            Some(spec) => Giver::Override(spec),
            None => Giver::Text { program: node.program, at: node.at() },
        })
    }

    /// What a node stands for.
    pub(super) fn source(&self, programs: &[&Program], node: Origin) -> Source {
        let Some(node) = self.find(programs, node) else { return Source::Builtin };
        if let Some(spec) = node.graft() {
            return Source::Override(spec.clone());
        }
        let (program, at) = (node.program, node.at());
        match self.argument(&node) {
            Some(name) => Source::Option { name, program, at },
            None => Source::Text { program, at },
        }
    }

    /// The node whose place a change from outside took.
    pub(super) fn replaced(&self, programs: &[&Program], origin: Origin) -> Option<Origin> {
        let node = self.find(programs, origin)?;
        let new = ExprId(node.index);
        let mut pairs = node.source.grafts.iter().flat_map(|graft| &graft.replaced);
        let (_, old) = pairs.find(|(known, _)| *known == new)?;
        Some(Origin(origin.0 - node.index + old.0))
    }

    /// The argument that an expression gets its value from: that of `option("name")`, or of
    /// `option("name") or default`.
    fn argument(&self, node: &Node<'_>) -> Option<String> {
        let module = &node.source.module;
        let mut kind = &module.exprs.get(node.index as usize)?.kind;
        let mut must_hold = false;
        let (args, kwargs) = loop {
            match kind {
                Expr::Paren(inner) => kind = &module[*inner].kind,
                Expr::Binary { op: BinOp::Or, left, .. } => {
                    must_hold = true;
                    kind = &module[*left].kind;
                }
                Expr::Call(call) => match &module[call.func].kind {
                    Expr::Ident(path)
                        if path.names.len() == 1 && path.names[0].name.as_str() == "option" =>
                    {
                        break (&call.args, &call.kwargs);
                    }
                    _ => return None,
                },
                _ => return None,
            }
        };
        let is_key = |path: &kcl_syntax::ast::Path| {
            path.names.first().is_some_and(|first| first.name.as_str() == "key")
        };
        let named = kwargs.iter().find(|keyword| is_key(&keyword.arg));
        let key = args.first().copied().or_else(|| named.and_then(|keyword| keyword.value))?;
        let Expr::String(text) = &module[key].kind else { return None };
        let given = self.programs[node.program].arguments.iter().rev();
        let (name, is_true) = given.into_iter().find(|(name, _)| **name == *text.value)?;
        (*is_true || !must_hold).then(|| name.clone())
    }
}
