//! Sentences for the user: printed once a process, and kept for the report.

use std::io::Write;
use std::sync::{Mutex, PoisonError};

/// The sentences so far.
#[derive(Debug, Default)]
pub struct Notes(Mutex<Vec<String>>);

impl Notes {
    /// Prints a sentence and keeps it, unless this process has done so before.
    pub fn add(&self, sentence: &str) {
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !notes.iter().any(|note| note == sentence) {
            print(sentence);
            notes.push(sentence.to_string());
        }
    }

    /// All sentences, in the order in which they were added.
    pub fn all(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Prints a sentence to standard error by one write, since several ranks may print at once.
pub fn print(sentence: &str) {
    let line = format!("evenkeel: {sentence}\n");
    let _ = std::io::stderr().write_all(line.as_bytes()); // if that fails there is nowhere to report it
}
