//! Application cores, and their parameters.

use super::names::UnknownNameError;
use serde::Serialize;
use std::fmt;
use std::str::FromStr;

/// An application core: a pattern of communication that is typical of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApplicationCore {
    /// A message goes round a ring of all hosts once.
    Token,
    /// All other hosts send to host 0 at the same time.
    FanIn,
    /// Host 0 sends to all other hosts at the same time.
    FanOut,
    /// Hosts form a square. In each iteration, every host sends to its two to four neighbours, waits for
    /// their messages of the same iteration, and computes. There is no barrier.
    Mesh,
    /// The same, but the edges of the square are joined.
    Torus,
}

impl ApplicationCore {
    /// All cores.
    pub const ALL: [ApplicationCore; 5] = [
        ApplicationCore::Token,
        ApplicationCore::FanIn,
        ApplicationCore::FanOut,
        ApplicationCore::Mesh,
        ApplicationCore::Torus,
    ];
}

impl fmt::Display for ApplicationCore {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            ApplicationCore::Token => "token",
            ApplicationCore::FanIn => "fan-in",
            ApplicationCore::FanOut => "fan-out",
            ApplicationCore::Mesh => "mesh",
            ApplicationCore::Torus => "torus",
        })
    }
}

impl FromStr for ApplicationCore {
    type Err = UnknownNameError;

    fn from_str(text: &str) -> Result<ApplicationCore, UnknownNameError> {
        let found = ApplicationCore::ALL.into_iter().find(|core| core.to_string() == text);
        found.ok_or_else(|| UnknownNameError::Core(text.to_string()))
    }
}

/// A core and the size of its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CoreParameters {
    /// The core.
    pub core: ApplicationCore,
    /// Number of hosts: a square number for [`ApplicationCore::Mesh`] and [`ApplicationCore::Torus`].
    pub hosts: u32,
    /// Length of each message.
    pub bytes: u32,
    /// Iterations of [`ApplicationCore::Mesh`] and [`ApplicationCore::Torus`].
    pub iterations: u32,
    /// Time to compute in each iteration, in ticks of the fabric.
    pub compute_ticks: u64,
}
