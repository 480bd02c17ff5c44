//! What happens to a rank, as it is typed: `3=2.5` slows it down, `3=10us` ends it, `3=10us+20ms` stalls it.

use crate::errors::{ArgumentSyntaxError, SimulationError};
use evenkeel_schedule_sim::{Fault, VirtualTime};
use std::str::FromStr;

/// A rank, and what happens to it.
#[derive(Clone, Debug, PartialEq)]
pub struct RankFault {
    /// The rank.
    pub rank: u32,
    /// What happens to it.
    pub fault: Fault,
}

impl FromStr for RankFault {
    type Err = ArgumentSyntaxError;

    fn from_str(text: &str) -> Result<RankFault, ArgumentSyntaxError> {
        let wrong = || ArgumentSyntaxError::RankFault(text.into());
        let (rank, what) = text.split_once('=').ok_or_else(wrong)?;
        let rank = rank.parse().map_err(|_| wrong())?;
        let fault = match (what.split_once('+'), what.parse::<f64>()) {
            (Some((at, length)), _) => Fault::Stall { at: time(at)?, length: time(length)? },
            (None, Ok(factor)) if factor > 0.0 && factor.is_finite() => Fault::Slow(factor),
            (None, Ok(_)) => return Err(ArgumentSyntaxError::Factor(what.into())),
            (None, Err(_)) => Fault::Death(time(what)?),
        };
        Ok(RankFault { rank, fault })
    }
}

/// A time as it is typed: `10us`.
pub fn time(text: &str) -> Result<VirtualTime, ArgumentSyntaxError> {
    text.parse().map_err(|error: <VirtualTime as FromStr>::Err| ArgumentSyntaxError::Time(error.to_string()))
}

/// The faults of `--slow`, `--stall` and `--dead`. A fault that does not suit its option is refused.
pub fn collect(
    slow: &[RankFault],
    stall: &[RankFault],
    dead: &[RankFault],
) -> Result<Vec<(u32, Fault)>, SimulationError> {
    if !slow.iter().all(|given| matches!(given.fault, Fault::Slow(_))) {
        return Err(SimulationError::Fault("--slow takes a factor: 3=2.5"));
    }
    if !stall.iter().all(|given| matches!(given.fault, Fault::Stall { .. })) {
        return Err(SimulationError::Fault("--stall takes a beginning and a length: 3=10us+20ms"));
    }
    if !dead.iter().all(|given| matches!(given.fault, Fault::Death(_))) {
        return Err(SimulationError::Fault("--dead takes a time: 3=50us"));
    }
    Ok([slow, stall, dead].concat().iter().map(|given| (given.rank, given.fault)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_a_factor_a_time_or_a_time_with_a_length() {
        let fault = |text: &str| text.parse::<RankFault>().map(|given| (given.rank, given.fault));
        assert_eq!(fault("3=2.5"), Ok((3, Fault::Slow(2.5))));
        let stall = Fault::Stall { at: VirtualTime::from_ns(1e4), length: VirtualTime::from_ns(2e7) };
        assert_eq!(fault("3=10us+20ms"), Ok((3, stall)));
        assert_eq!(fault("3=10us"), Ok((3, Fault::Death(VirtualTime::from_ns(1e4)))));
        for wrong in ["3", "x=2", "3=0", "3=-1", "3=1us+"] {
            assert!(fault(wrong).is_err(), "{wrong}");
        }
    }
}
