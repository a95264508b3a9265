//! The functions that expressions can call, with the types of their arguments and results.

use super::types::Ty;

/// One line for each overload: `receiver.name(arguments) result`. `A` and `B` stand for any type.
const SIGNATURES: &str = "\
size(string) int
size(bytes) int
size(list(A)) int
size(map(A,B)) int
string.size() int
bytes.size() int
list(A).size() int
map(A,B).size() int
string.contains(string) bool
string.startsWith(string) bool
string.endsWith(string) bool
string.matches(string) bool
matches(string,string) bool
int(int) int
int(uint) int
int(double) int
int(string) int
int(timestamp) int
int(duration) int
uint(int) uint
uint(uint) uint
uint(double) uint
uint(string) uint
double(int) double
double(uint) double
double(double) double
double(string) double
string(bool) string
string(int) string
string(uint) string
string(double) string
string(string) string
string(bytes) string
string(timestamp) string
string(duration) string
string(ip) string
string(cidr) string
string(url) string
bool(bool) bool
bool(string) bool
bytes(bytes) bytes
bytes(string) bytes
dyn(A) dyn
type(A) type
duration(string) duration
duration(int) duration
duration(duration) duration
timestamp(string) timestamp
timestamp(int) timestamp
timestamp(timestamp) timestamp
timestamp.getFullYear() int
timestamp.getFullYear(string) int
timestamp.getMonth() int
timestamp.getMonth(string) int
timestamp.getDate() int
timestamp.getDate(string) int
timestamp.getDayOfMonth() int
timestamp.getDayOfMonth(string) int
timestamp.getDayOfWeek() int
timestamp.getDayOfWeek(string) int
timestamp.getDayOfYear() int
timestamp.getDayOfYear(string) int
timestamp.getHours() int
timestamp.getHours(string) int
duration.getHours() int
timestamp.getMinutes() int
timestamp.getMinutes(string) int
duration.getMinutes() int
timestamp.getSeconds() int
timestamp.getSeconds(string) int
duration.getSeconds() int
timestamp.getMilliseconds() int
timestamp.getMilliseconds(string) int
duration.getMilliseconds() int
list(A).isSorted() bool
list(A).sum() A
list(A).min() A
list(A).max() A
list(A).indexOf(A) int
list(A).lastIndexOf(A) int
list(A).distinct() list(A)
list(A).flatten() list(dyn)
list(A).flatten(int) list(dyn)
list(A).slice(int,int) list(A)
list(A).sort() list(A)
list(A).reverse() list(A)
lists.range(int) list(int)
string.find(string) string
string.findAll(string) list(string)
string.findAll(string,int) list(string)
string.charAt(int) string
string.indexOf(string) int
string.indexOf(string,int) int
string.lastIndexOf(string) int
string.lastIndexOf(string,int) int
string.lowerAscii() string
string.upperAscii() string
string.replace(string,string) string
string.replace(string,string,int) string
string.split(string) list(string)
string.split(string,int) list(string)
string.substring(int) string
string.substring(int,int) string
string.trim() string
string.reverse() string
string.format(list(A)) string
strings.quote(string) string
list(string).join() string
list(string).join(string) string
url(string) url
isURL(string) bool
url.getScheme() string
url.getHost() string
url.getHostname() string
url.getPort() string
url.getEscapedPath() string
url.getQuery() map(string,list(string))
quantity(string) quantity
isQuantity(string) bool
quantity.isInteger() bool
quantity.asInteger() int
quantity.asApproximateFloat() double
quantity.sign() int
quantity.isGreaterThan(quantity) bool
quantity.isLessThan(quantity) bool
quantity.compareTo(quantity) int
quantity.add(quantity) quantity
quantity.add(int) quantity
quantity.sub(quantity) quantity
quantity.sub(int) quantity
ip(string) ip
isIP(string) bool
ip.isCanonical(string) bool
ip.family() int
ip.isUnspecified() bool
ip.isLoopback() bool
ip.isLinkLocalMulticast() bool
ip.isLinkLocalUnicast() bool
ip.isGlobalUnicast() bool
cidr(string) cidr
isCIDR(string) bool
cidr.containsIP(string) bool
cidr.containsIP(ip) bool
cidr.containsCIDR(string) bool
cidr.containsCIDR(cidr) bool
cidr.ip() ip
cidr.masked() cidr
cidr.prefixLength() int
semver(string) semver
semver(string,bool) semver
isSemver(string) bool
isSemver(string,bool) bool
semver.major() int
semver.minor() int
semver.patch() int
semver.isLessThan(semver) bool
semver.isGreaterThan(semver) bool
semver.compareTo(semver) int
format.validate(string) optional(list(string))
format.named(string) optional(format)
sets.contains(list(A),list(A)) bool
sets.equivalent(list(A),list(A)) bool
sets.intersects(list(A),list(A)) bool
optional(A).hasValue() bool
optional(A).value() A
optional(A).orValue(A) A
optional(A).or(optional(A)) optional(A)
optional.none() optional(dyn)
optional.of(A) optional(A)
optional.ofNonZeroValue(A) optional(A)
jsonpatch.escapeKey(string) string
authorizer.path(string) pathCheck
authorizer.group(string) groupCheck
authorizer.serviceAccount(string,string) authorizer
groupCheck.resource(string) resourceCheck
resourceCheck.subresource(string) resourceCheck
resourceCheck.namespace(string) resourceCheck
resourceCheck.name(string) resourceCheck
resourceCheck.check(string) decision
pathCheck.check(string) decision
decision.allowed() bool
decision.reason() string
decision.errored() bool
decision.error() string
";

/// Macros, which are functions if their arguments are not those of the macro.
const MACROS: [&str; 9] = [
    "all",
    "exists",
    "exists_one",
    "map",
    "filter",
    "optMap",
    "optFlatMap",
    "transformList",
    "transformMap",
];
/// Types whose functions exist in policies only.
const POLICY_ONLY: [&str; 6] =
    ["authorizer", "groupCheck", "resourceCheck", "pathCheck", "decision", "jsonpatch"];

/// One overload of a function.
pub(super) struct Signature {
    /// The name before the dot: a type, or one that has functions (`sets`).
    pub(super) receiver: Option<&'static str>,
    pub(super) arguments: Vec<&'static str>,
    pub(super) result: &'static str,
}

/// Returns whether a function of this name exists outside of policies.
pub(super) fn has(name: &str) -> bool {
    MACROS.contains(&name)
        || overloads(name)
            .iter()
            .any(|it| it.receiver.is_none_or(|receiver| !POLICY_ONLY.contains(&receiver)))
}

/// Returns the overloads of a function.
pub(super) fn overloads(name: &str) -> Vec<Signature> {
    SIGNATURES.lines().filter_map(|line| read(line, name)).collect()
}

fn read(line: &'static str, name: &str) -> Option<Signature> {
    let (call, result) = line.rsplit_once(' ')?;
    let open = call.rfind(&format!("{name}("))?;
    let before = &call[..open];
    let receiver = match before {
        "" => None,
        _ => Some(before.strip_suffix('.')?),
    };
    let inside = call[open + name.len() + 1..].strip_suffix(')')?;
    Some(Signature { receiver, arguments: split(inside), result })
}

/// Splits at the commas that are not inside of brackets.
fn split(text: &'static str) -> Vec<&'static str> {
    let mut parts = Vec::new();
    let (mut start, mut depth) = (0, 0);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            b',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if start < text.len() {
        parts.push(&text[start..]);
    }
    parts
}

/// Reads a type of the table.
pub(super) fn type_of<'t>(text: &'static str) -> Ty<'t> {
    if let Some((name, inside)) = text.strip_suffix(')').and_then(|it| it.split_once('(')) {
        let parts: Vec<Ty<'t>> = split(inside).into_iter().map(type_of).collect();
        return match (name, &parts[..]) {
            ("list", [item]) => Ty::List(Box::new(item.clone())),
            ("map", [key, value]) => Ty::Map(Box::new(key.clone()), Box::new(value.clone())),
            ("optional", [inner]) => Ty::Optional(Box::new(inner.clone())),
            _ => Ty::Dyn,
        };
    }
    match text {
        "bool" => Ty::Bool,
        "int" => Ty::Int,
        "uint" => Ty::Uint,
        "double" => Ty::Double,
        "string" => Ty::String,
        "bytes" => Ty::Bytes,
        "A" => Ty::Var(0),
        "B" => Ty::Var(1),
        "dyn" => Ty::Dyn,
        name => Ty::Opaque(name),
    }
}
