//! Schemas, rules and their parts.

use crate::blocks::Gap;
use crate::comments::Item;
use crate::printer::Printer;
use base_text::Span;
use kcl_syntax::ast::{
    Check, Expr, ExprId, IndexSignature, Params, Path, Rule, Schema, SchemaAttr, SchemaKind, Stmt,
    StmtId,
};

/// One part of the body of a schema or rule.
enum Part<'m> {
    Doc(Span),
    Mixins(&'m [Path]),
    Signature(&'m IndexSignature),
    Stmt(StmtId),
    /// The block, and where its first word starts.
    Checks(&'m [Check]),
}

impl Printer<'_> {
    fn decorators(&mut self, decorators: &[ExprId]) {
        let module = self.module;
        for decorator in decorators {
            self.push("@");
            self.expr(*decorator);
            if let Expr::Call(call) = &module[*decorator].kind
                && module[call.func].span == module[*decorator].span
            {
                self.push("()");
            }
            self.newline();
        }
    }

    pub(crate) fn attr(&mut self, attr: &SchemaAttr) {
        self.decorators(&attr.decorators);
        let written = attr.name.span.slice(self.text);
        if written.contains(['"', '\'']) {
            self.attr_name(attr.name.name.as_str(), written);
        } else {
            self.ident(attr.name);
        }
        self.push(if attr.is_optional { "?: " } else { ": " });
        self.ty(attr.ty);
        if let (Some(op), Some(value)) = (attr.op, attr.value) {
            self.aug_op(op);
            self.expr(value);
        }
    }

    /// Prints the name of a declaration and what follows up to the colon.
    fn head(&mut self, params: Option<&Params>, parents: &[Path], for_host: Option<&Path>) {
        if let Some(params) = params {
            self.push("[");
            self.params(params);
            self.push("]");
        }
        if !parents.is_empty() {
            self.push("(");
            self.commas(parents, Self::path);
            self.push(")");
        }
        if let Some(host) = for_host {
            self.push(" for ");
            self.path(host);
        }
        self.push(":");
    }

    pub(crate) fn schema(&mut self, id: StmtId, schema: &Schema) {
        self.decorators(&schema.decorators);
        let start = self.module[id].span.start;
        // A schema whose name ends in `Mixin` is a mixin, and is written so.
        self.push(match schema.kind {
            SchemaKind::Schema => "schema ",
            SchemaKind::Mixin => "mixin ",
            SchemaKind::Protocol => "protocol ",
        });
        self.ident(schema.name);
        self.head(schema.params.as_ref(), schema.parent.as_slice(), schema.for_host.as_ref());
        let mut parts = Vec::new();
        parts.extend(schema.doc.as_ref().map(|doc| (doc.span, Part::Doc(doc.span))));
        if let [first, .., last] | [first @ last] = schema.mixins.as_slice() {
            let mut span = first.span.to(last.span);
            // From the word up to the bracket, which the line may end with.
            let before = self.text.get(..span.start as usize).unwrap_or("");
            span.start = before.rfind("mixin").map_or(span.start, |at| at as u32);
            let end = self.module[id].span.end;
            span.end = self.find_word(span.end, end, "]").map_or(span.end, |at| at + 1);
            parts.push((span, Part::Mixins(&schema.mixins)));
        }
        let signature = schema.index_signature.as_ref();
        parts.extend(signature.map(|it| (it.span, Part::Signature(it))));
        parts.extend(schema.body.iter().map(|it| (self.stmt_span(*it), Part::Stmt(*it))));
        // The signature comes first, if no comment loses its place by that.
        if signature.is_some_and(|it| self.has_comment(start, it.span.end)) {
            parts.sort_by_key(|(span, _)| span.start);
        }
        let end = parts.iter().map(|(span, _)| span.end).max();
        let header = self.header_end(id, schema, parts.first().map(|(span, _)| span.start));
        if let Some(first) = schema.checks.first() {
            let behind = end.unwrap_or(header);
            let word = self.find_word(behind, first.span.start, "check");
            let last = schema.checks.last().map_or(first.span, |last| last.span);
            let start = word.unwrap_or(first.span.start);
            parts.push((Span::new(start, last.end), Part::Checks(&schema.checks)));
        }
        self.parts(&parts, header, self.column(start));
        self.end_block();
    }

    /// Where the head of a schema ends: behind what is known of it, which may lack the colon.
    fn header_end(&self, id: StmtId, schema: &Schema, first: Option<u32>) -> u32 {
        let params = schema.params.as_ref().map(|it| it.span.end);
        let parent = schema.parent.as_ref().map(|it| it.span.end);
        let host = schema.for_host.as_ref().map(|it| it.span.end);
        let name = schema.name.span.end;
        let known = [params, parent, host].into_iter().flatten().fold(name, u32::max);
        let end = first.unwrap_or(self.module[id].span.end);
        self.find_word(known, end, ":").map_or(known, |colon| colon + 1)
    }

    fn parts(&mut self, parts: &[(Span, Part<'_>)], header: u32, outer_column: u32) {
        let limit = self.limit;
        self.set_aside(header);
        let first = parts.first().map_or(limit, |(span, _)| span.start);
        self.end_of_line_comment(header, first);
        let column = if parts.is_empty() { outer_column + 1 } else { self.column(first) };
        self.level += 1;
        for (at, (span, part)) in parts.iter().enumerate() {
            if at > 0 {
                let (prev, before) = &parts[at - 1];
                let gap = match before {
                    Part::Stmt(stmt) if !matches!(part, Part::Checks(_)) => {
                        self.gap_behind(*stmt, false)
                    }
                    _ => Gap::None,
                };
                self.gap(gap, prev.end, span.start);
            }
            if matches!(part, Part::Checks(_)) {
                self.end_block();
            }
            // A signature that was moved to the front has no item behind it.
            let next = parts[at + 1..].iter().map(|(next, _)| next.start).find(|it| *it > span.end);
            let is_flat = match part {
                Part::Stmt(stmt) => self.layout.is_flat_stmt(self.module, *stmt),
                Part::Signature(it) => it.value.is_none_or(|it| self.layout.is_flat(it)),
                Part::Doc(_) | Part::Mixins(_) | Part::Checks(_) => false,
            };
            let next = next.unwrap_or(limit);
            let item = Item { span: *span, next, is_flat, in_brackets: false };
            self.item(item, |this| this.part(part, *span));
        }
        self.indented_comments(limit, column);
        self.level -= 1;
    }

    fn part(&mut self, part: &Part<'_>, span: Span) {
        match part {
            Part::Doc(span) => self.verbatim(*span),
            Part::Mixins(mixins) => self.mixins(mixins),
            Part::Signature(signature) => self.index_signature(signature),
            Part::Stmt(stmt) => self.schema_item(*stmt),
            Part::Checks(checks) => {
                self.push("check:");
                self.set_aside(span.start);
                let first = checks.first().map_or(span.end, |first| first.span.start);
                self.end_of_line_comment(span.start, first);
                self.level += 1;
                self.checks(checks);
                self.indented_comments(self.limit, self.column(first));
                self.level -= 1;
            }
        }
    }

    fn mixins(&mut self, mixins: &[Path]) {
        self.push("mixin [");
        for (at, path) in mixins.iter().enumerate() {
            self.push(if at > 0 { "," } else { "" });
            self.indented(|this| {
                this.own_line_comments(path.span.start);
                this.newline();
                this.path(path);
            });
        }
        self.newline();
        self.push("]");
    }

    /// A list that stands alone is known from an index signature by its line break.
    fn schema_item(&mut self, stmt: StmtId) {
        let module = self.module;
        if let Stmt::Expr(exprs) = &module[stmt].kind
            && let [only] = exprs.as_slice()
        {
            match &module[*only].kind {
                Expr::List(items) if !items.is_empty() => return self.list_block(*only, items),
                Expr::ListComp { elt, generators } => {
                    self.push("[");
                    self.indented(|this| {
                        this.newline();
                        this.comprehension(*elt, generators);
                    });
                    self.newline();
                    return self.push("]");
                }
                _ => {}
            }
        }
        self.stmt(stmt);
    }

    fn index_signature(&mut self, signature: &IndexSignature) {
        self.push("[");
        if let Some(name) = signature.key_name {
            self.ident(name);
            self.push(": ");
        }
        if signature.any_other {
            self.push("...");
        }
        self.ty(signature.key_ty);
        self.push("]: ");
        self.ty(signature.value_ty);
        if let Some(value) = signature.value {
            self.push(" = ");
            self.expr(value);
        }
    }

    fn checks(&mut self, checks: &[Check]) {
        let limit = self.limit;
        for (at, check) in checks.iter().enumerate() {
            let next = checks.get(at + 1).map_or(limit, |next| next.span.start);
            let exprs = [Some(check.test), check.if_cond, check.msg];
            let is_flat = exprs.into_iter().flatten().all(|it| self.layout.is_flat(it));
            let item = Item { span: check.span, next, is_flat, in_brackets: false };
            self.item(item, |this| {
                this.condition(check.test, check.if_cond, check.msg);
            });
        }
    }

    pub(crate) fn rule(&mut self, id: StmtId, rule: &Rule) {
        self.decorators(&rule.decorators);
        let start = self.module[id].span.start;
        self.push("rule ");
        self.ident(rule.name);
        self.head(rule.params.as_ref(), &rule.parents, rule.for_host.as_ref());
        let limit = self.limit;
        let first = rule.checks.first().map_or(limit, |first| first.span.start);
        let body = rule.doc.as_ref().map_or(first, |doc| doc.span.start);
        let header = self.find_word(rule.name.span.end, body, ":").map_or(start, |colon| colon + 1);
        self.set_aside(header);
        self.end_of_line_comment(header, body);
        self.indented(|this| {
            if let Some(doc) = &rule.doc {
                let item = Item { span: doc.span, next: first, is_flat: false, in_brackets: false };
                this.item(item, |this| this.verbatim(doc.span));
            }
            this.checks(&rule.checks);
            this.indented_comments(limit, this.column(body));
        });
    }

    pub(crate) fn params(&mut self, params: &Params) {
        self.commas(&params.list, |this, param| {
            this.ident(param.name);
            if let Some(ty) = param.ty {
                this.push(": ");
                this.ty(ty);
            }
            if let Some(default) = param.default {
                this.push(" = ");
                this.expr(default);
            }
        });
    }
}
