//! Names of collective algorithms.

use evenkeel_schedule::algorithms;

/// Names of algorithms of which the given name is a part, or the other way round: what may have been meant.
pub fn similar_to(name: &str) -> Vec<&'static str> {
    let known = algorithms::ALL.iter().map(|algorithm| algorithm.name);
    known.filter(|known| known.contains(name) || name.contains(known)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_name_suggests_the_whole() {
        assert!(similar_to("dissem").contains(&"n-way-dissemination"));
        assert!(similar_to("nothing like it").is_empty());
    }
}
