//! Which ranks wait for ever: the AND/OR wait-for graph.
//!
//! A rank is *freed* when it can go on whatever happens: because it does not wait, or because the ranks that
//! it needs can act, all of them (AND) or one (OR). What is left when nothing more is freed waits for ever:
//! every rank in it needs one that is left, too (Chandy, Misra, Haas: Distributed Deadlock Detection, ACM
//! TOCS 1983).
//!
//! Pure. Must never: take something unknown for a wait.

/// What a rank needs to go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nothing, or it is not known what.
    Nothing,
    /// Something of all of these ranks.
    All(Vec<usize>),
    /// Something of one of these ranks.
    Any(Vec<usize>),
    /// It never does anything for others again: it has ended.
    Gone,
}

/// The ranks that never go on, in order, without those that are gone. Quadratic in the ranks, at worst.
pub fn stuck(needs: &[Need]) -> Vec<usize> {
    let mut is_stuck: Vec<bool> = needs.iter().map(|need| *need != Need::Nothing).collect();
    loop {
        let frees = |rank: &usize| {
            is_stuck[*rank]
                && match &needs[*rank] {
                    Need::Nothing => true,
                    Need::Gone => false,
                    Need::All(ranks) => ranks.iter().all(|needed| !is_stuck[*needed]),
                    Need::Any(ranks) => ranks.is_empty() || ranks.iter().any(|needed| !is_stuck[*needed]),
                }
        };
        let freed: Vec<usize> = (0..needs.len()).filter(frees).collect();
        if freed.is_empty() {
            break;
        }
        freed.into_iter().for_each(|rank| is_stuck[rank] = false);
    }
    (0..needs.len()).filter(|rank| is_stuck[*rank] && needs[*rank] != Need::Gone).collect()
}

/// The ranks that a rank needs.
pub fn needed(need: &Need) -> &[usize] {
    match need {
        Need::All(ranks) | Need::Any(ranks) => ranks,
        Need::Nothing | Need::Gone => &[],
    }
}

/// The sets of ranks that reach each other along needs, each of at least two ranks, or of one that needs
/// itself. Ranks and sets are in order. Only ranks in `among` are looked at.
pub fn circles(needs: &[Need], among: &[usize]) -> Vec<Vec<usize>> {
    let reached_from = |start: usize| {
        let mut reached = vec![false; needs.len()];
        let mut todo = vec![start];
        while let Some(rank) = todo.pop() {
            for next in needed(&needs[rank]) {
                if among.contains(next) && !std::mem::replace(&mut reached[*next], true) {
                    todo.push(*next);
                }
            }
        }
        reached
    };
    let reached: Vec<(usize, Vec<bool>)> = among.iter().map(|rank| (*rank, reached_from(*rank))).collect();
    let mut circles: Vec<Vec<usize>> = Vec::new();
    for (rank, from_it) in &reached {
        let is_first = from_it[*rank] && !circles.iter().any(|circle| circle.contains(rank));
        if is_first {
            let both_ways = |(other, from_other): &&(usize, Vec<bool>)| from_it[*other] && from_other[*rank];
            circles.push(reached.iter().filter(both_ways).map(|(other, _)| *other).collect());
        }
    }
    circles
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_random::Random;

    fn all(ranks: &[usize]) -> Need {
        Need::All(ranks.to_vec())
    }

    fn any(ranks: &[usize]) -> Need {
        Need::Any(ranks.to_vec())
    }

    #[test]
    fn two_that_wait_for_each_other_are_stuck_and_those_behind_them_too() {
        let needs = [all(&[1]), all(&[0]), all(&[0]), all(&[4]), Need::Nothing];
        assert_eq!(stuck(&needs), [0, 1, 2]);
        assert_eq!(circles(&needs, &[0, 1, 2]), [[0, 1]]);
    }

    #[test]
    fn one_running_rank_frees_who_waits_for_any_but_not_who_waits_for_all() {
        assert_eq!(stuck(&[any(&[1, 2]), all(&[0]), Need::Nothing]), [0; 0]);
        assert_eq!(stuck(&[all(&[1, 2]), all(&[0]), Need::Nothing]), [0, 1]);
        assert_eq!(stuck(&[any(&[1, 2]), any(&[0, 2]), any(&[0, 1])]), [0, 1, 2]);
        assert_eq!(stuck(&[any(&[]), all(&[0])]), [0; 0], "a rank that needs none can go on");
    }

    #[test]
    fn a_rank_that_is_gone_frees_no_rank() {
        assert_eq!(stuck(&[all(&[1]), Need::Gone]), [0]);
        assert_eq!(stuck(&[any(&[1, 2]), Need::Gone, Need::Nothing]), [0; 0]);
    }

    #[test]
    fn circles_are_found_apart() {
        let needs = [all(&[1]), all(&[2]), all(&[0]), all(&[4]), all(&[3]), all(&[0])];
        assert_eq!(circles(&needs, &[0, 1, 2, 3, 4, 5]), [vec![0, 1, 2], vec![3, 4]]);
    }

    /// Ranks that go on in any order, as long as one can: who is left is stuck, whatever the order was.
    #[test]
    fn it_is_what_no_order_of_going_on_frees() {
        for seed in 0..2000 {
            let mut random = Random::new(seed);
            let ranks = 2 + random.below(6);
            let mut needs: Vec<Need> = (0..ranks)
                .map(|_| {
                    let some: Vec<usize> = (0..ranks).filter(|_| random.below(3) == 0).collect();
                    match random.below(6) {
                        0 => Need::Nothing,
                        1 => Need::Gone,
                        2 | 3 => Need::Any(some),
                        _ => Need::All(some),
                    }
                })
                .collect();
            let expected = stuck(&needs);
            loop {
                let acts = |rank: &usize| needs[*rank] == Need::Nothing;
                let may_go_on = |rank: &usize| match &needs[*rank] {
                    Need::Nothing | Need::Gone => false,
                    Need::All(some) => some.iter().all(acts),
                    Need::Any(some) => some.is_empty() || some.iter().any(acts),
                };
                let able: Vec<usize> = (0..ranks).filter(may_go_on).collect();
                if able.is_empty() {
                    break;
                }
                let one = able[random.below(able.len())];
                needs[one] = Need::Nothing;
            }
            let left = |rank: &usize| !matches!(needs[*rank], Need::Nothing | Need::Gone);
            assert_eq!(expected, (0..ranks).filter(left).collect::<Vec<_>>(), "seed {seed}");
        }
    }
}
