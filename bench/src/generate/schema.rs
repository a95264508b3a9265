//! Schema instances, unions, overlays, nesting.

use std::fmt::Write as _;

type Sources = (String, Option<String>);

const SCHEMAS: &str = r#"schema Owner:
    team: str
    mail: str = "${team}@corp.test"

schema Quota:
    cores: int = 2
    gigabytes: int = 4

    check:
        cores >= 1, "at least one core"
        gigabytes >= cores, "at least a gigabyte a core"

schema Resource:
    id: str
    owner: Owner
    stage: "dev" | "prod" = "dev"
    notes: {str:str} = {}

schema Database(Resource):
    engine: str = "postgres"
    port: int = 5432
    quota: Quota = Quota {}
    replicas: [str] = []
    address: str = "${engine}://${id}:${port}"

    check:
        1024 <= port <= 65535, "port ${port} is not for users"
        len(id) > 2 if id
        all r in replicas { r != id }
"#;

const OBJECTS: &str = r"local Owner = { local o = self, team: error 'team', mail: o.team + '@corp.test' };
local Quota = { cores: 2, gigabytes: 4, assert self.cores >= 1, assert self.gigabytes >= self.cores };
local Resource = { id: error 'id', owner: error 'owner', stage: 'dev', notes: {} };
local Database = Resource {
  local d = self,
  engine: 'postgres', port: 5432, quota: Quota, replicas: [],
  address: '%s://%s:%d' % [d.engine, d.id, d.port],
  assert self.port >= 1024 && self.port <= 65535,
  assert std.length(self.id) > 2,
  assert std.all([r != d.id for r in d.replicas]),
};
";

/// `n` instances made by a comprehension: inheritance, defaults, inner schemas, checks.
pub(super) fn instances(n: usize) -> Sources {
    let kcl = format!(
        "{SCHEMAS}
databases = [Database {{
    id = \"db-${{i}}\"
    owner.team = \"team-${{i % 12}}\"
    stage = \"prod\" if i % 4 == 0 else \"dev\"
    notes = {{shard = \"s${{i % 8}}\", made = \"y${{2000 + i % 25}}\"}}
    port = 5000 + i % 500
    quota = {{cores = i % 4 + 1, gigabytes = 16}}
    replicas = [\"db-${{i}}-a\", \"db-${{i}}-b\"]
}} for i in range({n})]
"
    );
    let jsonnet = format!(
        "{OBJECTS}{{ databases: [Database {{
  id: 'db-' + i, owner: Owner {{ team: 'team-' + (i % 12) }},
  stage: if i % 4 == 0 then 'prod' else 'dev',
  notes: {{ shard: 's' + (i % 8), made: 'y' + (2000 + i % 25) }}, port: 5000 + i % 500,
  quota+: {{ cores: i % 4 + 1, gigabytes: 16 }}, replicas: ['db-%d-a' % i, 'db-%d-b' % i],
}} for i in std.range(0, {n} - 1)] }}\n"
    );
    (kcl, Some(jsonnet))
}

/// The same instances, each written out.
pub(super) fn literals(n: usize) -> Sources {
    let (mut kcl, mut jsonnet) = (String::from(SCHEMAS), String::from(OBJECTS));
    kcl.push_str("\ndatabases = [\n");
    jsonnet.push_str("{ databases: [\n");
    for i in 0..n {
        let (team, stage) = (i % 12, if i % 4 == 0 { "prod" } else { "dev" });
        let (shard, year, port, cores) = (i % 8, 2000 + i % 25, 5000 + i % 500, i % 4 + 1);
        let _ = writeln!(
            kcl,
            "    Database {{
        id = \"db-{i}\"
        owner.team = \"team-{team}\"
        stage = \"{stage}\"
        notes = {{shard = \"s{shard}\", made = \"y{year}\"}}
        port = {port}
        quota = {{cores = {cores}, gigabytes = 16}}
        replicas = [\"db-{i}-a\", \"db-{i}-b\"]
    }}"
        );
        let _ = writeln!(
            jsonnet,
            "  Database {{ id: 'db-{i}', owner: Owner {{ team: 'team-{team}' }}, stage: '{stage}',
    notes: {{ shard: 's{shard}', made: 'y{year}' }}, port: {port},
    quota+: {{ cores: {cores}, gigabytes: 16 }}, replicas: ['db-{i}-a', 'db-{i}-b'] }},"
        );
    }
    kcl.push_str("]\n");
    jsonnet.push_str("] }\n");
    (kcl, Some(jsonnet))
}

/// `n` unions over one base, all kept.
pub(super) fn unions(n: usize) -> Sources {
    let kcl = format!(
        "_site = {{
    title = \"site\"
    style = {{font = \"serif\", size = 12, colours = {{text = \"black\", page = \"white\"}}}}
    menu = {{home = \"/\", about = \"/about\", help = \"/help\"}}
}}
sites = [_site | {{
    title = \"site ${{i}}\"
    style = {{size = 10 + i % 8, colours = {{accent = \"c${{i % 16}}\"}}}}
    menu = {{\"page${{i}}\" = \"/p/${{i}}\"}}
}} for i in range({n})]
"
    );
    let jsonnet = format!(
        "local site = {{ title: 'site', style: {{ font: 'serif', size: 12,
  colours: {{ text: 'black', page: 'white' }} }},
  menu: {{ home: '/', about: '/about', help: '/help' }} }};
{{ sites: [site + {{ title: 'site ' + i,
  style+: {{ size: 10 + i % 8, colours+: {{ accent: 'c' + (i % 16) }} }},
  menu+: {{ ['page' + i]: '/p/' + i }} }} for i in std.range(0, {n} - 1)] }}\n"
    );
    (kcl, Some(jsonnet))
}

/// One config in `n` blocks.
pub(super) fn overlays(n: usize) -> Sources {
    let mut kcl = String::from(
        "schema Limits:\n    table: {str:int} = {}\n    strict: bool = True\n
schema Section:\n    limits: Limits = Limits {}\n    tags: {str:str} = {}\n
schema Settings:\n    section: Section = Section {}\n    words: {str:str} = {}\n    last?: int\n",
    );
    let mut jsonnet = String::from(
        "local base = { section: { limits: { table: {}, strict: true }, tags: {} }, words: {} };\n\
         { settings: base\n",
    );
    for i in 0..n {
        let tag = i % 40;
        let _ = write!(
            kcl,
            "\nsettings: Settings {{
    section: {{limits: {{table: {{t{i} = {i}}}}}, tags: {{g{tag} = \"on\"}}}}
    words: {{w{i} = \"word {i}\"}}
}}
"
        );
        let _ = writeln!(
            jsonnet,
            "  + {{ section+: {{ limits+: {{ table+: {{ t{i}: {i} }} }}, tags+: {{ g{tag}: 'on' }} \
             }}, words+: {{ w{i}: 'word {i}' }} }}"
        );
    }
    jsonnet.push_str("}\n");
    (kcl, Some(jsonnet))
}

/// A chain of `n` instances, one inside the other.
pub(super) fn nested(n: usize) -> Sources {
    let kcl = format!(
        "schema Folder:
    title: str
    items?: [str]
    inner?: any

_folder = lambda level: int -> Folder {{
    _inner = _folder(level + 1) if level < {n} else None
    Folder {{title = \"level {{}}\".format(level), items = [\"x\", \"y\"], inner = _inner}}
}}

root = _folder(0)
"
    );
    let jsonnet = format!(
        "local folder(level) = {{ title: 'level %d' % level, items: ['x', 'y'],
  inner: if level < {n} then folder(level + 1) else null }};
{{ root: folder(0) }}\n"
    );
    (kcl, Some(jsonnet))
}
