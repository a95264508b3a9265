//! `units`

use crate::signature::{Constant, Module, Param, Signature, required};

const NUM: &[Param] = &[required("num", "int | float")];

const fn constant(name: &'static str, doc: &'static str) -> Constant {
    Constant { name, ty: "int", doc }
}

pub(super) const MODULE: Module = Module {
    name: "units",
    doc: "Units of numbers and conversions to them.",
    functions: &[
        Signature::new("to_n", NUM, "str", "Writes a number in units of 10^-9, `1n`."),
        Signature::new("to_u", NUM, "str", "Writes a number in units of 10^-6, `1u`."),
        Signature::new("to_m", NUM, "str", "Writes a number in units of 10^-3, `1m`."),
        Signature::new("to_K", NUM, "str", "Writes a number in units of 10^3, `1K`."),
        Signature::new("to_M", NUM, "str", "Writes a number in units of 10^6, `1M`."),
        Signature::new("to_G", NUM, "str", "Writes a number in units of 10^9, `1G`."),
        Signature::new("to_T", NUM, "str", "Writes a number in units of 10^12, `1T`."),
        Signature::new("to_P", NUM, "str", "Writes a number in units of 10^15, `1P`."),
        Signature::new("to_Ki", NUM, "str", "Writes a number in units of 2^10, `1Ki`."),
        Signature::new("to_Mi", NUM, "str", "Writes a number in units of 2^20, `1Mi`."),
        Signature::new("to_Gi", NUM, "str", "Writes a number in units of 2^30, `1Gi`."),
        Signature::new("to_Ti", NUM, "str", "Writes a number in units of 2^40, `1Ti`."),
        Signature::new("to_Pi", NUM, "str", "Writes a number in units of 2^50, `1Pi`."),
    ],
    constants: &[
        constant("n", "Nano, 10^-9."),
        constant("u", "Micro, 10^-6."),
        constant("m", "Milli, 10^-3."),
        constant("k", "Kilo, 10^3."),
        constant("K", "Kilo, 10^3."),
        constant("M", "Mega, 10^6."),
        constant("G", "Giga, 10^9."),
        constant("T", "Tera, 10^12."),
        constant("P", "Peta, 10^15."),
        constant("Ki", "Kibi, 2^10."),
        constant("Mi", "Mebi, 2^20."),
        constant("Gi", "Gibi, 2^30."),
        constant("Ti", "Tebi, 2^40."),
        constant("Pi", "Pebi, 2^50."),
        Constant {
            name: "NumberMultiplier",
            ty: "any",
            doc: "The type of numbers with a unit, `1Ki`.",
        },
    ],
};
