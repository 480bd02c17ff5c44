//! Lists of numbers as the kernel writes them: `0-3,8`.

/// The numbers of a list. Anything that is not a number is skipped.
pub fn parse(text: &str) -> Vec<usize> {
    let mut numbers = Vec::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.parse::<usize>(), last.parse::<usize>()) {
            numbers.extend(first..=last);
        }
    }
    numbers
}

/// Whether a list that a user typed consists of numbers and ranges only, and holds one at least.
pub fn is_list(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_digit() || "-,".contains(c)) && !parse(text).is_empty()
}

/// The list of these numbers.
pub fn show(numbers: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for &number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let range = |(first, last): &(usize, usize)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    ranges.iter().map(range).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_written() {
        assert_eq!(parse("0-3,8,10-11\n"), [0, 1, 2, 3, 8, 10, 11]);
        assert_eq!(show(&[0, 1, 2, 3, 8, 10, 11]), "0-3,8,10-11");
        assert!(parse("\n").is_empty());
        assert!(is_list("0-3,8") && !is_list("all") && !is_list("") && !is_list("-"));
    }
}
