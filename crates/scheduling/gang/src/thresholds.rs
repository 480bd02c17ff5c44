//! When a rank is coarse, and when its waiting pays. May use: std.

/// Switches that a rank's computing between two blocking calls must outweigh before it counts as coarse. A
/// rank that leaves its core when it blocks costs two switches: then they take less than 0.9% of its time.
/// Published measurements tell 3 ms (fine) and 6 ms (coarse) apart, on a cluster where gang quanta of 2 ms
/// cost nothing that could be seen: a switch took 20 µs at most, and 4.5 ms are 225 of them.
const COARSE_SWITCHES: u64 = 225;

/// The half-life of measurements in times of `coarse_ns`: long enough to see some calls of a rank at the
/// limit.
const HALF_LIVES: u64 = 8;

/// The limits of the classes. [`for_switch_cost_ns`](Thresholds::for_switch_cost_ns) states the defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// CPU time between two blocking calls in ns from which a rank is coarse (class DC).
    pub coarse_ns: u64,
    /// The waiting that pays, as a share of the CPU time between two blocking calls.
    pub wait_share: f64,
    /// The waiting that a blocking call costs even an undisturbed gang, in ns.
    pub wait_floor_ns: u64,
    /// How far beyond a limit a rank must be to leave its class, as a share of the limit.
    pub margin: f64,
    /// The time in ns after which what was measured counts only half.
    pub half_life_ns: u64,
    /// How many samples in a row must say so.
    pub samples: u32,
    /// CPU and waiting time of a new rank in ns during which it is coscheduled whatever is measured.
    pub warm_up_ns: u64,
    /// From this share of its time that a rank waits on, it stays frustrated (F) also beside ranks of its
    /// job that are coscheduled (CS). Below, the whole job is coscheduled.
    pub evidence: f64,
}

impl Thresholds {
    /// Thresholds from the measured cost of a switch in ns: coarse from 225 switches on, waiting pays up to
    /// a quarter of the computing and two switches; margin 20%, half-life of 8 times `coarse_ns`, 3 samples,
    /// 0.5 s of warm-up, evidence from half of the time on.
    ///
    /// ```
    /// use evenkeel_gang::Thresholds;
    /// let thresholds = Thresholds::for_switch_cost_ns(20_000);
    /// assert_eq!((thresholds.coarse_ns, thresholds.wait_floor_ns), (4_500_000, 40_000));
    /// ```
    pub const fn for_switch_cost_ns(cost_ns: u64) -> Thresholds {
        Thresholds {
            coarse_ns: COARSE_SWITCHES * cost_ns,
            wait_share: 0.25,
            wait_floor_ns: 2 * cost_ns,
            margin: 0.2,
            half_life_ns: HALF_LIVES * COARSE_SWITCHES * cost_ns,
            samples: 3,
            warm_up_ns: 500_000_000,
            evidence: 0.5,
        }
    }
}
