//! The order of declarations is not part of the result.

use crate::outcome;
use properties::{Attributes, permutations};
use testkit::Rng;

const N_PROGRAMS: u64 = 60;

/// Writes random declarations in every order and compares what comes out.
fn check(seed: u64, write: fn(&Attributes, &[usize]) -> String) {
    for index in 0..N_PROGRAMS {
        let mut rng = Rng::new(seed, index);
        let n = 2 + rng.below(3);
        let attributes = Attributes::new(&mut rng, n);
        let orders = permutations(n);
        let first = write(&attributes, &orders[0]);
        let expected = outcome(&first);
        assert!(expected.is_ok(), "{expected:?}\n{first}");
        for order in &orders[1..] {
            let text = write(&attributes, order);
            assert_eq!(outcome(&text), expected, "\n{text}\n--- first was\n{first}");
        }
    }
}

#[test]
fn attributes_of_a_schema_may_stand_in_any_order() {
    check(1, Attributes::schema);
}

#[test]
fn attributes_may_be_split_between_base_and_derived_schema() {
    check(2, Attributes::inherited);
}

#[test]
fn globals_may_stand_in_any_order() {
    check(3, Attributes::globals);
}

#[test]
fn blocks_of_an_instance_may_stand_in_any_order() {
    check(4, Attributes::blocks);
}
