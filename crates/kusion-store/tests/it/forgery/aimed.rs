//! Edits with a purpose: an older state, another Spec, a secret in another place.

use super::bytes::{BOUND, HEAD, LINKED, Parts, parts};
use super::sample::Sample;

/// What is written: names and values; `None` removes.
type Writes = Vec<(String, Option<Vec<u8>>)>;

/// Lists the edits.
pub(super) fn edits(sample: &Sample) -> Vec<(String, Writes)> {
    let mut edits = Edits { sample, list: Vec::new() };
    edits.segments();
    edits.inside_of_segments();
    edits.copies("snapshot");
    edits.copies("spec");
    edits.copies("events");
    edits.leases();
    edits.metadata();
    edits.list
}

struct Edits<'a> {
    sample: &'a Sample,
    list: Vec<(String, Writes)>,
}

impl Edits<'_> {
    fn one(&mut self, what: &str, name: &str, value: Vec<u8>) {
        self.list.push((format!("{what}: {name}"), vec![(name.to_owned(), Some(value))]));
    }

    /// Edits of whole segments: order, gaps, ends, copies.
    fn segments(&mut self) {
        let names = self.sample.folder("log");
        // Only what is read after the newest snapshot, so that every edit counts.
        let last: Vec<String> = names.iter().rev().take(5).rev().cloned().collect();
        for pair in last.windows(2) {
            let [one, two] = pair else { continue };
            let (a, b) = (self.forge(one, two), self.forge(two, one));
            let writes = vec![(one.clone(), Some(b)), (two.clone(), Some(a))];
            self.list.push((format!("reordered: {one}"), writes));
            let copied = self.forge(one, two);
            self.one("the segment before it again", two, copied);
        }
        for name in &last {
            let (others, twin) = (self.sample.others(name), self.sample.twin(name));
            self.one("of another stack", name, resum(name, &others));
            self.one("of another store", name, twin);
        }
        for count in 1..4 {
            let cut = names.iter().rev().take(count).map(|it| (it.clone(), None)).collect();
            self.list.push((format!("without the last {count} segments"), cut));
        }
        for name in &last[..3] {
            self.list.push((format!("a gap: {name}"), vec![(name.clone(), None)]));
        }
        // With the lease from before these segments: an older state, but for one segment.
        let mut cut: Writes = names.iter().rev().take(2).map(|it| (it.clone(), None)).collect();
        cut.push((self.sample.lease(), Some(self.sample.earlier[&self.sample.lease()].clone())));
        self.list.push(("a cut end with an older lease".into(), cut));
        let end = names.last().expect("segments");
        let next = next_name(end);
        let doubled = self.forge(end, &next);
        self.one("a segment twice", &next, doubled);
    }

    /// Returns the value of one name under another one, with right numbers and checksums.
    fn forge(&self, from: &str, to: &str) -> Vec<u8> {
        let mut parts = self.parts(from);
        if let Some(first) = to.rsplit('/').next().and_then(|it| it.parse::<u64>().ok()) {
            parts.head[16..24].copy_from_slice(&first.to_le_bytes());
            for (number, frame) in (first..).zip(&mut parts.frames) {
                frame.0 = number;
            }
        }
        parts.join(to)
    }

    fn parts(&self, name: &str) -> Parts {
        parts(&self.sample.value(name)).expect("follows the format")
    }

    /// Edits of records and headers, with right checksums.
    fn inside_of_segments(&mut self) {
        let names = self.sample.folder("log");
        let many = names.iter().rev().find(|it| self.parts(it).frames.len() > 1);
        let name = many.expect("a segment with several records").clone();
        let whole = self.parts(&name);
        let edit = |change: &dyn Fn(&mut Parts)| {
            let mut parts = whole.clone();
            change(&mut parts);
            parts.join(&name)
        };
        let text = |parts: &mut Parts, from: &str, to: &str| {
            for (_, payload) in &mut parts.frames {
                *payload = String::from_utf8_lossy(payload).replace(from, to).into_bytes();
            }
        };
        let changes: Vec<(&str, Vec<u8>)> = vec![
            (
                "records reordered",
                edit(&|it| {
                    let (a, b) = (it.frames[0].1.clone(), it.frames[1].1.clone());
                    (it.frames[0].1, it.frames[1].1) = (b, a);
                }),
            ),
            (
                "a record twice",
                edit(&|it| {
                    let (number, payload) = it.frames[it.frames.len() - 1].clone();
                    it.frames.push((number + 1, payload));
                }),
            ),
            ("a record less", edit(&|it| drop(it.frames.pop()))),
            (
                "sealed values swapped",
                edit(&|it| {
                    text(it, "AAAA", "XXXX");
                    text(it, "BBBB", "AAAA");
                    text(it, "XXXX", "BBBB");
                }),
            ),
            ("a sealed value as another field", edit(&|it| text(it, "\"two\"", "\"stolen\""))),
            ("another id", edit(&|it| text(it, "\"c\"", "\"d\""))),
            ("another time", edit(&|it| text(it, "\"time\":\"2", "\"time\":\"1"))),
            ("an older epoch", edit(&|it| it.head[24] -= 1)),
            ("a newer epoch", edit(&|it| it.head[24] += 1)),
            ("another writer", edit(&|it| it.head[40] ^= 1)),
            ("another first number", edit(&|it| it.head[16] += 1)),
            ("another kind", edit(&|it| it.head[8] = 2)),
            ("a fence", edit(&|it| *it = it.clone().with_flags(|flags| flags ^ 1))),
            ("another link", edit(&|it| it.link.fill(0))),
            (
                "no link",
                edit(&|it| {
                    it.link.clear();
                    *it = it.clone().with_flags(|flags| flags & !LINKED);
                }),
            ),
            (
                "not bound to the store",
                edit(&|it| {
                    *it = it.clone().with_flags(|flags| flags & !BOUND);
                }),
            ),
            ("without a key", edit(&|it| it.head[48..HEAD].fill(0))),
            ("of an unknown key", edit(&|it| it.head[48..56].fill(9))),
            ("without a code", edit(&|it| it.head[56..HEAD].fill(0))),
            ("an older format", edit(&|it| it.head[7] = 1)),
            ("a newer format", edit(&|it| it.head[7] = 3)),
        ];
        for (what, value) in changes {
            self.one(what, &name, value);
        }
    }

    /// One value in the place of another one of the same kind.
    fn copies(&mut self, folder: &str) {
        let names = self.sample.folder(folder);
        for pair in names.windows(2) {
            let [older, newer] = pair else { continue };
            let (down, up) = (self.forge(newer, older), self.forge(older, newer));
            self.one("an older one in a newer one's place", newer, up);
            self.one("a newer one in an older one's place", older, down);
        }
        let name = names.last().expect("values").clone();
        let (others, twin) = (self.sample.others_if(&name), self.sample.twin_if(&name));
        if let Some(others) = others {
            self.one("of another stack", &name, resum(&name, &others));
        }
        if let Some(twin) = twin {
            self.one("of another store", &name, twin);
        }
        if folder == "spec" {
            let before = self.sample.earlier[&name].clone();
            self.one("of an interrupted operation", &name, before);
            self.list.push((format!("removed: {name}"), vec![(name.clone(), None)]));
        }
        let mut changed = self.parts(&name);
        let payload = String::from_utf8_lossy(&changed.frames[0].1).replacen(':', ": ", 1);
        changed.frames[0].1 = payload.into_bytes();
        self.one("another text", &name, changed.join(&name));
    }

    fn leases(&mut self) {
        let name = self.sample.lease();
        self.one("of an earlier holder", &name, self.sample.earlier[&name].clone());
        self.one("of another stack", &name, resum(&name, &self.sample.others(&name)));
        self.one("of another store", &name, self.sample.twin(&name));
        self.list.push(("no lease".into(), vec![(name.clone(), None)]));
        let mut changed = self.parts(&name);
        let text = String::from_utf8_lossy(&changed.frames[0].1).replace("\"seq\":", "\"seq\":0");
        changed.frames[0].1 = text.into_bytes();
        self.one("another end of the journal", &name, changed.join(&name));
    }

    fn metadata(&mut self) {
        let name = "store";
        self.one("of another store", name, self.sample.twin(name));
        self.list.push(("no metadata".into(), vec![(name.into(), None)]));
        let edit = |from: &str, to: &str| {
            let mut parts = self.parts(name);
            let text = String::from_utf8_lossy(&parts.frames[0].1).replacen(from, to, 1);
            parts.frames[0].1 = text.into_bytes();
            parts
        };
        let lost = edit("\"created\"", "\"replaced\":[\"0909090909090909\"],\"created\"");
        let id = edit("\"id\":\"", "\"id\":\"0");
        let mut other = edit("\"key\":\"", "\"key\":\"0909090909090909\",\"was\":\"");
        other.head[48..56].fill(9);
        self.one("a lost key that never was", name, lost.join(name));
        self.one("another id", name, id.join(name));
        self.one("another key", name, other.join(name));
    }
}

fn resum(name: &str, value: &[u8]) -> Vec<u8> {
    super::bytes::resum(name, value)
}

/// Returns the name of the segment after a value's last record, roughly: any free number will do.
fn next_name(name: &str) -> String {
    let (folder, number) = name.rsplit_once('/').expect("a number");
    let number: u64 = number.parse().expect("a number");
    format!("{folder}/{:020}", number + 1)
}
