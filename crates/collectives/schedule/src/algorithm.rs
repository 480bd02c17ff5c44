//! An algorithm: its description, its parameters, and the functions that generate its steps.

use crate::collective::{Collective, CombiningOrder};
use crate::problem::{MAX_PARAMETERS, ParameterValues, Problem};
use crate::resources::Resources;
use crate::round::Round;
use crate::step::Rank;

/// An algorithm for one collective. Facts that follow from its steps are computed, not stated here.
pub struct Algorithm {
    /// The name on command lines and in files: `n-way-dissemination`.
    pub name: &'static str,
    /// The collective that it performs.
    pub collective: Collective,
    /// The order in which it combines contributions.
    pub order: CombiningOrder,
    /// One sentence that says how it works.
    pub about: &'static str,
    /// The publication that describes it.
    pub source: &'static str,
    /// Its cost in the symbols of the models, as the source or the field gives it: L latency, o overhead,
    /// g gap, P ranks, M bytes, G gap per byte.
    pub cost: &'static str,
    /// The parameters that a user may set, at most [`MAX_PARAMETERS`].
    pub parameters: &'static [Parameter],
    /// The resources and the number of rounds, equal for all ranks. A rank may have no steps in some
    /// rounds.
    pub resources: fn(&Problem) -> Resources,
    /// Appends the steps of one round of one rank. Its time is proportional to their number or, where it
    /// has to walk down a tree, to the depth of the tree.
    pub round: fn(&Problem, Rank, u32, &mut Round),
}

impl Algorithm {
    /// The default values of the parameters; 0 where there is no parameter.
    pub fn default_values(&self) -> ParameterValues {
        let mut values = [0; MAX_PARAMETERS];
        for (value, parameter) in values.iter_mut().zip(self.parameters) {
            *value = parameter.default;
        }
        values
    }
}

impl std::fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{} ({})", self.name, self.collective.name())
    }
}

/// A number, or a choice between names, that an algorithm takes.
#[derive(Debug)]
pub struct Parameter {
    /// The name on command lines and in schedule names.
    pub name: &'static str,
    /// The value if the user sets none.
    pub default: u32,
    /// The smallest permitted value.
    pub min: u32,
    /// The largest permitted value.
    pub max: u32,
    /// The names of the values from `min` on, if the values are choices. Empty for numbers.
    pub choices: &'static [&'static str],
    /// What the parameter means.
    pub about: &'static str,
}

impl Parameter {
    /// The value that a word stands for: a number or the name of a choice.
    pub fn parse(&self, word: &str) -> Option<u32> {
        match self.choices.iter().position(|c| *c == word) {
            Some(i) => Some(self.min + i as u32),
            None if self.choices.is_empty() => word.parse().ok(),
            None => None,
        }
    }

    /// A value as a user types it.
    pub fn show(&self, value: u32) -> String {
        match self.choices.get(value.wrapping_sub(self.min) as usize) {
            Some(name) => (*name).to_string(),
            None => value.to_string(),
        }
    }

    /// The permitted values: `1..64`, `multicast|binomial`.
    pub fn range(&self) -> String {
        match self.choices {
            [] if self.max == u32::MAX => format!("{} or more", self.min),
            [] => format!("{}..{}", self.min, self.max),
            choices => choices.join("|"),
        }
    }
}
