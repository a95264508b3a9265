//! Options that say what programs may use; all commands that run programs have them.

use crate::args::{Arity, Opt};
use kcl_driver::{Confinement, Plugins};
use std::str::FromStr;
use std::time::Duration;

/// One of the options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Confine {
    MaxSteps,
    MaxDepth,
    MaxMemory,
    MaxOutput,
    Timeout,
    NoIo,
    AllowIo,
    Plugin,
}

impl Confine {
    /// The option as a command knows it under its own key.
    pub(crate) const fn option<K: Copy>(self, key: K) -> Opt<K> {
        let (long, arity) = match self {
            Self::MaxSteps => ("max-steps", Arity::One),
            Self::MaxDepth => ("max-depth", Arity::One),
            Self::MaxMemory => ("max-memory", Arity::One),
            Self::MaxOutput => ("max-output", Arity::One),
            Self::Timeout => ("timeout", Arity::One),
            Self::NoIo => ("no-io", Arity::None),
            Self::AllowIo => ("allow-io", Arity::One),
            Self::Plugin => ("plugin", Arity::One),
        };
        Opt { key, short: None, long, arity }
    }

    /// Takes over what the command line says; the error is a message for the user.
    pub(crate) fn set(self, confinement: &mut Confinement, value: String) -> Result<(), String> {
        let limits = &mut confinement.limits;
        match self {
            Self::MaxSteps => limits.steps = number(&value)?,
            Self::MaxDepth => limits.depth = number(&value)?,
            Self::MaxMemory => limits.memory = number(&value)?,
            Self::MaxOutput => limits.output = number(&value)?,
            Self::Timeout => limits.time = Some(duration(&value)?),
            Self::NoIo => confinement.no_io = true,
            Self::AllowIo => confinement.allow_io.push(value),
            Self::Plugin => {
                confinement.plugins.add_option(&value).map_err(|error| error.to_string())?;
            }
        }
        Ok(())
    }
}

/// What programs may use if the command line says nothing: plugins of the user, and those of the
/// repository that the user trusts.
pub(crate) fn of_user() -> Confinement {
    Confinement { plugins: Plugins::of_user(), ..Confinement::default() }
}

fn number<T: FromStr>(value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("invalid number '{value}'"))
}

fn duration(value: &str) -> Result<Duration, String> {
    let unit = |suffix: &str, factor: f64| {
        let number: f64 = value.strip_suffix(suffix)?.parse().ok()?;
        Duration::try_from_secs_f64(number * factor).ok()
    };
    let units = [("ms", 1e-3), ("s", 1.0), ("m", 60.0)];
    units.iter().find_map(|(suffix, factor)| unit(suffix, *factor)).ok_or_else(|| {
        let expected = "expected a number and a unit, such as 30s";
        format!("invalid duration '{value}': {expected}")
    })
}
