//! What the user types, on its way to the programs. Pure: it counts who has taken how much.

/// How much may be on its way, bytes.
pub(crate) const WINDOW: usize = 64 * 1024;

/// Who takes part: the programs here, and nodes below.
#[derive(Debug)]
pub(crate) struct Input {
    /// What each has taken; None: it takes nothing any more, and is not waited for.
    taken: Vec<Option<u64>>,
    /// What has come.
    came: u64,
    /// What has been reported as taken.
    reported: u64,
}

impl Input {
    /// So many take part.
    pub(crate) fn new(takers: usize) -> Input {
        Input { taken: vec![Some(0); takers], came: 0, reported: 0 }
    }

    /// So many bytes have come.
    pub(crate) fn came(&mut self, bytes: usize) {
        self.came += bytes as u64;
    }

    /// One has taken so many.
    pub(crate) fn taken(&mut self, taker: usize, bytes: usize) {
        if let Some(Some(taken)) = self.taken.get_mut(taker) {
            *taken = (*taken + bytes as u64).min(self.came);
        }
    }

    /// One takes nothing any more.
    pub(crate) fn gone(&mut self, taker: usize) {
        if let Some(taken) = self.taken.get_mut(taker) {
            *taken = None;
        }
    }

    /// Whether anybody reads.
    pub(crate) fn has_taker(&self) -> bool {
        self.taken.iter().any(Option::is_some)
    }

    /// How many bytes all have taken since the last call.
    pub(crate) fn take_report(&mut self) -> usize {
        let slowest = self.taken.iter().flatten().min().copied().unwrap_or(self.came);
        let new = slowest.saturating_sub(self.reported);
        self.reported += new;
        new as usize
    }

    /// How much more may come.
    pub(crate) fn room(&self) -> usize {
        let slowest = self.taken.iter().flatten().min().copied().unwrap_or(self.came);
        WINDOW.saturating_sub((self.came - slowest) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_that_still_reads_counts() {
        let mut input = Input::new(3);
        input.came(100);
        input.taken(0, 100);
        input.taken(1, 60);
        assert_eq!((input.take_report(), input.room()), (0, WINDOW - 100));
        input.gone(2);
        assert_eq!((input.take_report(), input.room()), (60, WINDOW - 40));
        input.taken(1, 1000);
        assert_eq!((input.take_report(), input.room()), (40, WINDOW), "no more than has come");
        input.gone(0);
        input.gone(1);
        input.came(5);
        assert!(!input.has_taker());
        assert_eq!((input.take_report(), input.room()), (5, WINDOW));
    }
}
