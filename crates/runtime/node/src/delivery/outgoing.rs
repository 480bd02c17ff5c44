//! What a child is sent of the files that it lacks. Pure.
//!
//! The child asks for whole files, one after the other. Of what it has not taken yet there is a window at
//! most, so that a slow child costs no memory and holds up no other one.

use std::collections::VecDeque;

/// How much all children may have been sent and not taken, bytes; how much one may, at most and at least.
const ALL_WINDOWS: u64 = 64 << 20;
const LONGEST_WINDOW: u64 = 2 << 20;
const SHORTEST_WINDOW: u64 = 2 * LONGEST_PART;
/// The longest part of a file in one frame, bytes. On a slow network it is a sign of life, too.
pub(crate) const LONGEST_PART: u64 = 32 << 10;

/// The next part of a file for a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub file: usize,
    pub from: u64,
    pub bytes: u64,
}

/// How much of a file there is here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Here {
    /// Nothing yet.
    Nothing,
    /// So many bytes from its beginning, of so many.
    Partly { bytes: u64, of: u64 },
    /// It will never be here.
    Never,
}

/// What can be done for a child now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Send it this.
    Send(Part),
    /// Tell it that it will not get this file.
    Refuse(usize),
}

/// The files that one child wants.
#[derive(Debug)]
pub(crate) struct Outgoing {
    window: u64,
    /// The files, and how much of the first has been sent.
    wanted: VecDeque<usize>,
    sent_of_first: u64,
    untaken: u64,
}

impl Outgoing {
    /// Of one child among so many.
    pub(crate) fn new(children: usize) -> Outgoing {
        let window = (ALL_WINDOWS / children.max(1) as u64).clamp(SHORTEST_WINDOW, LONGEST_WINDOW);
        Outgoing { window, wanted: VecDeque::new(), sent_of_first: 0, untaken: 0 }
    }

    pub(crate) fn want(&mut self, file: usize) {
        self.wanted.push_back(file);
    }

    /// The child has taken so many bytes.
    pub(crate) fn taken(&mut self, bytes: u64) {
        self.untaken = self.untaken.saturating_sub(bytes);
    }

    /// What to do next, where `here` says how much there is of a file.
    pub(crate) fn next(&mut self, here: impl Fn(usize) -> Here) -> Option<Step> {
        let file = *self.wanted.front()?;
        let (bytes, of) = match here(file) {
            Here::Nothing => return None,
            Here::Partly { bytes, of } => (bytes, of),
            Here::Never => {
                self.end_first();
                return Some(Step::Refuse(file));
            }
        };
        let part = bytes.saturating_sub(self.sent_of_first).min(LONGEST_PART);
        let is_last = self.sent_of_first + part == of;
        // A short part is as dear as a long one: more will come.
        let is_short = part < LONGEST_PART && !is_last;
        if is_short || self.untaken + part > self.window {
            return None;
        }
        let step = Step::Send(Part { file, from: self.sent_of_first, bytes: part });
        self.sent_of_first += part;
        self.untaken += part;
        if is_last {
            self.end_first();
        }
        Some(step)
    }

    /// The child will not get this file.
    pub(crate) fn refuse(&mut self, file: usize) {
        if self.wanted.front() == Some(&file) {
            self.end_first();
        }
    }

    fn end_first(&mut self) {
        self.wanted.pop_front();
        self.sent_of_first = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_random::Random;

    /// A chain of hosts. Each passes on what it has, in parts that come late, and takes them when it likes.
    #[test]
    fn every_host_gets_all_in_order_and_no_window_is_exceeded() {
        const HOSTS: usize = 4;
        let lengths = [5 * LONGEST_WINDOW + 77, 0, 1, LONGEST_PART];
        for seed in 0..20 {
            let mut random = Random::new(seed);
            // What host 0 is to host 1, it is to host 2, and so on; host 0 has everything.
            let mut has = vec![[0u64; 4]; HOSTS];
            has[0] = lengths;
            let mut has_begun = [[false; 4]; HOSTS];
            has_begun[0] = [true; 4];
            let mut is_whole = [[false; 4]; HOSTS];
            is_whole[0] = [true; 4];
            let mut outgoing: Vec<Outgoing> = (1..HOSTS).map(|_| Outgoing::new(1)).collect();
            let mut on_the_way: Vec<VecDeque<Part>> = vec![VecDeque::new(); HOSTS];
            for one in &mut outgoing {
                (0..lengths.len()).for_each(|file| one.want(file));
            }
            for _ in 0..100_000 {
                let to = 1 + random.below(HOSTS - 1);
                let from = to - 1;
                let here = |file: usize| match has_begun[from][file] {
                    true => Here::Partly { bytes: has[from][file], of: lengths[file] },
                    false => Here::Nothing,
                };
                if random.below(2) == 0 {
                    match outgoing[from].next(here) {
                        Some(Step::Send(part)) => {
                            assert!(
                                has_begun[from][part.file],
                                "an empty file comes, too, before it goes on"
                            );
                            on_the_way[to].push_back(part);
                        }
                        Some(Step::Refuse(_)) => panic!("nothing is missing"),
                        None => {}
                    }
                    assert!(on_the_way[to].iter().map(|part| part.bytes).sum::<u64>() <= LONGEST_WINDOW);
                } else if let Some(part) = on_the_way[to].pop_front() {
                    assert_eq!(part.from, has[to][part.file], "in order, and nothing twice");
                    has_begun[to][part.file] = true;
                    has[to][part.file] += part.bytes;
                    is_whole[to][part.file] = has[to][part.file] == lengths[part.file];
                    outgoing[from].taken(part.bytes);
                }
            }
            assert!(is_whole.iter().flatten().all(|whole| *whole), "{has:?}");
        }
    }

    #[test]
    fn a_file_that_will_never_come_is_refused_and_the_next_one_is_sent() {
        let mut one = Outgoing::new(1);
        one.want(0);
        one.want(1);
        let here = |file: usize| if file == 0 { Here::Never } else { Here::Partly { bytes: 3, of: 3 } };
        assert_eq!(one.next(here), Some(Step::Refuse(0)));
        assert_eq!(one.next(here), Some(Step::Send(Part { file: 1, from: 0, bytes: 3 })));
        assert_eq!(one.next(here), None);
    }
}
