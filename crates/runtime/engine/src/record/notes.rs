//! Notes for the user: each process prints a note once, and keeps it for the report.

use std::io::Write;
use std::sync::{Mutex, PoisonError};

/// The notes so far.
#[derive(Debug, Default)]
pub struct Notes(Mutex<Vec<String>>);

impl Notes {
    /// Prints a note and keeps it, unless this process has done so before.
    pub fn add(&self, sentence: &str) {
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !notes.iter().any(|note| note == sentence) {
            print(sentence);
            notes.push(sentence.to_string());
        }
    }

    /// All notes, in the order in which they were added.
    pub fn all(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Prints a sentence to standard error with a single write, because several ranks may print at once.
pub fn print(sentence: &str) {
    let line = format!("evenkeel: {sentence}\n");
    let _ = std::io::stderr().write_all(line.as_bytes()); // an error could not be reported anywhere
}
