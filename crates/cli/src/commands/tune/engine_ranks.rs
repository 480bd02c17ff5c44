//! The ranks of a measurement: processes that are started, introduced to each other, given a task, and ended.

use crate::errors::MeasurementError;
use crate::machine::worker::{self, WorkerOutput};
use evenkeel_options as options;
use evenkeel_tune::MeasurementTask;
use evenkeel_tune::comparison::Comparison;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// A rank that has not answered for this long beyond its time is considered stuck.
const PATIENCE: Duration = Duration::from_secs(30);
/// After this time, a process that has closed its output has also ended.
const ENDING: Duration = Duration::from_millis(50);

/// The options of ranks that are measured: barriers wait for all ranks, and there is no table. How ranks wait
/// and where they run is as in a run.
const OPTIONS: &[(&options::OptionSpec, &str)] = &[
    (&options::BARRIER, "strict"),
    (&options::TABLE, "none"),
    (&options::OFF, "0"),
    (&options::RECORD, "1"),
    (&options::REPORT, ""),
];

/// All ranks of one measurement. They end with it.
pub struct EngineRanks {
    processes: Vec<Child>,
    output: Receiver<(usize, WorkerOutput)>,
}

impl EngineRanks {
    /// Starts `program tune rank` once for each rank.
    pub fn start(program: &Path, ranks: u32) -> Result<EngineRanks, MeasurementError> {
        let (sender, output) = channel();
        let mut all = EngineRanks { processes: Vec::new(), output };
        for rank in 0..ranks as usize {
            let mut command = Command::new(program);
            command.args(["tune", "rank", &std::process::id().to_string()]);
            command.envs(OPTIONS.iter().map(|(option, value)| (option.env, value)));
            command.stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut process =
                command.spawn().map_err(|e| failed(format!("rank {rank} could not be started ({e})")))?;
            worker::forward_output(rank, &mut process, sender.clone());
            all.processes.push(process);
        }
        Ok(all)
    }

    /// Has the ranks measure. `progress` is told the share of the time.
    pub fn measure(
        &mut self,
        task: &MeasurementTask,
        mut progress: impl FnMut(f64),
    ) -> Result<Comparison, MeasurementError> {
        let infos = self.answers("process ")?.join(" ");
        self.send(|rank| format!("{rank} {infos}"))?;
        let joined = self.answers("joined ")?.join(" ");
        self.send(|_| joined.clone())?;
        let task_of = |rank| MeasurementTask { rank, ..task.clone() };
        self.send(|rank| serde_json::to_string(&task_of(rank)).expect("tasks consist of plain data"))?;
        let longest = PATIENCE + Duration::from_millis(task.screening_ms + task.finals_ms);
        loop {
            let (rank, line) = self.next_line(longest)?;
            match line.split_once(' ') {
                Some(("progress", share)) => progress(share.parse().unwrap_or(0.0)),
                Some(("found", comparison)) => {
                    return serde_json::from_str(comparison)
                        .map_err(|e| failed(format!("the result of rank {rank} cannot be read ({e})")));
                }
                _ => return Err(not_understood(rank, &line)),
            }
        }
    }

    /// One line of each rank, in the order of ranks, without the word that they begin with.
    fn answers(&mut self, word: &str) -> Result<Vec<String>, MeasurementError> {
        let mut answers = vec![None; self.processes.len()];
        while answers.iter().any(Option::is_none) {
            let (rank, line) = self.next_line(PATIENCE)?;
            let answer = line.strip_prefix(word).ok_or_else(|| not_understood(rank, &line))?;
            answers[rank] = Some(answer.to_string());
        }
        Ok(answers.into_iter().flatten().collect())
    }

    fn next_line(&mut self, longest: Duration) -> Result<(usize, String), MeasurementError> {
        match self.output.recv_timeout(longest) {
            Ok((rank, WorkerOutput::Line(line))) => Ok((rank, line)),
            Ok((_, WorkerOutput::End)) | Err(_) => Err(self.lost_rank()),
        }
    }

    fn send(&mut self, line: impl Fn(usize) -> String) -> Result<(), MeasurementError> {
        for (rank, process) in self.processes.iter_mut().enumerate() {
            if worker::send_line(process, &line(rank)).is_err() {
                return Err(self.lost_rank());
            }
        }
        Ok(())
    }

    /// The error that names the rank that has ended, or says that ranks do not answer.
    fn lost_rank(&mut self) -> MeasurementError {
        std::thread::sleep(ENDING);
        let mut processes = self.processes.iter_mut().enumerate();
        let ended = processes.find_map(|(rank, process)| Some((rank, process.try_wait().ok()??)));
        match ended {
            Some((rank, status)) => failed(format!("rank {rank} has ended ({status})")),
            None => failed("the ranks do not answer".into()),
        }
    }
}

impl Drop for EngineRanks {
    fn drop(&mut self) {
        for process in &mut self.processes {
            // Ranks that have delivered a result end by themselves; the others are not needed any more.
            drop(process.stdin.take());
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

fn failed(why: String) -> MeasurementError {
    MeasurementError::Failed { why }
}

fn not_understood(rank: usize, line: &str) -> MeasurementError {
    failed(format!("rank {rank} answered `{line}`, which is not understood"))
}

/// Works as a rank until its task is done.
pub fn serve(starter: u32) -> Result<(), MeasurementError> {
    worker::end_with(starter).map_err(|e| failed(e.to_string()))?;
    evenkeel_tune::rank::run_rank(std::io::stdin().lock(), std::io::stdout().lock())
        .map_err(|e| failed(e.to_string()))
}
