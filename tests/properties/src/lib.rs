//! Laws that every program obeys; the tests of this crate look for counterexamples.
