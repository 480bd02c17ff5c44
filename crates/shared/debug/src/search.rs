//! Searches in sorted lists.

/// Where those begin for which `is_before` does not hold, if it holds for all before `known`. Takes as many
/// steps as the logarithm of the distance: for lists that are gone through in steps.
pub fn gallop<T>(sorted: &[T], known: usize, is_before: impl Fn(&T) -> bool) -> usize {
    let mut from = known.min(sorted.len());
    let mut step = 1;
    while from + step <= sorted.len() && is_before(&sorted[from + step - 1]) {
        from += step;
        step *= 2;
    }
    let to = sorted.len().min(from + step);
    from + sorted[from..to].partition_point(is_before)
}

#[cfg(test)]
mod tests {
    use super::gallop;

    #[test]
    fn finds_what_a_search_of_the_whole_list_finds() {
        for length in 0..40 {
            let sorted: Vec<usize> = (0..length).map(|number| number / 2 * 3).collect();
            for wanted in 0..70 {
                let expected = sorted.partition_point(|&it| it < wanted);
                for known in 0..=expected {
                    assert_eq!(gallop(&sorted, known, |&it| it < wanted), expected);
                }
            }
        }
    }
}
