//! Serves the page and its answers on this machine, to whoever has the address that was printed.
//!
//! A web server on loopback can be reached by every user of the machine, and by every page that a user has
//! open in a browser. So each request must name this server as its host (a name that was rebound to this
//! machine does not), must come from this page or from none, and must have the token: 128 random bits that
//! stand in the printed address only.

use crate::answers::{Answers, Question};
use std::io::{self, Read};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use tiny_http::{Header, Method, Request, Response, Server};

const SCRIPT: &str = include_str!("../../../../web/dist/debug.js");
const STYLE: &str = include_str!("../../../../web/dist/debug.css");

/// What the browser may do with the page: run its script, use its style, ask this server.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The header that questions have the token in.
const TOKEN_HEADER: &str = "X-Evenkeel-Token";

/// Requests that are answered at once: a browser asks several things.
const THREADS: usize = 4;

/// Listens on loopback.
pub struct DebugServer {
    server: Server,
    address: SocketAddr,
    token: String,
}

/// Why a request is refused: a status of HTTP, and a sentence.
type Refusal = (u16, &'static str);

impl DebugServer {
    /// Listens at this port; 0: at any that is free.
    pub fn listen(port: u16) -> io::Result<DebugServer> {
        let server = Server::http((Ipv4Addr::LOCALHOST, port)).map_err(io::Error::other)?;
        let address = server.server_addr().to_ip();
        let address = address.ok_or_else(|| io::Error::other("it has no address"))?;
        Ok(DebugServer { server, address, token: token()? })
    }

    /// The address to open, with the token.
    pub fn address(&self) -> String {
        format!("http://{}/?token={}", self.address, self.token)
    }

    /// Answers until the page says that it is enough.
    pub fn serve(&self, answers: Answers) {
        let is_over = AtomicBool::new(false);
        let work = || {
            while !is_over.load(Ordering::Relaxed) {
                // An error is one of a connection, and concerns no other one.
                match self.server.recv() {
                    Ok(request) => self.respond(request, &answers, &is_over),
                    Err(_) => continue,
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(work);
            }
        });
    }

    fn respond(&self, request: Request, answers: &Answers, is_over: &AtomicBool) {
        let wants = Wants::of(&request);
        let (status, kind, body) = match self.checked(&wants) {
            Err((status, why)) => (status, "text/plain; charset=utf-8", format!("{why}\n")),
            Ok(()) => self.content(&wants, answers),
        };
        let ends = status == 200 && wants.path == "/end";
        let mut response = Response::from_string(body).with_status_code(status);
        for (name, value) in headers(kind) {
            response.add_header(Header::from_bytes(name, value).expect("constants that are headers"));
        }
        // A client that has gone away needs no answer.
        let _ = request.respond(response);
        if ends {
            is_over.store(true, Ordering::Relaxed);
            // One is woken up at a time.
            (0..THREADS).for_each(|_| self.server.unblock());
        }
    }

    /// Whether a request may be answered.
    fn checked(&self, wants: &Wants) -> Result<(), Refusal> {
        let port = self.address.port();
        let is_ours = |host: &str| ["127.0.0.1", "localhost"].iter().any(|name| host == format!("{name}:{port}"));
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
            return Err((403, "The token is missing or wrong: open the address that `evenkeel debug` has printed."));
        }
        if !wants.is_allowed_method {
            return Err((405, "Only GET is answered."));
        }
        Ok(())
    }

    fn content(&self, wants: &Wants, answers: &Answers) -> (u16, &'static str, String) {
        match wants.path.as_str() {
            "/" => (200, "text/html; charset=utf-8", self.page()),
            "/debug.js" => (200, "text/javascript; charset=utf-8", SCRIPT.into()),
            "/debug.css" => (200, "text/css; charset=utf-8", STYLE.into()),
            "/end" => (200, "application/json", "true".into()),
            path => match path.strip_prefix("/api/") {
                None => (404, "text/plain; charset=utf-8", "There is no such page.\n".into()),
                Some(path) => {
                    let question = Question::of(&format!("{path}?{}", wants.query));
                    match answers.answer(&question) {
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
             <noscript>This page needs its script. `evenkeel debug --text` gives the same answers.</noscript>\n\
             <div id=\"debug\"></div>\n<script src=\"/debug.js?token={0}\"></script>\n</body>\n</html>\n",
            self.token
        )
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
        let all = |name: &'static str| -> Vec<String> {
            let named = request.headers().iter().filter(|header| header.field.equiv(name));
            named.map(|header| header.value.to_string()).collect()
        };
        let (path, query) = request.url().split_once('?').unwrap_or((request.url(), ""));
        let needs_post = path == "/end";
        let is_allowed_method =
            if needs_post { *request.method() == Method::Post } else { *request.method() == Method::Get };
        // Questions have their token in a header, which no form and no link of another page can set.
        let is_asset = matches!(path, "/" | "/debug.js" | "/debug.css");
        let token = match all(TOKEN_HEADER).pop() {
            None if is_asset => Question::of(request.url()).text("token").to_string(),
            token => token.unwrap_or_default(),
        };
        Wants {
            path: path.into(),
            query: query.into(),
            is_allowed_method,
            hosts: all("Host"),
            origins: all("Origin"),
            sites: all("Sec-Fetch-Site"),
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
