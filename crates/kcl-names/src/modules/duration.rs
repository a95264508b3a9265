//! `duration`

use crate::signature::{Module, Param, Signature, required};

const N: &[Param] = &[required("n", "float")];
const D: &[Param] = &[required("d", "str")];
const TWO: &[Param] = &[required("a", "str"), required("b", "str")];
const AT: &[Param] = &[required("dt", "str"), required("d", "str")];

pub(super) const MODULE: Module = Module {
    name: "duration",
    doc: "Lengths of time as text like `1h30m`, in days, hours, minutes and seconds.",
    functions: &[
        Signature::new("second", N, "str", "Returns the duration of `n` seconds."),
        Signature::new("minute", N, "str", "Returns the duration of `n` minutes."),
        Signature::new("hour", N, "str", "Returns the duration of `n` hours."),
        Signature::new("day", N, "str", "Returns the duration of `n` days."),
        Signature::new("to_seconds", D, "float", "Returns the number of seconds of a duration."),
        Signature::new("from_seconds", N, "str", "Returns the duration of `n` seconds."),
        Signature::new(
            "parse",
            D,
            "str",
            "Returns a duration in its usual form, `1m` for `60s`; fails if it is none.",
        ),
        Signature::new("is_valid", D, "bool", "Tells whether a text is a duration."),
        Signature::new("add", TWO, "str", "Returns the sum of two durations."),
        Signature::new(
            "sub",
            TWO,
            "str",
            "Returns the difference of two durations; fails if the second is longer.",
        ),
        Signature::new(
            "add_to_datetime",
            AT,
            "str",
            "Returns the time that is a duration after a time, both as RFC 3339 has it.",
        ),
        Signature::new(
            "sub_from_datetime",
            AT,
            "str",
            "Returns the time that is a duration before a time, both as RFC 3339 has it.",
        ),
    ],
    constants: &[],
};
