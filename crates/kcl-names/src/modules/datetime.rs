//! `datetime`

use crate::signature::{Module, Signature, optional, required};

pub(super) const MODULE: Module = Module {
    name: "datetime",
    doc: "Dates and times.",
    functions: &[
        Signature::new("ticks", &[], "float", "Returns the seconds since the Unix epoch."),
        Signature::new("date", &[], "str", "Returns the local time as `%Y-%m-%d %H:%M:%S`."),
        Signature::new(
            "now",
            &[optional("format", "str"), optional("ticks", "float")],
            "str",
            "Returns the local time, or the time `ticks` seconds after the Unix epoch, in the \
             given format, which is `%a %b %d %H:%M:%S %Y` unless given.",
        ),
        Signature::new(
            "today",
            &[],
            "str",
            "Returns the local time as `%Y-%m-%d %H:%M:%S`, then a point and the seconds since \
             the Unix epoch.",
        ),
        Signature::new(
            "validate",
            &[required("date", "str"), required("format", "str")],
            "bool",
            "Tells whether a text is a date, a time or both in the given format.",
        ),
        Signature::new(
            "is_rfc3339",
            &[required("date", "str")],
            "bool",
            "Tells whether a text is a date and time as RFC 3339 has it.",
        ),
        Signature::new(
            "is_iso8601",
            &[required("date", "str")],
            "bool",
            "Tells whether a text is a date and time, or a duration like `P1DT2H`, as ISO 8601 \
             has it.",
        ),
    ],
    constants: &[],
};
