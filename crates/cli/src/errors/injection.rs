//! A run cannot be disturbed as `--inject` asks.

use thiserror::Error;

/// Why injections cannot be made.
#[derive(Debug, Error)]
pub enum InjectionError {
    /// Two injections of one kind.
    #[error("cannot inject {kind} twice into one run. Give --inject {kind} once.")]
    Twice {
        /// The name of the injection.
        kind: &'static str,
    },

    /// The system does not allow it, or the machine cannot do it.
    #[error("cannot inject {injection}: {why}. Leave that --inject out, or inject something else.")]
    Refused {
        /// As given to `--inject`.
        injection: String,
        /// What is in the way.
        why: String,
    },

    /// No control group could be made.
    #[error(
        "cannot inject a CPU quota: {why}. Making control groups takes root, or a group that is delegated to \
         you; under systemd, `systemd-run --user --scope -p CPUQuota=50% evenkeel run ...` without --inject \
         quota does the same."
    )]
    Quota {
        /// What was tried, and what the system says.
        why: String,
    },
}

/// Why a value of `--inject` cannot be read.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum InjectionSyntaxError {
    /// The word before `=`.
    #[error("`{0}` is not known: there are competitors=N, doubled, stalls=exp:10ms/100ms and quota=50%")]
    Unknown(String),
    /// A value is missing.
    #[error("{0} needs a value: there are competitors=N, doubled, stalls=exp:10ms/100ms and quota=50%")]
    NoValue(String),
    /// `competitors` with something else than a number.
    #[error("competitors takes the number of threads on each core, 1 to 1000")]
    Competitors,
    /// `doubled` with a value.
    #[error("doubled takes no value")]
    Doubled,
    /// `quota` with something else than a share.
    #[error("quota takes a share of the cores' time: 1% to 100%")]
    Quota,
    /// `stalls` without an interval.
    #[error("stalls takes LENGTH/INTERVAL, for instance exp:10ms/100ms")]
    Stalls,
    /// A seed that is not a number.
    #[error("`{0}` is not a seed: it must be a whole number")]
    Seed(String),
    /// Something else than a list of ranks.
    #[error("`{0}` is not a list of ranks such as 0-3,8")]
    Ranks(String),
    /// Something else after the interval.
    #[error("`{0}` is not known: after LENGTH/INTERVAL stalls takes seed=N and ranks=LIST")]
    StallsOption(String),
    /// A distribution that is not known.
    #[error("`{0}` is not a distribution: there are exp, uniform and fixed")]
    Distribution(String),
    /// Not a number with a unit.
    #[error("`{0}` is not a duration such as 250us, 10ms or 1.5s")]
    Duration(String),
    /// Too short or too long.
    #[error("`{0}` is not between 10us and a day")]
    DurationRange(String),
}
