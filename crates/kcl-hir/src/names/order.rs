//! In which order a name is looked for.
//!
//! Evaluator, tools and checker take the order from here. The checker follows it statement by
//! statement, as the reference's does, and therefore sees another definition than the evaluator
//! in these cases. No others are known; the test `names` of `tests/language` looks for them.
//!
//! 1. **Lambdas.** The checker does not tell a lambda from the code around it: it uses
//!    [`Place::TopLevel`] and [`Place::Schema`] only, and takes [`Layer::Locals`] for all blocks
//!    around. So in a schema an attribute comes before a lambda's parameters and variables.
//! 2. **Assignments.** A variable counts from its assignment on, even in the value: in
//!    `lambda { x = x + 1 }` the second `x` is the variable, not a global of that name. `x.a = 1`
//!    makes `x` a variable, too.
//! 3. **Defaults** of a lambda's parameters do not see the parameters.
//! 4. **Keys** inside an `if` of a config are seen up to its end only. Configs of one name that
//!    are taken together are one config: later entries see the keys of all earlier ones. A key
//!    with the name of a loop variable hides the variable from later entries, though it stands
//!    for the variable's value.
//! 5. **Loop variables** come before attributes only until the next block inside the loop ends
//!    ([`Blocks::is_loop_variable`](super::Blocks::is_loop_variable)). One that is a dotted name,
//!    which is an error, counts by its first part.
//! 6. **Attributes** that a body assigns to without declaring them, even in a lambda, count from
//!    there on; an attribute without a type counts only if nothing else has that name.
//! 7. **Dotted names.** An import does not come before attributes and keys.
//! 8. **Globals** count from their declaration on: aliases and schemas that stand further down are
//!    unknown to declarations of types above them.

/// Where code stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
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
pub enum Layer {
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
pub fn order(place: Place) -> &'static [Layer] {
    match place {
        Place::TopLevel => &[Layer::Locals, Layer::Globals],
        Place::Schema => &[Layer::Loops, Layer::Attributes, Layer::Locals, Layer::Globals],
        Place::Lambda => &[Layer::Locals, Layer::Captured, Layer::Globals],
        Place::LambdaInSchema => {
            &[Layer::Locals, Layer::Attributes, Layer::Captured, Layer::Globals]
        }
    }
}
