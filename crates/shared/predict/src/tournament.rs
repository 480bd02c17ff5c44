//! The predictor that has been right most often of late, and nothing where none is.

use super::{Identifier, LongestContext, Predictor, SingleCycle, Site, TagBetterCycle};

/// How much of a score is kept from one receive to the next.
const KEPT: f32 = 0.9;
/// A predictor with a lower score, out of 10, is not followed: about half of its latest predictions were
/// wrong.
const LEAST: f32 = 5.0;
/// Nothing is known of a predictor yet that has foreseen so few: it is followed.
const TRIAL: u8 = 4;

/// Single-cycle, Tag-bettercycle and longest context, of which one is followed at a time.
#[derive(Clone, Debug, Default)]
pub struct Tournament {
    single: SingleCycle,
    better: TagBetterCycle,
    context: LongestContext,
    standings: [Standing; 3],
}

#[derive(Clone, Copy, Debug, Default)]
struct Standing {
    score: f32,
    /// Predictions so far, up to [`TRIAL`].
    made: u8,
}

impl Standing {
    fn is_trusted(&self) -> bool {
        self.made < TRIAL || self.score >= LEAST
    }
}

impl Tournament {
    fn foreseen(&self, site: Site) -> [Option<Identifier>; 3] {
        [self.single.predict(site), self.better.predict(site), self.context.predict(site)]
    }
}

impl Predictor for Tournament {
    fn predict(&self, site: Site) -> Option<Identifier> {
        let foreseen = self.foreseen(site);
        let trusted = (0..3).filter(|at| foreseen[*at].is_some() && self.standings[*at].is_trusted());
        trusted
            .max_by(|a, b| self.standings[*a].score.total_cmp(&self.standings[*b].score))
            .and_then(|at| foreseen[at])
    }

    fn learn(&mut self, site: Site, identifier: Identifier) {
        let foreseen = self.foreseen(site);
        for (standing, foreseen) in self.standings.iter_mut().zip(foreseen) {
            standing.score = KEPT * standing.score + f32::from(u8::from(foreseen == Some(identifier)));
            standing.made = (standing.made + u8::from(foreseen.is_some())).min(TRIAL);
        }
        self.single.learn(site, identifier);
        self.better.learn(site, identifier);
        self.context.learn(site, identifier);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Score, TagCycle};
    use evenkeel_random::Random;

    #[test]
    fn it_is_at_least_nearly_as_good_as_its_best_player() {
        let periodic: Vec<(u64, u64)> = (0..2000).map(|it| (it % 4, it % 24)).collect();
        let blinded: Vec<(u64, u64)> = (0..2000).map(|it| (0, if it == 0 { 99 } else { it % 5 })).collect();
        let of_sites: Vec<(u64, u64)> =
            (0..4000).map(|it| if it % 2 == 0 { (1, it / 2 % 31) } else { (2, 100 + it / 2 % 37) }).collect();
        for receives in [periodic, blinded, of_sites] {
            let best = [
                Score::of(&mut SingleCycle::default(), &receives).hits,
                Score::of(&mut TagBetterCycle::default(), &receives).hits,
                Score::of(&mut LongestContext::default(), &receives).hits,
                Score::of(&mut TagCycle::default(), &receives).hits,
            ];
            let best = best.into_iter().max().unwrap();
            let hits = Score::of(&mut Tournament::default(), &receives).hits;
            assert!(hits * 100 >= best * 98, "{hits} of {best}");
        }
    }

    #[test]
    fn it_falls_silent_where_nothing_can_be_foreseen() {
        let mut random = Random::new(7);
        let receives: Vec<(u64, u64)> = (0..20_000).map(|_| (0, random.less_than(50))).collect();
        let score = Score::of(&mut Tournament::default(), &receives);
        assert!(score.wrong_ratio() < 0.05, "{score:?}");
        let blind = Score::of(&mut LongestContext::default(), &receives);
        assert!(blind.wrong_ratio() > 0.9, "{blind:?}");
    }

    #[test]
    fn equal_runs_give_equal_predictions() {
        let mut random = Random::new(1);
        let receives: Vec<(u64, u64)> =
            (0..5000).map(|_| (random.less_than(3), random.less_than(4))).collect();
        let run = || {
            let mut predictor = Tournament::default();
            let step = |&(site, identifier): &(u64, u64)| {
                let foreseen = predictor.predict(site);
                predictor.learn(site, identifier);
                foreseen
            };
            receives.iter().map(step).collect::<Vec<_>>()
        };
        assert_eq!(run(), run());
    }
}
