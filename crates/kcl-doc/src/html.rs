//! HTML: an index with a search field, and a page for each schema. Works without a network.

use crate::escape::html;
use crate::names::Names;
use crate::{AttributeDoc, Docs, IndexDoc, SchemaDoc, TypeDoc};
use std::fmt::Write as _;

/// One file of a site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Its name in the folder of the site.
    pub file: String,
    /// Its text.
    pub text: String,
}

const STYLE: &str = "\
body{font-family:system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;line-height:1.5}
table{border-collapse:collapse;width:100%}th,td{border:1px solid #8884;padding:.3rem .5rem;\
text-align:left;vertical-align:top}code,pre{background:#8881;border-radius:.2rem}\
code{padding:.1rem .25rem}pre{padding:.6rem;overflow:auto}input{width:100%;font-size:1rem;\
padding:.4rem;box-sizing:border-box}.old{text-decoration:line-through}.kind{color:#888}";

/// Shows the entries whose names or attributes have the words of the search field.
const SEARCH: &str = "\
const field=document.getElementById('search');field.addEventListener('input',()=>{\
const words=field.value.toLowerCase().split(/\\s+/).filter(Boolean);\
for(const item of document.querySelectorAll('li[data-words]')){\
item.hidden=!words.every(word=>item.dataset.words.includes(word));}});";

/// Writes a site: `index.html`, and a page for each schema.
pub fn write(docs: &Docs) -> Vec<Page> {
    let names = Names::new(docs);
    let site = Site { docs, names };
    let mut pages = vec![Page { file: "index.html".into(), text: site.index() }];
    pages.extend(docs.schemas().map(|schema| Page {
        file: site.file(&schema.package, &schema.name),
        text: site.schema(schema),
    }));
    pages
}

struct Site<'d> {
    docs: &'d Docs,
    names: Names<'d>,
}

impl Site<'_> {
    /// The file of a schema. Names are identifiers, so they are harmless as file names.
    fn file(&self, package: &str, name: &str) -> String {
        format!("schema-{}.html", self.names.name(package, name))
    }

    fn index(&self) -> String {
        let mut body = String::from(
            "<h1>Schemas</h1>\n<input id=\"search\" type=\"search\" placeholder=\"Search schemas and \
             attributes\" autofocus>\n",
        );
        for package in &self.docs.packages {
            let _ = writeln!(body, "<h2>Package {}</h2>\n<ul>", html(&package.path));
            for schema in &package.schemas {
                let mut words = schema.name.to_lowercase();
                for attribute in &schema.attributes {
                    words.push(' ');
                    words.push_str(&attribute.name.to_lowercase());
                }
                let _ = writeln!(
                    body,
                    "<li data-words=\"{}\"><a href=\"{}\">{}</a> <span class=\"kind\">{}</span> {}</li>",
                    html(&words),
                    self.file(&schema.package, &schema.name),
                    html(&schema.name),
                    schema.kind.as_str(),
                    html(schema.description.lines().next().unwrap_or_default()),
                );
            }
            body.push_str("</ul>\n");
        }
        let _ = writeln!(body, "<script>{SEARCH}</script>");
        page("Schemas", &body)
    }

    fn schema(&self, schema: &SchemaDoc) -> String {
        let name = html(&schema.name);
        let mut body = format!(
            "<p><a href=\"index.html\">All schemas</a></p>\n<h1>{name} <span class=\"kind\">{} of \
             package {}</span></h1>\n",
            schema.kind.as_str(),
            html(&schema.package),
        );
        if let Some(reason) = &schema.deprecated {
            let _ = writeln!(body, "<p><strong>Deprecated</strong> {}</p>", html(reason));
        }
        for paragraph in schema.description.split("\n\n").filter(|it| !it.is_empty()) {
            let _ = writeln!(body, "<p>{}</p>", html(paragraph));
        }
        if let Some((package, base)) = &schema.base {
            let _ = writeln!(body, "<p>Base: {}</p>", self.link(package, base));
        }
        if !schema.mixins.is_empty() {
            let mixins: Vec<String> =
                schema.mixins.iter().map(|(package, name)| self.link(package, name)).collect();
            let _ = writeln!(body, "<p>Mixins: {}</p>", mixins.join(", "));
        }
        self.attributes(&mut body, schema);
        if let Some(IndexDoc { key, value, .. }) = &schema.index_signature {
            let (key, value) = (self.ty(key), self.ty(value));
            let _ = writeln!(body, "<p>Further keys: {key} with values of type {value}</p>");
        }
        rules(&mut body, schema);
        if !schema.examples.is_empty() {
            let _ = writeln!(body, "<h2>Examples</h2>\n<pre>{}</pre>", html(&schema.examples));
        }
        page(&schema.name, &body)
    }

    fn attributes(&self, body: &mut String, schema: &SchemaDoc) {
        if schema.attributes.is_empty() {
            return;
        }
        body.push_str(
            "<h2>Attributes</h2>\n<table><tr><th>Name</th><th>Type</th><th>Required</th>\
             <th>Default</th><th>Description</th></tr>\n",
        );
        for attribute in schema.sorted() {
            let AttributeDoc { name, ty, default, description, deprecated, .. } = attribute;
            let class = if deprecated.is_some() { " class=\"old\"" } else { "" };
            let required = if attribute.is_optional || default.is_some() { "no" } else { "yes" };
            let default = default.as_deref().map(|it| format!("<code>{}</code>", html(it)));
            let reason = deprecated.as_deref().map(|it| format!(" Deprecated {}", html(it)));
            let _ = writeln!(
                body,
                "<tr id=\"{0}\"><td{class}><code>{0}</code></td><td>{1}</td><td>{required}</td>\
                 <td>{2}</td><td>{3}{4}</td></tr>",
                html(name),
                self.ty(ty),
                default.unwrap_or_default(),
                html(description).replace("\n\n", "<br><br>"),
                reason.unwrap_or_default(),
            );
        }
        body.push_str("</table>\n");
    }

    /// A type, with links to schemas.
    fn ty(&self, ty: &TypeDoc) -> String {
        match ty {
            TypeDoc::List(item) => format!("[{}]", self.ty(item)),
            TypeDoc::Dict(key, value) => format!("{{{}:{}}}", self.ty(key), self.ty(value)),
            TypeDoc::Union(types) => {
                types.iter().map(|ty| self.ty(ty)).collect::<Vec<_>>().join(" | ")
            }
            TypeDoc::Schema { package, name } => self.link(package, name),
            TypeDoc::StrLit(text) => format!("<code>\"{}\"</code>", html(text)),
            ty => format!("<code>{}</code>", html(&ty.to_string())),
        }
    }

    fn link(&self, package: &str, name: &str) -> String {
        let text = html(name);
        if self.docs.find(package, name).is_none() {
            return text;
        }
        format!("<a href=\"{}\">{text}</a>", self.file(package, name))
    }
}

fn rules(body: &mut String, schema: &SchemaDoc) {
    if schema.checks.is_empty() {
        return;
    }
    body.push_str("<h2>Rules</h2>\n<ul>\n");
    for check in &schema.checks {
        let _ = write!(body, "<li><code>{}</code>", html(&check.condition));
        if let Some(when) = &check.when {
            let _ = write!(body, " if <code>{}</code>", html(when));
        }
        if let Some(message) = &check.message {
            let _ = write!(body, ": {}", html(message));
        }
        body.push_str("</li>\n");
    }
    body.push_str("</ul>\n");
}

fn page(title: &str, body: &str) -> String {
    let title = html(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta \
         name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )
}
