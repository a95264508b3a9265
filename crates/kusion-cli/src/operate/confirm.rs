//! How changes of a stack are confirmed.

use crate::arguments::ChangeArgs;
use crate::failure::Failure;
use crate::view::{Answer, View};
use kusion_engine::Stop;
use kusion_generate::{ConfirmSetting, Stack};

/// The confirmation that changes of a stack need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Confirmation {
    /// None: the command line has it.
    Given,
    /// The answer to a question.
    Question,
    /// The name of the stack, which the user types.
    Name(String),
}

impl Confirmation {
    /// Returns what the changes of a stack need. `--yes` does not confirm a stack that asks for its
    /// name.
    pub(super) fn of(stack: Option<&Stack>, args: &ChangeArgs) -> Self {
        let name = stack.and_then(|it| name_to_type(it, args));
        match (name, stack.and_then(|it| it.file.confirm)) {
            (Some(name), _) => Self::Name(name),
            (None, None) if !args.yes => Self::Question,
            (None, _) => Self::Given,
        }
    }
}

/// Returns the name of a stack that must be typed, because `stack.yaml` has `confirm: name` and the
/// command line does not have the name.
pub(crate) fn name_to_type(stack: &Stack, args: &ChangeArgs) -> Option<String> {
    stack.file.confirm.filter(|setting| *setting == ConfirmSetting::Name)?;
    let name = stack.qualified_name();
    (!args.confirm.contains(&name)).then_some(name)
}

/// Asks the user to type the name of a stack.
pub(crate) fn confirm_name(view: &View, name: &str, stop: &Stop) -> Result<(), Failure> {
    let missing = || Failure::NeedsName(name.to_owned());
    answered(view.ask_for_name(name, stop), stop, missing)
}

/// Asks a question.
pub(super) fn confirm(view: &View, question: &str, stop: &Stop) -> Result<(), Failure> {
    answered(view.ask(question, stop), stop, || Failure::NeedsYes)
}

fn answered(answer: Answer, stop: &Stop, no_terminal: impl Fn() -> Failure) -> Result<(), Failure> {
    match answer {
        Answer::Yes => Ok(()),
        Answer::No if stop.is_asked() => Err(Failure::Interrupted),
        Answer::No => Err(Failure::Declined),
        Answer::NoTerminal => Err(no_terminal()),
    }
}
