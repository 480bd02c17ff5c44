//! Filling in templates: C with `@PLACEHOLDERS@`.
//!
//! A placeholder within a line is replaced by its value. One that has a line to itself is replaced by all
//! lines of its value, indented as it was; if the value is empty, the line is left out.

use std::collections::BTreeMap;
use thiserror::Error;

/// Values by placeholder, without the `@`s.
pub type Values = BTreeMap<&'static str, String>;

/// A placeholder has no value.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("the placeholder @{0}@ has no value")]
pub struct NoValueError(pub String);

/// Fills in a template.
pub fn fill_in(template: &str, values: &Values) -> Result<String, NoValueError> {
    let mut text = String::new();
    for line in template.lines() {
        if let Some(name) = only_placeholder(line.trim()) {
            let value = values.get(name).ok_or_else(|| NoValueError(name.into()))?;
            let indentation = &line[..line.len() - line.trim_start().len()];
            for inserted in value.lines() {
                text.push_str(indentation);
                text.push_str(inserted);
                text.push('\n');
            }
        } else {
            text.push_str(&fill_in_line(line, values)?);
            text.push('\n');
        }
    }
    Ok(text)
}

/// The name of the placeholder that a text consists of.
fn only_placeholder(text: &str) -> Option<&str> {
    let name = text.strip_prefix('@')?.strip_suffix('@')?;
    (!name.is_empty() && !name.contains('@')).then_some(name)
}

fn fill_in_line(line: &str, values: &Values) -> Result<String, NoValueError> {
    let mut text = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('@') {
        let (name, after) = after.split_once('@').ok_or_else(|| NoValueError(after.into()))?;
        text.push_str(before);
        text.push_str(values.get(name).ok_or_else(|| NoValueError(name.into()))?);
        rest = after;
    }
    text.push_str(rest);
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> Values {
        Values::from([
            ("NAME", "Send".to_string()),
            ("LINES", "one;\n    two;".to_string()),
            ("EMPTY", String::new()),
        ])
    }

    #[test]
    fn placeholders_are_replaced_within_lines() {
        assert_eq!(fill_in("MPI_@NAME@(); P@NAME@\n", &values()).unwrap(), "MPI_Send(); PSend\n");
    }

    #[test]
    fn a_placeholder_alone_becomes_lines_with_its_indentation() {
        assert_eq!(fill_in("  @LINES@\n", &values()).unwrap(), "  one;\n      two;\n");
    }

    #[test]
    fn a_line_of_an_empty_placeholder_is_left_out() {
        assert_eq!(fill_in("a\n    @EMPTY@\nb\n", &values()).unwrap(), "a\nb\n");
    }

    #[test]
    fn a_placeholder_without_a_value_is_an_error() {
        assert_eq!(fill_in("@NAME@ @OTHER@", &values()), Err(NoValueError("OTHER".into())));
    }
}
