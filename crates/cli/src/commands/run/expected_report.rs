//! `evenkeel run --report`: a job that has ended without its report is told to have none.
//!
//! Rank 0 writes it in `MPI_Finalize`, where all ranks give it what they have counted in their own memory. A
//! job of which a rank crashes does not come to that, and what its ranks have counted is gone with them.

use super::named_hosts;
use crate::commands::launch_arguments::EngineOptions;
use evenkeel_options as options;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A file that a run is to write.
pub struct ExpectedReport {
    /// As it was named.
    file: PathBuf,
    before: Option<Version>,
    /// An option with which there is no report.
    off: Option<&'static str>,
    /// Rank 0 may run on another host, and write the file there.
    may_be_elsewhere: Box<dyn Fn() -> bool>,
}

/// What is different if a file was written anew: rank 0 replaces it, or writes it in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Version {
    device: u64,
    inode: u64,
    bytes: u64,
    written: (i64, i64),
}

impl Version {
    fn of(found: &Metadata) -> Version {
        Version {
            device: found.dev(),
            inode: found.ino(),
            bytes: found.size(),
            written: (found.mtime(), found.mtime_nsec()),
        }
    }
}

impl ExpectedReport {
    /// The report that these options ask for. None: no report, or one on a device or pipe, which keeps
    /// nothing that could be looked at.
    ///
    /// `extra` are the user's arguments for the launcher.
    pub fn of(given: &EngineOptions, extra: &[String]) -> Option<ExpectedReport> {
        let file = Some(given.value(&options::REPORT)).filter(|file| !file.is_empty())?;
        let file = PathBuf::from(file);
        let found = file.metadata().ok();
        if found.as_ref().is_some_and(|found| !found.is_file()) {
            return None;
        }
        let (hosts, extra) = (given.value(&options::HOSTS), extra.to_vec());
        let may_be_elsewhere = move || !hosts.is_empty() || !named_hosts::of_launcher(&extra).is_empty();
        let is_on = |option| given.value(option) == "1";
        let off = match () {
            () if is_on(&options::OFF) => Some("--off"),
            () if !is_on(&options::RECORD) => Some("--record 0"),
            () => None,
        };
        Some(ExpectedReport {
            file,
            off,
            before: found.as_ref().map(Version::of),
            may_be_elsewhere: Box::new(may_be_elsewhere),
        })
    }

    /// The sentence about a job that has ended with this exit code, if it has left no report.
    pub fn sentence(&self, code: u8) -> Option<String> {
        let now = self.file.metadata().ok().as_ref().map(Version::of);
        if now.is_some() && now != self.before {
            return None;
        }
        if code == 0 && (self.may_be_elsewhere)() {
            return None;
        }
        Some(sentence(&self.file, self.off, code, now.is_some()))
    }
}

fn sentence(file: &Path, off: Option<&str>, code: u8, is_old: bool) -> String {
    let why = match (off, code) {
        (Some(option), _) => format!("because of {option}."),
        (None, 0) => {
            "though the job ended with exit code 0: rank 0 writes it in MPI_Finalize, unless a rank \
                      has ended before, or a sentence above says why it could not."
                .to_string()
        }
        (None, _) => format!(
            "because the job ended with exit code {code} before all ranks had come to MPI_Finalize, where \
             rank 0 gathers what they have counted. What ranks do up to a crash is kept by --trace DIRECTORY \
             --trace-level times."
        ),
    };
    let old = if is_old { " The file that is there is of an earlier run." } else { "" };
    format!("no report was written to {}, {why}{old}", file.display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_options::OptionSpec;

    fn expected(file: &Path, extra: &[&str]) -> Option<ExpectedReport> {
        expected_with(file, extra, &[])
    }

    fn expected_with(file: &Path, extra: &[&str], more: &[(&OptionSpec, &str)]) -> Option<ExpectedReport> {
        let report = [(&options::REPORT, file.to_str().unwrap())];
        let given = report.iter().chain(more).map(|(option, value)| (option.env.into(), value.to_string()));
        let given = given.collect();
        let extra: Vec<String> = extra.iter().map(|word| word.to_string()).collect();
        ExpectedReport::of(&EngineOptions { given }, &extra)
    }

    #[test]
    fn a_report_that_was_not_written_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("r.json");
        let said = expected(&file, &[]).unwrap().sentence(139).unwrap();
        assert!(said.starts_with(&format!("no report was written to {}, because", file.display())), "{said}");
        assert!(said.contains("exit code 139") && !said.contains("earlier run"), "{said}");
        let off = expected_with(&file, &[], &[(&options::OFF, "1")]).unwrap();
        assert!(off.sentence(3).unwrap().ends_with("r.json, because of --off."));
        std::fs::write(&file, "{}").unwrap();
        let said = expected(&file, &[]).unwrap().sentence(1).unwrap();
        assert!(said.ends_with("of an earlier run."), "{said}");
    }

    #[test]
    fn a_report_that_was_written_is_no_reason_to_say_anything() {
        let folder = tempfile::tempdir().unwrap();
        let [file, other] = ["r.json", "other"].map(|name| folder.path().join(name));
        let first = expected(&file, &[]).unwrap();
        std::fs::write(&file, "{}").unwrap();
        assert_eq!(first.sentence(3), None, "the job failed, but after MPI_Finalize");
        let second = expected(&file, &[]).unwrap();
        std::fs::write(&other, "{}").unwrap();
        std::fs::rename(&other, &file).unwrap();
        assert_eq!(second.sentence(0), None, "as long as the old one, and replaced");
        assert!(expected(Path::new("/dev/null"), &[]).is_none());
    }

    #[test]
    fn rank_0_may_have_written_it_on_another_host() {
        let folder = tempfile::tempdir().unwrap();
        let report = expected(&folder.path().join("r.json"), &["--host", "a,b"]).unwrap();
        assert_eq!(report.sentence(0), None);
        assert!(report.sentence(1).is_some());
    }
}
