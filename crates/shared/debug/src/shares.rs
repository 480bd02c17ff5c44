//! How much time a lane was inside which function up to a moment.
//!
//! Of each 64 calls the sums of all before them are kept. So the share of each function in any interval is the
//! difference of two sums, exact at every zoom, and takes two searches and 64 calls at most.

use crate::run::{Place, Run};
use crate::waits::Waits;

const BLOCK: usize = 64;

/// The sums of a lane.
#[derive(Clone, Debug, Default)]
pub struct LaneShares {
    /// Functions that the lane has called, by the numbers of the run.
    pub functions: Vec<u32>,
    /// By number of a function of the run: which of `functions`, or more than there are.
    places: Vec<u8>,
    /// By block: time in each function, and the time waited.
    sums: Vec<i64>,
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
        for call in 0..lane.calls() {
            if call % BLOCK == 0 {
                shares.sums.extend_from_slice(&sums);
            }
            shares.add(run, waits, Place { lane: number, call: call as u32 }, i64::MAX, &mut sums);
        }
        if lane.calls() % BLOCK == 0 {
            shares.sums.extend_from_slice(&sums);
        }
        shares
    }

    /// Numbers for a moment: one a function, and one for waiting.
    pub fn width(&self) -> usize {
        self.functions.len() + 1
    }

    fn add(&self, run: &Run, waits: &Waits, place: Place, by: i64, sums: &mut [i64]) {
        let begin = run.begin(place);
        let which = self.places[run.shape(place).function as usize];
        let which = usize::from(which).min(self.functions.len() - 1);
        sums[which] += run.end(place).min(by) - begin;
        sums[self.functions.len()] += waits.until(run, place).min(by) - begin;
    }

    /// Time in each function, and time waited, up to a moment.
    pub fn until(&self, run: &Run, waits: &Waits, number: u32, at: i64, sums: &mut Vec<i64>) {
        let calls = run.lanes[number as usize].before(at);
        let block = calls / BLOCK;
        let width = self.width();
        sums.clear();
        sums.extend_from_slice(&self.sums[block * width..(block + 1) * width]);
        for call in block * BLOCK..calls {
            self.add(run, waits, Place { lane: number, call: call as u32 }, at, sums);
        }
    }
}
