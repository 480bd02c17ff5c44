//! What `evenkeel doctor` says about jobs that take turns.

use evenkeel_share::{Directory, Mechanism, Trial};
use std::path::PathBuf;

/// How jobs are switched here, and what that cannot do.
pub fn sharing() -> String {
    let mut text = String::from("\nJobs that take turns, --share\n");
    for Trial { mechanism, result } in evenkeel_share::trials() {
        text += &match result {
            Ok(()) => format!("  --switch {:<7} works: {}\n", mechanism.name(), description(mechanism)),
            Err(why) => format!("  --switch {:<7} does not work: {why}\n", mechanism.name()),
        };
    }
    text += if evenkeel_share::real_time_is_permitted() {
        "  switchers have real-time priority: quanta from 1 ms on are kept\n"
    } else {
        "  switchers have no real-time priority (CAP_SYS_NICE, or `ulimit -r`): they are some \
         milliseconds late where cores are busy, and make the quantum longer\n"
    };
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    text += &match Directory::existing(runtime.as_deref()) {
        Err(error) => format!("  {error}\n"),
        Ok(None) => "  no job of yours takes turns here\n".to_string(),
        Ok(Some(directory)) => match directory.read() {
            Err(error) => format!("  {error}\n"),
            Ok(list) => {
                let path = directory.path().display();
                format!("  {} jobs of yours take turns here ({path})\n", list.living())
            }
        },
    };
    text
}

fn description(mechanism: Mechanism) -> &'static str {
    match mechanism {
        Mechanism::Freeze => "acts at once; a process that runs is frozen, and one that sleeps is left alone",
        Mechanism::Stop => {
            "acts at once; a parent that waits for stopped children notices; processes that leave the \
             tree of another launcher are not switched"
        }
        Mechanism::Demote => {
            "programs notice nothing; it acts some milliseconds late, so slots have 100 ms or more"
        }
    }
}
