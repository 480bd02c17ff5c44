//! Numbers of ranks as they are typed: `2,64,1000`, or `2..1024` by doubling.

use crate::errors::ArgumentSyntaxError;
use std::str::FromStr;

/// Numbers of ranks, in the order in which they are given.
#[derive(Clone, Debug, PartialEq)]
pub struct RankCounts(pub Vec<u32>);

/// More ranks would not fit into memory.
const MOST_RANKS: u32 = 1 << 24;

impl FromStr for RankCounts {
    type Err = ArgumentSyntaxError;

    fn from_str(text: &str) -> Result<RankCounts, ArgumentSyntaxError> {
        let mut all = Vec::new();
        for part in text.split(',') {
            match part.split_once("..") {
                None => all.push(number(part)?),
                Some((from, to)) => {
                    let (from, to) = (number(from)?, number(to)?);
                    let doubled = std::iter::successors(Some(from), |ranks| ranks.checked_mul(2));
                    all.extend(doubled.take_while(|ranks| *ranks <= to));
                }
            }
        }
        if all.is_empty() { Err(ArgumentSyntaxError::NoRankCount(text.into())) } else { Ok(RankCounts(all)) }
    }
}

fn number(word: &str) -> Result<u32, ArgumentSyntaxError> {
    match word.parse::<u32>() {
        Ok(ranks) if (1..=MOST_RANKS).contains(&ranks) => Ok(ranks),
        _ => Err(ArgumentSyntaxError::RankCount { word: word.into(), most: MOST_RANKS }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_listed_or_doubled() {
        assert_eq!("3,16..100".parse(), Ok(RankCounts(vec![3, 16, 32, 64])));
        for wrong in ["", "0", "5..2", "x", "16777217"] {
            assert!(wrong.parse::<RankCounts>().is_err(), "{wrong}");
        }
    }
}
