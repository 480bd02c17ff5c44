//! One request of HTTP/1.1 on a connection, and its answer.
//!
//! Requests have no bodies here, and each has a connection of its own: that is all that the page needs.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// The longest head of a request.
const MOST_BYTES: usize = 16 << 10;
/// A client that needs longer to say what it wants wants nothing.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a client says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// `GET`, `POST`, …
    pub method: String,
    /// Path and query.
    pub target: String,
    /// Names in lower case.
    headers: Vec<(String, String)>,
}

impl Request {
    /// The values of all headers with this name.
    pub fn all(&self, name: &str) -> Vec<String> {
        let named = self.headers.iter().filter(|header| header.0.eq_ignore_ascii_case(name));
        named.map(|header| header.1.clone()).collect()
    }

    /// Of the bytes before the empty line; `None`: they are no request.
    pub fn parse(head: &[u8]) -> Option<Request> {
        let text = std::str::from_utf8(head).ok()?;
        let mut lines = text.split("\r\n");
        let mut words = lines.next()?.split(' ');
        let (method, target, version) = (words.next()?, words.next()?, words.next()?);
        let is_known = matches!(version, "HTTP/1.1" | "HTTP/1.0") && words.next().is_none();
        if !is_known || !target.starts_with('/') {
            return None;
        }
        let header = |line: &str| {
            let (name, value) = line.split_once(':')?;
            // Space before the colon makes servers disagree about the name.
            let is_name = !name.is_empty() && !name.contains([' ', '\t']);
            is_name.then(|| (name.to_ascii_lowercase(), value.trim().to_string()))
        };
        let headers = lines.filter(|line| !line.is_empty()).map(header).collect::<Option<Vec<_>>>()?;
        Some(Request { method: method.into(), target: target.into(), headers })
    }
}

/// Reads a request. `None`: what came is none.
pub(crate) fn read(stream: &mut TcpStream) -> io::Result<Option<Request>> {
    let begun = Instant::now();
    let (mut head, mut piece) = (Vec::new(), [0; 2048]);
    loop {
        let left = PATIENCE.saturating_sub(begun.elapsed());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        let count = stream.read(&mut piece)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        head.extend_from_slice(&piece[..count]);
        if let Some(end) = head.windows(4).position(|four| four == b"\r\n\r\n") {
            return Ok(Request::parse(&head[..end]));
        }
        if head.len() > MOST_BYTES {
            return Ok(None);
        }
    }
}

/// An answer.
pub(crate) struct Response<'a> {
    pub status: u16,
    pub headers: &'a [(&'static str, &'static str)],
    pub body: &'a str,
}

/// Writes an answer; the connection ends with it.
pub(crate) fn write(stream: &mut TcpStream, response: &Response) -> io::Result<()> {
    let reason = match response.status {
        200 => "OK",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        _ => "Bad Request",
    };
    let mut head = format!("HTTP/1.1 {} {reason}\r\n", response.status);
    for (name, value) in response.headers {
        head += &format!("{name}: {value}\r\n");
    }
    head += &format!("Content-Length: {}\r\nConnection: close\r\n\r\n", response.body.len());
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.set_nodelay(true)?;
    stream.write_all(head.as_bytes())?;
    stream.write_all(response.body.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::Request;

    #[test]
    fn requests_are_read_as_they_are_written() {
        let request = Request::parse(b"GET /a?b=c HTTP/1.1\r\nHost: x:1\r\nX-Y:  z \r\nhost: y").unwrap();
        assert_eq!((request.method.as_str(), request.target.as_str()), ("GET", "/a?b=c"));
        assert_eq!(request.all("HOST"), ["x:1", "y"]);
        assert_eq!(request.all("x-y"), ["z"]);
    }

    #[test]
    fn what_is_no_request_is_none() {
        let none = [
            "",
            "GET",
            "GET /",
            "GET / HTTP/2",
            "GET x HTTP/1.1",
            "GET http://x/ HTTP/1.1",
            "GET / HTTP/1.1 x",
            "GET / HTTP/1.1\r\nHost : x",
            "GET / HTTP/1.1\r\nx",
            "GET / HTTP/1.1\r\n: x",
        ];
        for head in none {
            assert_eq!(Request::parse(head.as_bytes()), None, "{head}");
        }
        assert_eq!(Request::parse(b"GET /\xff HTTP/1.1"), None);
    }
}
