//! The listings of Höfler 2005, section 2.2, as printed, and the defects that the checker finds in them.
//!
//! Each listing is transcribed as far as the step language allows. Flags that hold 0 and 1 in the thesis
//! hold epochs here, and counters that are never reset continue to count. That repairs one defect of
//! several listings and leaves the others.

use evenkeel_schedule::check::{CheckError, Interleaving, costs, explore, run};
use evenkeel_schedule::radix::{ceil_log, floor_log, power};
use evenkeel_schedule::{
    Algorithm, Collective, CombiningOrder, Counter, Flag, Parameter, Problem, Rank, RankSet, Resources,
    Round, Schedule, algorithms,
};

const WIDTH: Parameter =
    Parameter { name: "n", default: 2, min: 1, max: 64, choices: &[], about: "as in the listing" };

const PRINTED: Algorithm = Algorithm {
    name: "printed",
    collective: Collective::Barrier,
    order: CombiningOrder::Nothing,
    about: "",
    source: "",
    cost: "",
    parameters: &[WIDTH],
    resources: |_| Resources::flags(1, 1),
    round: |_, _, _, _| {},
};

fn schedule(algorithm: &'static Algorithm, ranks: u32, n: u32) -> Schedule {
    Schedule::new(algorithm, Problem::new(ranks), &[("n", n)]).unwrap()
}

fn defect(algorithm: &'static Algorithm, ranks: u32, n: u32) -> CheckError {
    found(algorithm, ranks, n, Interleaving::Prompt)
        .unwrap_or_else(|| panic!("nothing found wrong with {ranks} ranks, n = {n}"))
}

fn found(algorithm: &'static Algorithm, ranks: u32, n: u32, driver: Interleaving) -> Option<CheckError> {
    run(&schedule(algorithm, ranks, n), 3, driver).err()
}

fn release(problem: &Problem, rank: Rank, flag: Flag, out: &mut Round) {
    match rank {
        Rank(0) => out.multicast(RankSet::range(Rank(1), problem.ranks - 1), flag),
        _ => out.wait(flag),
    }
}

/// Listing 2.1: the counter starts at 1, as if rank 0 had counted. The rank that counts up to P releases
/// all.
static CENTRAL: Algorithm = Algorithm {
    resources: |_| Resources::flags(3, 1).and_counters(1),
    round: |problem, rank, round, out| match (rank, round) {
        (Rank(0), 0) => out.await_count(Counter(0), problem.ranks - 1),
        (_, 0) => out.count(Rank(0), Counter(0), problem.ranks - 1, 2),
        (_, 1) if rank.0 > 0 => out.multicast(RankSet::range(Rank(0), problem.ranks), Flag(0)),
        (_, 2) if rank.0 > 0 => out.wait(Flag(0)),
        _ => {}
    },
    ..PRINTED
};

#[test]
fn listing_2_1_releases_the_others_before_rank_0_has_entered() {
    assert!(matches!(defect(&CENTRAL, 4, 1), CheckError::LeftEarly { missing: Rank(0), .. }));
    // Also if rank 0 enters early in this execution, because its entering is not in the past of the
    // others.
    assert!(matches!(
        found(&CENTRAL, 4, 1, Interleaving::Late(Rank(2))),
        Some(CheckError::LeftEarly { missing: Rank(0), .. })
    ));
}

/// Listing 2.2: one counter on every level.
static COMBINING: Algorithm = Algorithm {
    resources: |problem| Resources::flags(ceil_log(problem.values[0], problem.ranks) + 1, 1).and_counters(1),
    round: |problem, rank, round, out| {
        let n = problem.values[0];
        let (near, far) = (power(n, round), power(n, round + 1));
        if round == ceil_log(n, problem.ranks) {
            release(problem, rank, Flag(0), out);
        } else if rank.0 % far == 0 {
            out.await_count(Counter(0), n - 1);
        } else if rank.0 % near == 0 {
            out.add(Rank(rank.0 - rank.0 % far), Counter(0));
        }
    },
    ..PRINTED
};

#[test]
fn listing_2_2_counts_several_levels_in_one_counter_and_waits_for_missing_members() {
    // Rank 1, counted on the first level, is taken for rank 2 on the second.
    assert!(matches!(
        defect(&COMBINING, 4, 2),
        CheckError::LeftEarly { rank: Rank(0), missing: Rank(2), .. }
    ));
    assert!(matches!(defect(&COMBINING, 3, 4), CheckError::Deadlock { .. }));
    assert!(run(&schedule(&COMBINING, 4, 4), 3, Interleaving::Prompt).is_ok(), "one full group is correct");
}

/// Listing 2.3: the higher rank waits as the winner. The lower rank signals it, waits, and plays on.
/// There is one flag for all games.
static TOURNAMENT: Algorithm = Algorithm {
    resources: |problem| Resources::flags(ceil_log(2, problem.ranks) + 1, 1),
    round: |problem, rank, round, out| {
        let peer = rank.0 ^ power(2, round);
        if round == ceil_log(2, problem.ranks) {
            if rank.0 == 0 {
                out.multicast(RankSet::range(Rank(1), problem.ranks - 1), Flag(0));
            }
        } else if peer <= problem.ranks {
            if rank.0 < peer {
                out.put(Rank(peer), Flag(0));
            }
            out.wait(Flag(0));
        }
    },
    ..PRINTED
};

#[test]
fn listing_2_3_makes_the_loser_wait_and_plays_against_a_rank_that_does_not_exist() {
    assert!(matches!(defect(&TOURNAMENT, 2, 1), CheckError::Deadlock { .. }));
    // Rank 1 leaves because of the signal that rank 0 sends it in the first game.
    assert!(matches!(defect(&TOURNAMENT, 4, 1), CheckError::LeftEarly { rank: Rank(1), .. }));
    assert!(matches!(defect(&TOURNAMENT, 3, 1), CheckError::NoSuchRank { to: Rank(3), .. }));
}

/// Listing 2.4: a rank waits for four children whatever n is, and also for a child P.
static MCS: Algorithm = Algorithm {
    resources: |problem| Resources::flags(2, problem.values[0].max(4) + 1),
    round: |problem, rank, round, out| {
        let n = problem.values[0];
        if round == 1 {
            return release(problem, rank, Flag(n.max(4)), out);
        }
        // Flags of children that are missing are marked as if they had reported.
        (0..4).filter(|j| *j >= n || problem.ranks >= rank.0 * n + 1 + j).for_each(|j| out.wait(Flag(j)));
        if rank.0 > 0 {
            out.put(Rank((rank.0 - 1) / n), Flag((rank.0 - 1) % n));
        }
    },
    ..PRINTED
};

#[test]
fn listing_2_4_waits_for_children_that_do_not_exist() {
    // Rank 0 waits for flags 2 and 3, which no rank raises.
    assert!(matches!(defect(&MCS, 3, 2), CheckError::Deadlock { .. }));
    // With n = 4, which the literal 4 assumes, ranks 1 to 4 are all children of rank 0. Rank 1 waits for
    // rank 5, which does not exist.
    assert!(matches!(defect(&MCS, 5, 4), CheckError::Deadlock { .. }));
}

/// Listing 2.5: every rank waits for its own entry, which says nothing about its children.
static SPANNING: Algorithm = Algorithm {
    resources: |problem| Resources::flags(2, problem.ranks + 1),
    round: |problem, rank, round, out| {
        if round == 1 {
            release(problem, rank, Flag(0), out);
        } else if rank.0 > 0 {
            out.put(Rank(rank.0 - power(2, floor_log(2, rank.0))), Flag(rank.0));
        }
    },
    ..PRINTED
};

#[test]
fn listing_2_5_waits_for_no_child() {
    assert!(matches!(defect(&SPANNING, 2, 1), CheckError::LeftEarly { rank: Rank(0), missing: Rank(1), .. }));
}

/// Listing 2.8: a rank waits for each message before it sends the next, there are too many rounds, and
/// distances wrap around.
static N_WAY: Algorithm = Algorithm {
    resources: |problem| {
        let n = problem.values[0];
        // ceil(log P / log n), and one more since the count begins at 0.
        Resources::flags(ceil_log(n, problem.ranks) + 1, problem.ranks)
    },
    round: |problem, rank, round, out| {
        let n = problem.values[0];
        for i in 1..=n {
            let distance = (u64::from(i) * u64::from(power(n + 1, round)) % u64::from(problem.ranks)) as u32;
            out.put(problem.around(rank, distance), Flag(rank.0));
            out.wait(Flag(problem.back(rank, distance).0));
        }
    },
    ..PRINTED
};

/// The same without the repetitions, to see the cost of the order of sending and waiting alone.
static N_WAY_INTERLEAVED: Algorithm = Algorithm {
    resources: |problem| {
        let rounds = ceil_log(problem.values[0] + 1, problem.ranks);
        Resources::flags(rounds, rounds * problem.values[0])
    },
    round: |problem, rank, round, out| {
        let n = problem.values[0];
        for i in (1..=n).filter(|i| i * power(n + 1, round) < problem.ranks) {
            out.put(problem.around(rank, i * power(n + 1, round)), Flag(round * n + i - 1));
            out.wait(Flag(round * n + i - 1));
        }
    },
    ..PRINTED
};

#[test]
fn listing_2_8_repeats_messages_and_waits_too_early() {
    // Seven rounds where four suffice: from the fifth on, ranks are told what they know already.
    assert_eq!((schedule(&N_WAY, 64, 2).rounds(), ceil_log(3, 64)), (7, 4));
    let right = algorithms::find("n-way-dissemination").unwrap();
    let (printed, corrected) =
        (costs(&schedule(&N_WAY, 64, 2)).unwrap(), costs(&schedule(right, 64, 2)).unwrap());
    assert_eq!((printed.rounds, printed.messages), (14, 64 * 14));
    assert_eq!((corrected.rounds, corrected.messages), (4, 64 * 8));
    // Where two distances lead to the same rank, a flag is raised a second time.
    assert!(matches!(defect(&N_WAY, 9, 2), CheckError::RaisedTwice { .. }));
    let (printed, right) =
        (costs(&schedule(&N_WAY_INTERLEAVED, 27, 2)).unwrap(), costs(&schedule(right, 27, 2)).unwrap());
    assert_eq!(
        (printed.rounds, right.rounds),
        (6, 3),
        "messages that could be in flight together wait for each other"
    );
    assert_eq!(printed.messages, right.messages);
}

/// Listing 2.9: as 2.8 within groups. The ranks beyond the power report and never wait, and a rank in the
/// main group waits for one reporter only.
static N_WISE: Algorithm = Algorithm {
    resources: |problem| {
        let rounds = floor_log(problem.values[0] + 1, problem.ranks);
        Resources { turns: rounds.max(1) as u16, ..Resources::flags(rounds + 1, 2 * problem.ranks) }
    },
    round: |problem, rank, round, out| {
        let n = problem.values[0];
        let main = power(n + 1, floor_log(n + 1, problem.ranks));
        if round == 0 {
            if rank.0 >= main {
                out.put(Rank(rank.0 - main), Flag(problem.ranks + rank.0));
            } else if rank.0 + main < problem.ranks {
                out.wait(Flag(problem.ranks + rank.0 + main));
            }
        } else if rank.0 < main {
            let (near, far) = (power(n + 1, round - 1), power(n + 1, round));
            let base = rank.0 - rank.0 % far;
            for i in 1..=n {
                let peer = base + (rank.0 - base + i * near) % far;
                out.put_turn(Rank(peer), Flag(rank.0), round as u16);
                out.wait_turn(Flag(peer), round as u16);
            }
        }
    },
    ..PRINTED
};

#[test]
fn listing_2_9_deadlocks_and_never_holds_the_upper_group() {
    // Three ranks, n = 2: each waits for the next, which first waits for the one after it.
    assert!(matches!(defect(&N_WISE, 3, 2), CheckError::Deadlock { waiting: 3, .. }));
    // n = 1 does not deadlock, but the rank beyond the power of two leaves at once.
    assert!(matches!(defect(&N_WISE, 3, 1), CheckError::LeftEarly { rank: Rank(2), .. }));
    // Five ranks beyond, three in the main group: one of them has two reporters.
    assert!(matches!(defect(&N_WISE, 8, 2), CheckError::LeftEarly { rank: Rank(3..), .. }));
    assert!(
        run(&schedule(&N_WISE, 4, 1), 3, Interleaving::Prompt).is_ok(),
        "the listing is correct for a power of two with n = 1"
    );
    let repaired = algorithms::find("n-wise-exchange").unwrap();
    for (ranks, n) in [(3, 1), (3, 2), (8, 2), (9, 2)] {
        assert!(run(&schedule(repaired, ranks, n), 3, Interleaving::Prompt).is_ok());
    }
}

/// Two ranks raise the same flag, so that a wait cannot tell the raises apart.
static SHARED_FLAG: Algorithm = Algorithm {
    resources: |_| Resources::flags(2, 2),
    round: |problem, rank, round, out| match (rank, round) {
        (_, 1) => release(problem, rank, Flag(1), out),
        (Rank(0), _) => (1..problem.ranks).for_each(|_| out.wait(Flag(0))),
        _ => out.put(Rank(0), Flag(0)),
    },
    ..PRINTED
};

#[test]
fn a_flag_that_two_ranks_raise_is_found() {
    assert!(matches!(defect(&SHARED_FLAG, 3, 1), CheckError::RaisedTwice { .. }));
    assert!(matches!(explore(&schedule(&SHARED_FLAG, 3, 1), 1, 10_000), Err(CheckError::RaisedTwice { .. })));
}

/// One counter for consecutive barriers, and ranks that run ahead because they wait for no rank.
static RUNNING_AHEAD: Algorithm = Algorithm {
    resources: |_| Resources::flags(1, 1).and_counters(1),
    round: |problem, rank, _, out| {
        if rank.0 > 0 {
            out.add(Rank(0), Counter(0));
        } else {
            out.await_count(Counter(0), problem.ranks - 1);
        }
    },
    ..PRINTED
};

#[test]
fn early_arrivals_that_are_taken_for_missing_ones_are_found() {
    assert!(matches!(
        found(&RUNNING_AHEAD, 3, 1, Interleaving::Late(Rank(2))),
        Some(CheckError::LeftEarly { .. } | CheckError::CountedEarly { .. })
    ));
}
