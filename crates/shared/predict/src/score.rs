//! How often a predictor is right.

use super::{Identifier, Predictor, Site};

/// The outcomes of predictions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// Receives in all.
    pub receives: u64,
    /// Foreseen.
    pub hits: u64,
    /// Another one was foreseen.
    pub wrong: u64,
}

impl Score {
    /// That of a predictor on a sequence of receives.
    pub fn of(predictor: &mut impl Predictor, receives: &[(Site, Identifier)]) -> Score {
        let mut score = Score::default();
        for &(site, identifier) in receives {
            score.count(predictor.predict(site), identifier);
            predictor.learn(site, identifier);
        }
        score
    }

    /// Counts a prediction.
    pub fn count(&mut self, foreseen: Option<Identifier>, identifier: Identifier) {
        self.receives += 1;
        match foreseen {
            Some(foreseen) if foreseen == identifier => self.hits += 1,
            Some(_) => self.wrong += 1,
            None => {}
        }
    }

    /// Hits among all receives, from 0 to 1: no prediction counts as a miss. 0 if there are none.
    pub fn hit_ratio(&self) -> f64 {
        if self.receives == 0 { 0.0 } else { self.hits as f64 / self.receives as f64 }
    }

    /// Wrong predictions among all receives, from 0 to 1.
    pub fn wrong_ratio(&self) -> f64 {
        if self.receives == 0 { 0.0 } else { self.wrong as f64 / self.receives as f64 }
    }
}

impl std::ops::AddAssign for Score {
    fn add_assign(&mut self, other: Score) {
        self.receives += other.receives;
        self.hits += other.hits;
        self.wrong += other.wrong;
    }
}
