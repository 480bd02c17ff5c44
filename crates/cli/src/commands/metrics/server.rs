//! Serves metrics by HTTP.

use super::exposition::Format;
use crate::errors::MetricsError;
use std::net::SocketAddr;
use std::time::Duration;
use tiny_http::{Header, Method, Request, Response, Server};

/// A server that answers one kind of question.
pub struct MetricsServer(Server);

impl MetricsServer {
    /// Listens at an address.
    pub fn listen(address: SocketAddr) -> Result<MetricsServer, MetricsError> {
        let server = Server::http(address)
            .map_err(|cause| MetricsError::Listen { address, cause: cause.to_string() })?;
        Ok(MetricsServer(server))
    }

    /// Where it listens; the port is the one that the kernel chose, if 0 was asked for.
    pub fn address(&self) -> Option<SocketAddr> {
        self.0.server_addr().to_ip()
    }

    /// Waits for so long at most for somebody who asks, and answers. `read` makes the metrics.
    pub fn serve(&self, longest: Duration, read: impl FnOnce(Format) -> String) {
        // An error is one of a connection, and concerns no other one.
        let Ok(Some(request)) = self.0.recv_timeout(longest) else { return };
        let is_known = matches!(path(&request), "/metrics" | "/");
        let is_read = matches!(request.method(), Method::Get | Method::Head);
        let response = match (is_known, is_read) {
            (true, true) if path(&request) == "/" => {
                Response::from_string("The metrics of evenkeel are at /metrics.\n")
            }
            (true, true) => {
                let format = format(&request);
                let kind = Header::from_bytes("Content-Type", format.content_type());
                Response::from_string(read(format)).with_header(kind.expect("a constant that is a header"))
            }
            (true, false) => Response::from_string("Only GET is answered.\n").with_status_code(405),
            (false, _) => Response::from_string("There is only /metrics.\n").with_status_code(404),
        };
        // In a thread of its own: a client that does not read its answer holds up nothing else.
        std::thread::spawn(move || request.respond(response));
    }
}

fn path(request: &Request) -> &str {
    request.url().split('?').next().unwrap_or_default()
}

/// OpenMetrics for those who say that they take it.
fn format(request: &Request) -> Format {
    let mut accepted = request.headers().iter().filter(|header| header.field.equiv("Accept"));
    if accepted.any(|header| header.value.as_str().contains("application/openmetrics-text")) {
        Format::OpenMetrics
    } else {
        Format::Prometheus
    }
}
