//! The kinds of campaign and their inputs, by number.

use crate::{documents, format, generate, journal, mutate, sandbox, seeds};
use testkit::Rng;

/// What is fed with random input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Lexer, parser and printer, with damaged programs.
    Parse,
    /// The formatter, with programs that have comments.
    Format,
    /// The whole way from text to output, with generated and with damaged programs.
    Run,
    /// The store, with edited values.
    Journal,
    /// The sandbox, with sessions of HTTP requests of all kinds.
    Http,
    /// The sandbox, with sessions of patches.
    Patch,
    /// Readers of plan files, with damaged ones.
    Plan,
    /// Readers of settings and kubeconfigs, with damaged ones.
    Settings,
}

impl Kind {
    /// All kinds.
    pub(crate) const ALL: [Self; 8] = [
        Self::Parse,
        Self::Format,
        Self::Run,
        Self::Journal,
        Self::Http,
        Self::Patch,
        Self::Plan,
        Self::Settings,
    ];

    /// Returns whether inputs are programs.
    pub(crate) fn is_language(self) -> bool {
        matches!(self, Self::Parse | Self::Format | Self::Run)
    }

    /// Returns the extension of files with inputs.
    pub(crate) fn extension(self) -> &'static str {
        if self.is_language() { "k" } else { self.name() }
    }

    /// Counts the requests in a session; of a session of patches, the patches.
    pub(crate) fn requests(self, text: &str) -> u64 {
        match self {
            Self::Http => sandbox::requests(text).count() as u64,
            Self::Patch => {
                sandbox::requests(text).filter(|request| request.method == "PATCH").count() as u64
            }
            _ => 0,
        }
    }

    /// Finds a kind by the name of its command.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the name of its command.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Parse => "parse",
            Self::Format => "format",
            Self::Run => "run",
            Self::Journal => "journal",
            Self::Http => "http",
            Self::Patch => "patch",
            Self::Plan => "plan",
            Self::Settings => "settings",
        }
    }
}

/// The size of real programs that are damaged and run.
const MAX_RUN_BYTES: usize = 1000;

/// All inputs of a campaign. Input number `n` is the same in every process.
pub(crate) struct Inputs {
    kind: Kind,
    seed: u64,
    seeds: Vec<String>,
}

impl Inputs {
    /// Prepares the inputs of a campaign.
    pub(crate) fn new(kind: Kind, seed: u64) -> Self {
        let mut seeds = if kind.is_language() { seeds::load() } else { Vec::new() };
        if kind == Kind::Run {
            // Whole programs are run, so only small ones are of use.
            seeds.retain(|text| text.len() < MAX_RUN_BYTES);
        }
        Self { kind, seed, seeds }
    }

    /// Returns the number of programs that inputs are made from.
    pub(crate) fn n_seeds(&self) -> usize {
        self.seeds.len()
    }

    /// Makes input number `index`.
    pub(crate) fn make(&self, index: u64) -> String {
        let mut rng = Rng::new(self.seed, index);
        match self.kind {
            Kind::Parse => mutate::program(&mut rng, &self.seeds),
            Kind::Format => format::program(&mut rng, &self.seeds),
            Kind::Run if !self.seeds.is_empty() && rng.one_in(5) => {
                let text = rng.pick(&self.seeds).clone();
                if rng.one_in(4) { text } else { mutate::tokens(&mut rng, text) }
            }
            Kind::Run => generate::program(&mut rng),
            Kind::Journal => journal::script(&mut rng),
            Kind::Http => sandbox::http(&mut rng),
            Kind::Patch => sandbox::patch(&mut rng),
            Kind::Plan => documents::damaged_plan(&mut rng),
            Kind::Settings => documents::damaged_settings(&mut rng),
        }
    }
}
