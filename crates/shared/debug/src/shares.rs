//! How much time a lane was inside which function up to a moment.
//!
//! Of each 16 calls the sums of all before them are kept. So the share of each function in any interval is
//! the difference of two sums, exact at every zoom, and takes two searches and 32 calls at most.

use crate::run::Run;
use crate::search::gallop;
use crate::waits::Waits;
use std::ops::Range;

const BLOCK: usize = 16;

/// The sums of a lane.
#[derive(Clone, Debug, Default)]
pub struct LaneShares {
    /// Functions that the lane has called, by the numbers of the run.
    pub functions: Vec<u32>,
    /// By number of a function of the run: which of `functions`, or more than there are.
    places: Vec<u8>,
    /// By block: time in each function, and the time waited.
    sums: Vec<i64>,
    /// By block: how many calls before it have waited.
    waits_before: Vec<u32>,
}

/// More functions than this are counted as one: MPI programs call a dozen.
const MOST_FUNCTIONS: usize = 250;

impl LaneShares {
    /// Adds up the calls of a lane.
    pub fn of(run: &Run, waits: &Waits, number: u32) -> LaneShares {
        let lane = &run.lanes[number as usize];
        let mut shares = LaneShares { places: vec![u8::MAX; run.functions.len()], ..LaneShares::default() };
        for &shape in &lane.shape {
            let function = run.shapes[shape as usize].function;
            let place = &mut shares.places[function as usize];
            if *place == u8::MAX && shares.functions.len() < MOST_FUNCTIONS {
                *place = shares.functions.len() as u8;
                shares.functions.push(function);
            }
        }
        let width = shares.width();
        let mut sums = vec![0; width];
        shares.sums.reserve_exact((lane.calls() / BLOCK + 1) * width);
        for block in 0..=lane.calls() / BLOCK {
            shares.sums.extend_from_slice(&sums);
            let before =
                waits.by_lane[number as usize].partition_point(|wait| (wait.call as usize) < block * BLOCK);
            shares.waits_before.push(before as u32);
            let calls = block * BLOCK..lane.calls().min((block + 1) * BLOCK);
            shares.add(run, waits, number, calls, i64::MAX, &mut sums);
        }
        shares
    }

    /// Numbers for a moment: one a function, and one for waiting.
    pub fn width(&self) -> usize {
        self.functions.len() + 1
    }

    /// Adds these calls, as far as they lie before a moment.
    fn add(&self, run: &Run, waits: &Waits, number: u32, calls: Range<usize>, by: i64, sums: &mut [i64]) {
        let lane = &run.lanes[number as usize];
        let of_lane = &waits.by_lane[number as usize];
        let first = self.waits_before.get(calls.start / BLOCK).map_or(0, |&before| before as usize);
        let mut waiting = of_lane[first..].iter().peekable();
        for call in calls {
            let (begin, end) = (lane.begin[call], lane.end[call]);
            let which = self.places[run.shapes[lane.shape[call] as usize].function as usize];
            sums[usize::from(which).min(self.functions.len() - 1)] += end.min(by) - begin;
            if let Some(wait) = waiting.next_if(|wait| wait.call as usize == call) {
                sums[self.functions.len()] += (begin + wait.length(run, begin, end)).min(by) - begin;
            }
        }
    }

    /// Time in each function, and time waited, up to a moment. Returns how many calls began before it;
    /// `known` is that number for an earlier moment, or 0.
    pub fn until(
        &self,
        run: &Run,
        waits: &Waits,
        number: u32,
        (at, known): (i64, usize),
        sums: &mut Vec<i64>,
    ) -> usize {
        let calls = gallop(&run.lanes[number as usize].begin, known, |&begin| begin < at);
        // The last of them may still be under way: it is not taken from the sums.
        let block = calls.saturating_sub(1) / BLOCK;
        let width = self.width();
        sums.clear();
        sums.extend_from_slice(&self.sums[block * width..(block + 1) * width]);
        self.add(run, waits, number, block * BLOCK..calls, at, sums);
        calls
    }
}
