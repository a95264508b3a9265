//! In which order a name is looked for: by evaluator, tools and checker alike.

/// Where code stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A top-level statement.
    TopLevel,
    /// The body of a schema or rule.
    Schema,
    /// A lambda outside schemas.
    Lambda,
    /// A lambda in a schema.
    LambdaInSchema,
}

/// Where a name is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layer {
    /// The variables of comprehensions and quantifiers.
    Loops,
    /// The attributes of the schema: its own and those of bases and mixins.
    Attributes,
    /// Parameters, variables, loop variables and config keys, the innermost first.
    Locals,
    /// The locals of the code around a lambda.
    Captured,
    /// The globals of the package, then imports, then built-in functions
    /// ([`Program::global_meaning`](crate::Program::global_meaning)).
    Globals,
}

/// Returns where a name is looked for, the first place first.
pub(super) fn order(place: Place) -> &'static [Layer] {
    match place {
        Place::TopLevel => &[Layer::Locals, Layer::Globals],
        Place::Schema => &[Layer::Loops, Layer::Attributes, Layer::Locals, Layer::Globals],
        Place::Lambda => &[Layer::Locals, Layer::Captured, Layer::Globals],
        Place::LambdaInSchema => {
            &[Layer::Locals, Layer::Attributes, Layer::Captured, Layer::Globals]
        }
    }
}
