//! The binary `kusion`.

fn main() {}
