//! Feeds random input to the language and reports what breaks.

fn main() {}
