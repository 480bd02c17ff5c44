//! Serves the page and its answers on this machine, to those who have the address that was printed.
//!
//! A web server on loopback can be reached by every user of the machine, and by every page that a user has
//! open in a browser. So each request must name this server as its host (a name that was rebound to this
//! machine does not), must come from this page or from none, and must have the token: 128 random bits that
//! stand in the printed address only.

use crate::answers::{Answers, Question};
use crate::http::{self, Request, Response};
use std::io::{self, Read};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const SCRIPT: &str = include_str!("../../../../web/dist/debug.js");
const STYLE: &str = include_str!("../../../../web/dist/debug.css");

/// What the browser may do with the page: run its script, use its style, ask this server.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The header that questions have the token in.
const TOKEN_HEADER: &str = "X-Evenkeel-Token";

/// Connections at a time. A browser opens six, and some in advance.
const MOST_CONNECTIONS: usize = 64;

/// Listens on loopback.
pub struct DebugServer {
    listener: TcpListener,
    door: Door,
}

/// Who is let in.
#[derive(Clone, Debug)]
struct Door {
    address: SocketAddr,
    token: String,
}

/// What connections share.
struct Served {
    door: Door,
    answers: Answers,
    connections: AtomicUsize,
    is_over: AtomicBool,
}

/// Why a request is refused: a status of HTTP, and a sentence.
type RequestError = (u16, &'static str);

impl DebugServer {
    /// Listens at this port; 0: at any that is free.
    pub fn listen(port: u16) -> io::Result<DebugServer> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let address = listener.local_addr()?;
        Ok(DebugServer { listener, door: Door { address, token: token()? } })
    }

    /// The address to open, with the token.
    pub fn address(&self) -> String {
        format!("http://{}/?token={}", self.door.address, self.door.token)
    }

    /// Answers until the page says that it is enough. Each connection has a thread and one request: one that
    /// says nothing, as browsers open in advance, holds up no other.
    pub fn serve(self, answers: Answers) {
        let (connections, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
        let served = Arc::new(Served { door: self.door, answers, connections, is_over });
        for stream in self.listener.incoming() {
            if served.is_over.load(Ordering::Relaxed) {
                return;
            }
            // An error is one of a connection, and concerns no other one.
            let Ok(stream) = stream else { continue };
            if served.connections.fetch_add(1, Ordering::Relaxed) >= MOST_CONNECTIONS {
                served.connections.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            let connection = Arc::clone(&served);
            let work = move || {
                connection.respond(stream);
                connection.connections.fetch_sub(1, Ordering::Relaxed);
            };
            if std::thread::Builder::new().spawn(work).is_err() {
                served.connections.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }
}

impl Served {
    fn respond(&self, mut stream: TcpStream) {
        let Ok(request) = http::read(&mut stream) else { return };
        let wants = request.map(|request| Wants::of(&request));
        let (status, kind, body) = match wants.as_ref().map(|wants| self.door.checked(wants)) {
            None => (400, "text/plain; charset=utf-8", "This is no request of HTTP/1.1.\n".into()),
            Some(Err((status, why))) => (status, "text/plain; charset=utf-8", format!("{why}\n")),
            Some(Ok(())) => self.content(wants.as_ref().expect("it was checked")),
        };
        let ends = status == 200 && wants.is_some_and(|wants| wants.path == "/end");
        // A client that has gone away needs no answer.
        let _ = http::write(&mut stream, &Response { status, headers: &headers(kind), body: &body });
        if ends {
            self.is_over.store(true, Ordering::Relaxed);
            // The listener looks when somebody comes.
            let _ = TcpStream::connect(self.door.address);
        }
    }

    fn content(&self, wants: &Wants) -> (u16, &'static str, String) {
        match wants.path.as_str() {
            "/" => (200, "text/html; charset=utf-8", self.page()),
            "/debug.js" => (200, "text/javascript; charset=utf-8", SCRIPT.into()),
            "/debug.css" => (200, "text/css; charset=utf-8", STYLE.into()),
            "/end" => (200, "application/json", "true".into()),
            path => match path.strip_prefix("/api/") {
                None => (404, "text/plain; charset=utf-8", "There is no such page.\n".into()),
                Some(path) => {
                    let question = Question::of(&format!("{path}?{}", wants.query));
                    match self.answers.answer(&question) {
                        Ok(value) => (200, "application/json", value.to_string()),
                        Err(wrong) => (400, "text/plain; charset=utf-8", format!("{wrong}\n")),
                    }
                }
            },
        }
    }

    fn page(&self) -> String {
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>evenkeel debug</title>\n\
             <link rel=\"icon\" href=\"data:,\">\n\
             <link rel=\"stylesheet\" href=\"/debug.css?token={0}\">\n</head>\n<body>\n\
             <noscript>This page needs a script. `evenkeel debug --text` gives the same answers.</noscript>\n\
             <div id=\"debug\"></div>\n<script src=\"/debug.js?token={0}\"></script>\n</body>\n</html>\n",
            self.door.token
        )
    }
}

impl Door {
    /// Whether a request may be answered.
    fn checked(&self, wants: &Wants) -> Result<(), RequestError> {
        let port = self.address.port();
        let is_ours =
            |host: &str| ["127.0.0.1", "localhost"].iter().any(|name| host == format!("{name}:{port}"));
        if !wants.hosts.iter().all(|host| is_ours(host)) || wants.hosts.len() != 1 {
            return Err((403, "This server answers to its own address only."));
        }
        let is_origin = |origin: &String| origin.strip_prefix("http://").is_some_and(is_ours);
        if !wants.origins.iter().all(is_origin) {
            return Err((403, "This server answers its own page only."));
        }
        // The address itself may be opened from anywhere, but what the page needs only by the page.
        let is_own = |site: &String| site == "same-origin" || site == "none" || wants.path == "/";
        if !wants.sites.iter().all(is_own) {
            return Err((403, "This server answers its own page only."));
        }
        if !is_equal(wants.token.as_bytes(), self.token.as_bytes()) {
            return Err((
                403,
                "The token is missing or wrong: open the address that `evenkeel debug` prints.",
            ));
        }
        if !wants.is_allowed_method {
            return Err((405, "Only GET is answered."));
        }
        Ok(())
    }
}

fn headers(kind: &'static str) -> [(&'static str, &'static str); 6] {
    [
        ("Content-Type", kind),
        ("Content-Security-Policy", POLICY),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Cache-Control", "no-store"),
    ]
}

/// What a request asks for, and what it says of where it comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Wants {
    path: String,
    query: String,
    is_allowed_method: bool,
    hosts: Vec<String>,
    origins: Vec<String>,
    /// `Sec-Fetch-Site`, which browsers set and pages cannot.
    sites: Vec<String>,
    token: String,
}

impl Wants {
    fn of(request: &Request) -> Wants {
        let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
        let method = if path == "/end" { "POST" } else { "GET" };
        // Questions have their token in a header, which no form and no link of another page can set.
        let is_asset = matches!(path, "/" | "/debug.js" | "/debug.css");
        let token = match request.all(TOKEN_HEADER).pop() {
            None if is_asset => Question::of(&request.target).text("token").to_string(),
            token => token.unwrap_or_default(),
        };
        Wants {
            path: path.into(),
            query: query.into(),
            is_allowed_method: request.method == method,
            hosts: request.all("Host"),
            origins: request.all("Origin"),
            sites: request.all("Sec-Fetch-Site"),
            token,
        }
    }
}

/// Takes the same time wherever the two differ.
fn is_equal(one: &[u8], other: &[u8]) -> bool {
    let differ = one.iter().zip(other).fold(0, |differ, (a, b)| differ | (a ^ b));
    one.len() == other.len() && differ == 0
}

/// 128 bits of the kernel's.
fn token() -> io::Result<String> {
    let mut bytes = [0; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
