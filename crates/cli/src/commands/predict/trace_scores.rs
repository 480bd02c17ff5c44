//! The scores of all predictors on one trace.

use super::receives::Receives;
use evenkeel_predict::{
    Eviction, LongestContext, Predictor, Score, SingleCycle, Tag, TagBetterCycle, TagCycle, Tournament,
    Window,
};
use evenkeel_trace::times::file::Times;
use serde::Serialize;

/// What is said of a trace.
#[derive(Serialize)]
pub(super) struct TraceScores {
    /// The folder.
    pub(super) trace: String,
    pub(super) ranks: usize,
    /// Of all ranks.
    pub(super) receives: u64,
    /// The fewest and most of a rank.
    pub(super) receives_of_a_rank: (u64, u64),
    /// The fewest and most different ones of a rank.
    pub(super) different_of_a_rank: (u64, u64),
    pub(super) predictors: Vec<PredictorScore>,
}

/// A predictor's score, or that of a window.
#[derive(Serialize)]
pub(super) struct PredictorScore {
    pub(super) name: String,
    /// Hits among all receives, of all ranks.
    pub(super) hits: f64,
    /// Wrong predictions among all receives; none of a window, which foresees nothing.
    pub(super) wrong: Option<f64>,
    /// The smallest ratio of hits of a rank that has posted receives.
    pub(super) worst_rank: f64,
}

impl TraceScores {
    /// Those of a run.
    pub(super) fn of(trace: String, ranks: &[Times], windows: &[u16]) -> TraceScores {
        let of_ranks: Vec<Receives> = ranks.iter().map(Receives::of).collect();
        let extremes = |count: &dyn Fn(&Receives) -> usize| {
            let counts = of_ranks.iter().map(|it| count(it) as u64);
            (counts.clone().min().unwrap_or(0), counts.max().unwrap_or(0))
        };
        let mut predictors = Vec::new();
        let evictions =
            [("LRU", Eviction::LeastRecent), ("FIFO", Eviction::Oldest), ("LFU", Eviction::LeastFrequent)];
        for size in windows {
            for (name, eviction) in evictions {
                let score = |it: &Receives| of_window(Window::new(eviction, usize::from(*size)), it);
                let name = format!("{name}, {size}");
                predictors.push(PredictorScore { wrong: None, ..PredictorScore::of(name, &of_ranks, score) });
            }
        }
        predictors.push(PredictorScore::of_predictor::<Tag>("Tag", &of_ranks));
        predictors.push(PredictorScore::of_predictor::<SingleCycle>("Single-cycle", &of_ranks));
        predictors.push(PredictorScore::of_predictor::<TagCycle>("Tag-cycle", &of_ranks));
        predictors.push(PredictorScore::of_predictor::<TagBetterCycle>("Tag-bettercycle", &of_ranks));
        predictors.push(PredictorScore::of_predictor::<LongestContext>("Longest context", &of_ranks));
        predictors.push(PredictorScore::of_predictor::<Tournament>("Tournament", &of_ranks));
        TraceScores {
            trace,
            ranks: ranks.len(),
            receives: of_ranks.iter().map(|it| it.all.len() as u64).sum(),
            receives_of_a_rank: extremes(&|it| it.all.len()),
            different_of_a_rank: extremes(&|it| it.different),
            predictors,
        }
    }
}

impl PredictorScore {
    fn of_predictor<P: Predictor + Default>(name: &str, ranks: &[Receives]) -> PredictorScore {
        PredictorScore::of(name.into(), ranks, |it| Score::of(&mut P::default(), &it.all))
    }

    /// Each rank has a predictor of its own.
    fn of(name: String, ranks: &[Receives], score: impl Fn(&Receives) -> Score) -> PredictorScore {
        let mut whole = Score::default();
        let mut worst_rank = f64::INFINITY;
        for rank in ranks.iter().filter(|rank| !rank.all.is_empty()) {
            let of_rank = score(rank);
            whole += of_rank;
            worst_rank = worst_rank.min(of_rank.hit_ratio());
        }
        let worst_rank = if worst_rank.is_finite() { worst_rank } else { 0.0 };
        PredictorScore { name, hits: whole.hit_ratio(), wrong: Some(whole.wrong_ratio()), worst_rank }
    }
}

fn of_window(mut window: Window, receives: &Receives) -> Score {
    let hits = receives.all.iter().filter(|(_, identifier)| window.hits(*identifier)).count();
    Score { receives: receives.all.len() as u64, hits: hits as u64, wrong: 0 }
}
