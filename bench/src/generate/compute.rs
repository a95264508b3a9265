//! Recursion, comprehensions, string work, many keys.

type Sources = (String, Option<String>);

/// The `n`-th Fibonacci number, by plain recursion.
pub(super) fn fib(n: usize) -> Sources {
    let kcl = format!(
        "_fib = lambda i: int -> int {{\n    i if i < 2 else _fib(i - 2) + _fib(i - 1)\n}}\n\
         number = _fib({n})\n"
    );
    let jsonnet = format!(
        "local fib(i) = if i < 2 then i else fib(i - 2) + fib(i - 1);\n{{ number: fib({n}) }}\n"
    );
    (kcl, Some(jsonnet))
}

/// Comprehensions, filters and lambdas over `n` items, the inner ones 50 times.
pub(super) fn comprehensions(n: usize) -> Sources {
    let kcl = format!(
        "_scale = lambda x: int -> int {{\n    x * 3 + 1\n}}\n\
         _grid = [i * 50 + j for i in range({n}) for j in range(50) if (i + 2 * j) % 5 != 0]\n\
         _scaled = [_scale(i) for i in range({n})]\n\
         odd = len([x for x in _grid if x % 2 == 1])\n\
         total = sum(_grid)\n\
         largest = max(_scaled)\n\
         names = {{\"item-${{i}}\" = _scaled[i] % 1000 for i in range({n})}}\n\
         small = filter x in _scaled {{\n    x % 7 == 0\n}}\n\
         fine = all x in _grid {{\n    x >= 0\n}}\n"
    );
    let jsonnet = format!(
        "local scale(x) = x * 3 + 1;\nlocal upto = std.range(0, {n} - 1);\n\
         local grid = [i * 50 + j for i in upto for j in std.range(0, 49) if (i + 2 * j) % 5 != 0];\n\
         local scaled = [scale(i) for i in upto];\n{{\n  \
         odd: std.length([x for x in grid if x % 2 == 1]),\n  total: std.sum(grid),\n  \
         largest: std.foldl(std.max, scaled, 0),\n  \
         names: {{ ['item-' + i]: scaled[i] % 1000 for i in upto }},\n  \
         small: [x for x in scaled if x % 7 == 0],\n  fine: std.all([x >= 0 for x in grid]),\n}}\n"
    );
    (kcl, Some(jsonnet))
}

/// `n` rounds of formatting, replacing, splitting and joining.
pub(super) fn strings(n: usize) -> Sources {
    let kcl = format!(
        "_address = lambda i: int -> str {{\n    \
         _parts = \"node/{{}}/rack/{{}}\".format(i, i % 40).split(\"/\")\n    \
         _name = \"_\".join(_parts).replace(\"rack\", \"row\").capitalize()\n    \
         \"${{_name}}@cluster.test\".lower()\n}}\n\
         addresses = [_address(i) for i in range({n})]\n\
         size = len(\" \".join(addresses))\n\
         first_row = len([a for a in addresses if \"row_1@\" in a and a.startswith(\"node\")])\n"
    );
    let jsonnet = format!(
        "local address(i) =\n  local parts = std.split('node/%d/rack/%d' % [i, i % 40], '/');\n  \
         local name = std.strReplace(std.join('_', parts), 'rack', 'row');\n  \
         std.asciiLower(name + '@cluster.test');\n\
         local addresses = [address(i) for i in std.range(0, {n} - 1)];\n{{\n  \
         addresses: addresses,\n  size: std.length(std.join(' ', addresses)),\n  \
         first_row: std.length([a for a in addresses if std.length(std.findSubstr('row_1@', a)) > 0 \
         && std.startsWith(a, 'node')]),\n}}\n"
    );
    (kcl, Some(jsonnet))
}

/// A dict of `n` keys, each value from a call.
pub(super) fn keys(n: usize) -> Sources {
    let kcl = format!(
        "_pick = lambda x {{\n    min([x, 100])\n}}\n\
         table = {{\"key-${{i}}\": _pick(i) for i in range({n})}}\n"
    );
    let jsonnet = format!(
        "local pick(x) = std.min(x, 100);\n\
         {{ table: {{ ['key-' + i]: pick(i) for i in std.range(0, {n} - 1) }} }}\n"
    );
    (kcl, Some(jsonnet))
}
