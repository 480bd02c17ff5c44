//! Carries out `evenkeel metrics`.

use super::arguments::MetricsArguments;
use super::exporter::Exporter;
use super::exposition::{self, Format};
use super::server::MetricsServer;
use crate::errors::CommandError;
use crate::output::file;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long `--once` looks.
const ONCE: Duration = Duration::from_secs(1);

/// Serves or writes metrics until the job that was named ends, or for ever.
pub fn metrics(arguments: &MetricsArguments) -> Result<String, CommandError> {
    file::check_outputs(&[("--file", arguments.file.as_deref())], &[])?;
    let mut exporter = Exporter::begin(arguments.job, Instant::now())?;
    if arguments.once {
        watch_for(&mut exporter, ONCE);
        return Ok(exposition::written(&exporter.read(), Format::Prometheus));
    }
    match &arguments.file {
        Some(path) => write(&mut exporter, path, Duration::from_secs_f64(arguments.interval))?,
        None => {
            let server = MetricsServer::listen(arguments.listen)?;
            let address = server.address().unwrap_or(arguments.listen);
            eprintln!("evenkeel: metrics are served at http://{address}/metrics");
            while !exporter.is_over() {
                let pause = exporter.go_on(Instant::now());
                server.serve(pause, |format| exposition::written(&exporter.read(), format));
            }
        }
    }
    Ok(String::new())
}

/// Takes samples for so long.
fn watch_for(exporter: &mut Exporter, time: Duration) {
    let end = Instant::now() + time;
    while !exporter.is_over() {
        let now = Instant::now();
        if now >= end {
            return;
        }
        std::thread::sleep(exporter.go_on(now).min(end - now));
    }
}

/// Writes the file again and again; at last without the job that has ended.
fn write(exporter: &mut Exporter, path: &Path, interval: Duration) -> Result<(), CommandError> {
    let mut is_over = false;
    while !is_over {
        watch_for(exporter, interval);
        is_over = exporter.is_over();
        file::write(path, &exposition::written(&exporter.read(), Format::Prometheus))?;
    }
    Ok(())
}
