//! `math`

use crate::signature::{Module, Param, Signature, optional, required};

const X: &[Param] = &[required("x", "int | float")];

pub(super) const MODULE: Module = Module {
    name: "math",
    doc: "Mathematical functions.",
    functions: &[
        Signature::new("ceil", X, "int", "Returns the smallest integer not below `x`."),
        Signature::new(
            "factorial",
            X,
            "int",
            "Returns the product of the integers from 1 to `x`; fails if `x` is negative or no \
             integer.",
        ),
        Signature::new("floor", X, "int", "Returns the largest integer not above `x`."),
        Signature::new(
            "gcd",
            &[required("a", "int"), required("b", "int")],
            "int",
            "Returns the greatest common divisor of two integers.",
        ),
        Signature::new("isfinite", X, "bool", "Tells whether `x` is neither infinite nor NaN."),
        Signature::new("isinf", X, "bool", "Tells whether `x` is infinite."),
        Signature::new("isnan", X, "bool", "Tells whether `x` is NaN (not a number)."),
        Signature::new(
            "modf",
            X,
            "[float]",
            "Returns the fraction and the integer part of `x`, both with its sign.",
        ),
        Signature::new("exp", X, "float", "Returns e to the power of `x`."),
        Signature::new(
            "expm1",
            X,
            "float",
            "Returns e to the power of `x`, minus 1, exact for small `x`, too.",
        ),
        Signature::new(
            "log",
            &[required("x", "int | float"), optional("e", "float")],
            "float",
            "Returns the logarithm of `x` to the base `e`, which is Euler's number if not \
             given.",
        ),
        Signature::new(
            "log1p",
            X,
            "float",
            "Returns the natural logarithm of `x` plus 2, as the reference computes it.",
        ),
        Signature::new("log2", X, "float", "Returns the logarithm of `x` to base 2."),
        Signature::new("log10", X, "float", "Returns the logarithm of `x` to base 10."),
        Signature::new(
            "pow",
            &[required("x", "int | float"), required("y", "int | float")],
            "float",
            "Returns `x` to the power of `y`.",
        ),
        Signature::new("sqrt", X, "float", "Returns the square root of `x`."),
    ],
    constants: &[],
};
