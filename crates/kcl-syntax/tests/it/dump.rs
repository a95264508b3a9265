//! Trees as one-line texts, for comparisons.

use kcl_syntax::ast::{
    Call, Check, CompClause, ConfigEntry, ConfigOp, Expr, ExprId, Keyword, LiteralType,
    MemberOrIndex, Module, Number, Params, Path, Stmt, StmtId, StringPart, Subscript, Target, Type,
    TypeId,
};

/// The statements of a module, one on a line.
pub(crate) fn module(m: &Module) -> String {
    let doc = m.doc.iter().map(|doc| format!("(doc {:?})", doc.value));
    doc.chain(m.body.iter().map(|s| stmt(m, *s))).collect::<Vec<_>>().join("\n")
}

fn join<T>(items: impl IntoIterator<Item = T>, one: impl FnMut(T) -> String) -> String {
    items.into_iter().map(one).collect::<Vec<_>>().join(" ")
}

fn each<T>(items: impl IntoIterator<Item = T>, one: impl FnMut(T) -> String) -> String {
    items.into_iter().map(one).collect::<Vec<_>>().concat()
}

fn path(p: &Path) -> String {
    p.names.iter().map(|n| n.name.as_str()).collect::<Vec<_>>().join(".")
}

fn opt(m: &Module, label: &str, e: Option<ExprId>) -> String {
    e.map_or(String::new(), |e| format!(" {label} {}", expr(m, e)))
}

fn stmts(m: &Module, body: &[StmtId]) -> String {
    format!("[{}]", join(body, |s| stmt(m, *s)))
}

fn exprs(m: &Module, items: &[ExprId]) -> String {
    join(items, |e| expr(m, *e))
}

fn kwargs(m: &Module, items: &[Keyword]) -> String {
    each(items, |k| {
        format!(" {}={}", path(&k.arg), k.value.map_or("_".into(), |value| expr(m, value)))
    })
}

fn clauses(m: &Module, items: &[CompClause]) -> String {
    join(items, |c| {
        let targets = join(&c.targets, |t| t.name.to_string());
        let ifs: String = each(&c.ifs, |e| format!(" if {}", expr(m, *e)));
        format!("(for {targets} in {}{ifs})", expr(m, c.iter))
    })
}

fn entry(m: &Module, e: &ConfigEntry) -> String {
    let op = match e.op {
        ConfigOp::Union => ":",
        ConfigOp::Override => " =",
        ConfigOp::Insert => " +=",
    };
    match e.key {
        Some(key) => format!("{}{op} {}", expr(m, key), expr(m, e.value)),
        None if matches!(m[e.value].kind, Expr::ConfigIf { .. }) => expr(m, e.value),
        None => format!("**{}", expr(m, e.value)),
    }
}

fn entries(m: &Module, items: &[ConfigEntry]) -> String {
    let items: Vec<String> = items.iter().map(|e| entry(m, e)).collect();
    format!("{{{}}}", items.join(", "))
}

fn params(m: &Module, p: Option<&Params>) -> String {
    let Some(p) = p else { return "_".into() };
    let list = join(&p.list, |p| {
        let ty = p.ty.map_or(String::new(), |t| format!(":{}", ty(m, t)));
        let default = p.default.map_or(String::new(), |e| format!("={}", expr(m, e)));
        format!("{}{ty}{default}", p.name.name)
    });
    format!("({list})")
}

fn number(n: Number) -> String {
    match n {
        Number::Int(value) => value.to_string(),
        Number::Float(value) => format!("{value:?}f"),
        Number::Unit { value, unit } => format!("{value}{}", unit.as_str()),
    }
}

fn subscript(m: &Module, s: &Subscript) -> String {
    let question = if s.has_question { "?" } else { "" };
    let value = expr(m, s.value);
    let part = |e: Option<ExprId>| e.map_or(String::new(), |e| expr(m, e));
    match s.index {
        Some(index) => format!("({question}[] {value} {})", expr(m, index)),
        None => {
            format!("({question}[:] {value} {}:{}:{})", part(s.lower), part(s.upper), part(s.step))
        }
    }
}

/// One expression.
pub(crate) fn expr(m: &Module, id: ExprId) -> String {
    match &m[id].kind {
        Expr::Ident(p) => path(p),
        Expr::Unary { op, operand } => format!("({op:?} {})", expr(m, *operand)),
        Expr::Binary { op, left, right } => {
            format!("({} {} {})", op.as_str(), expr(m, *left), expr(m, *right))
        }
        Expr::Compare { left, rest } => {
            let rest = join(rest, |(op, e)| format!("{} {}", op.as_str(), expr(m, *e)));
            format!("(cmp {} {rest})", expr(m, *left))
        }
        Expr::If { body, cond, orelse } => {
            format!("(if {} {} else {})", expr(m, *cond), expr(m, *body), expr(m, *orelse))
        }
        Expr::Selector { value, attr, has_question } => {
            let dot = if *has_question { "?." } else { "." };
            format!("({dot} {} {})", expr(m, *value), path(attr))
        }
        Expr::Call(call) => {
            let Call { func, args, kwargs: k } = &**call;
            let args: String = each(args, |a| format!(" {}", expr(m, *a)));
            format!("(call {}{args}{})", expr(m, *func), kwargs(m, k))
        }
        Expr::Paren(inner) => format!("(paren {})", expr(m, *inner)),
        Expr::Quant(q) => {
            let vars = join(&q.vars, |v| v.name.to_string());
            let cond = opt(m, "if", q.if_cond);
            format!("({:?} {vars} in {} {}{cond})", q.op, expr(m, q.target), expr(m, q.test))
        }
        Expr::List(items) => format!("[{}]", exprs(m, items)),
        Expr::ListIf { cond, items, orelse } => {
            format!("(if {} [{}]{})", expr(m, *cond), exprs(m, items), opt(m, "else", *orelse))
        }
        Expr::ListComp { elt, generators } => {
            format!("[{} {}]", expr(m, *elt), clauses(m, generators))
        }
        Expr::Starred(value) => format!("(* {})", expr(m, *value)),
        Expr::DictComp { entry: e, generators } => {
            format!("{{{} {}}}", entry(m, e), clauses(m, generators))
        }
        Expr::ConfigIf { cond, items, orelse } => {
            format!("(if {} {}{})", expr(m, *cond), entries(m, items), opt(m, "else", *orelse))
        }
        Expr::Schema(s) => {
            let args: String = each(&s.args, |a| format!(" {}", expr(m, *a)));
            format!("(new {}{args}{} {})", path(&s.name), kwargs(m, &s.kwargs), expr(m, s.config))
        }
        Expr::Config(items) => entries(m, items),
        Expr::Lambda(l) => {
            let ret = l.return_ty.map_or(String::new(), |t| format!(" -> {}", ty(m, t)));
            format!("(lambda {}{ret} {})", params(m, l.params.as_ref()), stmts(m, &l.body))
        }
        Expr::Subscript(s) => subscript(m, s),
        Expr::Number(n) => number(*n),
        Expr::String(s) => format!("{:?}{}", s.value, if s.is_long { "L" } else { "" }),
        Expr::Constant(c) => c.as_str().into(),
        Expr::Joined(j) => {
            let parts = join(&j.parts, |p| match p {
                StringPart::Text(text) => format!("{text:?}"),
                StringPart::Formatted { value, spec } => {
                    format!("${{{}{}}}", expr(m, *value), spec.as_deref().unwrap_or(""))
                }
            });
            format!("(join{} {parts})", if j.is_long { "L" } else { "" })
        }
        Expr::Type(t) => ty(m, *t),
        Expr::Missing => "MISSING".into(),
    }
}

/// One type.
pub(crate) fn ty(m: &Module, id: TypeId) -> String {
    let part = |t: Option<TypeId>| t.map_or(String::new(), |t| ty(m, t));
    match &m[id].kind {
        Type::Any => "any".into(),
        Type::Basic(b) => format!("{b:?}").to_lowercase(),
        Type::List(item) => format!("[{}]", part(*item)),
        Type::Dict { key, value } => format!("{{{}:{}}}", part(*key), part(*value)),
        Type::Union(members) => members.iter().map(|t| ty(m, *t)).collect::<Vec<_>>().join("|"),
        Type::Literal(l) => match l {
            LiteralType::Bool(b) => if *b { "True" } else { "False" }.into(),
            LiteralType::Int(i) => i.to_string(),
            LiteralType::Unit { value, unit } => format!("{value}{}", unit.as_str()),
            LiteralType::Float(f) => format!("{f:?}f"),
            LiteralType::Str(s) => format!("{s:?}"),
        },
        Type::Named(p) => format!("<{}>", path(p)),
        Type::Function { params, ret } => {
            let params = join(params.iter().flatten(), |t| ty(m, *t));
            format!("({params})->{}", part(*ret))
        }
        Type::Missing => "MISSING".into(),
    }
}

fn target(m: &Module, t: &Target) -> String {
    let steps: String = each(&t.paths, |step| match step {
        MemberOrIndex::Member(name) => format!(".{}", name.name),
        MemberOrIndex::Index(e) => format!("[{}]", expr(m, *e)),
    });
    format!("{}{steps}", t.name.name)
}

fn checks(m: &Module, items: &[Check]) -> String {
    join(items, |c| {
        let cond = opt(m, "if", c.if_cond);
        format!("(check {}{cond}{})", expr(m, c.test), opt(m, ",", c.msg))
    })
}

fn opt_path(label: &str, p: Option<&Path>) -> String {
    p.map_or(String::new(), |p| format!(" {label} {}", path(p)))
}

/// One statement.
pub(crate) fn stmt(m: &Module, id: StmtId) -> String {
    match &m[id].kind {
        Stmt::TypeAlias(a) => format!("(type {} {})", a.name.name, ty(m, a.ty)),
        Stmt::Expr(items) => format!("(expr {})", exprs(m, items)),
        Stmt::Unification(u) => format!("(unify {} {})", path(&u.target), expr(m, u.value)),
        Stmt::Assign(a) => {
            let annotated = a.ty.map_or(String::new(), |t| format!(":{}", ty(m, t)));
            let targets = join(&a.targets, |t| target(m, t));
            format!("(= {targets}{annotated} {})", expr(m, a.value))
        }
        Stmt::AugAssign(a) => {
            format!("({:?} {} {})", a.op, target(m, &a.target), expr(m, a.value))
        }
        Stmt::Assert(a) => {
            let cond = opt(m, "if", a.if_cond);
            format!("(assert {}{cond}{})", expr(m, a.test), opt(m, ",", a.msg))
        }
        Stmt::If(i) => {
            format!("(if {} {} {})", expr(m, i.cond), stmts(m, &i.body), stmts(m, &i.orelse))
        }
        Stmt::Import(i) => {
            let alias = i.asname.map_or(String::new(), |a| format!(" as {}", a.name));
            format!("(import {}{alias})", i.path.value)
        }
        Stmt::SchemaAttr(a) => {
            let question = if a.is_optional { "?" } else { "" };
            let op = a.op.map_or(String::new(), |op| format!(" {op:?}"));
            let decorators: String = each(&a.decorators, |d| format!("@{} ", expr(m, *d)));
            let value = opt(m, "", a.value);
            format!("(attr {decorators}{:?}{question} {}{op}{value})", a.name.name, ty(m, a.ty))
        }
        Stmt::Schema(s) => {
            let decorators: String = each(&s.decorators, |d| format!("@{} ", expr(m, *d)));
            let doc = s.doc.as_ref().map_or(String::new(), |d| format!(" doc {:?}", d.value));
            let mixins: String = each(&s.mixins, |p| format!(" mixin {}", path(p)));
            let signature = s.index_signature.as_ref().map_or(String::new(), |i| {
                let name = i.key_name.map_or(String::new(), |n| format!("{}: ", n.name));
                let dots = if i.any_other { "..." } else { "" };
                let value = opt(m, "=", i.value);
                format!(" [{name}{dots}{}]: {}{value}", ty(m, i.key_ty), ty(m, i.value_ty))
            });
            format!(
                "({decorators}{:?} {}{}{}{doc} {}{mixins}{signature} {} [{}])",
                s.kind,
                s.name.name,
                opt_path("<-", s.parent.as_ref()),
                opt_path("for", s.for_host.as_ref()),
                params(m, s.params.as_ref()),
                stmts(m, &s.body),
                checks(m, &s.checks)
            )
        }
        Stmt::Rule(r) => {
            let decorators: String = each(&r.decorators, |d| format!("@{} ", expr(m, *d)));
            let doc = r.doc.as_ref().map_or(String::new(), |d| format!(" doc {:?}", d.value));
            let parents: String = each(&r.parents, |p| format!(" <- {}", path(p)));
            let host = opt_path("for", r.for_host.as_ref());
            format!(
                "({decorators}rule {}{parents}{host}{doc} {} [{}])",
                r.name.name,
                params(m, r.params.as_ref()),
                checks(m, &r.checks)
            )
        }
    }
}
