//! Who is answered, over real connections.

use evenkeel_debug::analysis::Analysis;
use evenkeel_debug::answers::Answers;
use evenkeel_debug::run::Run;
use evenkeel_debug::server::DebugServer;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;

struct Served {
    port: String,
    token: String,
    server: std::thread::JoinHandle<()>,
}

fn serve() -> Served {
    let server = DebugServer::listen(0).unwrap();
    let address = server.address();
    let rest = address.strip_prefix("http://127.0.0.1:").unwrap();
    let (port, token) = rest.split_once("/?token=").unwrap();
    assert!(token.len() == 32 && token.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let (port, token) = (port.to_string(), token.to_string());
    let answers = Answers::new("t".into(), Analysis::of(Run::default()), None, None);
    let server = std::thread::spawn(move || server.serve(answers));
    Served { port, token, server }
}

impl Served {
    /// Status and whole answer.
    fn request(&self, line: &str, headers: &[String]) -> (u16, String) {
        let mut stream = TcpStream::connect(format!("127.0.0.1:{}", self.port)).unwrap();
        stream.set_read_timeout(Some(std::time::Duration::from_secs(60))).unwrap();
        let headers = headers.join("\r\n");
        write!(stream, "{line} HTTP/1.1\r\n{headers}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
        (status.unwrap_or(0), answer)
    }

    fn host(&self) -> String {
        format!("Host: 127.0.0.1:{}", self.port)
    }

    fn with_token(&self) -> String {
        format!("X-Evenkeel-Token: {}", self.token)
    }

    fn status(&self, line: &str, headers: &[String]) -> u16 {
        self.request(line, headers).0
    }

    fn end(self) {
        assert_eq!(self.status("POST /end", &[self.host(), self.with_token()]), 200);
        self.server.join().unwrap();
    }
}

#[test]
fn only_the_page_with_the_token_is_answered() {
    let it = serve();
    let (host, token) = (it.host(), it.with_token());
    let run = "GET /api/run";
    assert_eq!(it.status(run, &[host.clone(), token.clone()]), 200);
    assert_eq!(it.status(run, std::slice::from_ref(&host)), 403, "no token");
    assert_eq!(it.status(run, &[host.clone(), "X-Evenkeel-Token: 0".into()]), 403, "wrong token");
    let wrong = format!("X-Evenkeel-Token: {}", it.token.replace(|c: char| c.is_ascii_digit(), "x"));
    assert_eq!(it.status(run, &[host.clone(), wrong]), 403, "wrong token of the same length");
    let in_address = format!("GET /api/run?token={}", it.token);
    assert_eq!(it.status(&in_address, std::slice::from_ref(&host)), 403, "questions have it in a header");
    for asset in ["/", "/debug.js", "/debug.css"] {
        assert_eq!(
            it.status(&format!("GET {asset}"), std::slice::from_ref(&host)),
            403,
            "{asset} without token"
        );
        let line = format!("GET {asset}?token={}", it.token);
        assert_eq!(it.status(&line, std::slice::from_ref(&host)), 200, "{asset}");
    }
    it.end();
}

/// Another page in the same browser, and a name that was rebound to this machine.
#[test]
fn strangers_are_refused_even_with_the_token() {
    let it = serve();
    let (host, token, run) = (it.host(), it.with_token(), "GET /api/run");
    let refused = |headers: &[String]| assert_eq!(it.status(run, headers), 403, "{headers:?}");
    refused(&["Host: evil.example".into(), token.clone()]);
    refused(&[format!("Host: evil.example:{}", it.port), token.clone()]);
    refused(&["Host: 127.0.0.1".into(), token.clone()]);
    refused(&[host.clone(), host.clone(), token.clone()]);
    refused(std::slice::from_ref(&token));
    for origin in ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1"] {
        refused(&[host.clone(), token.clone(), format!("Origin: {origin}")]);
    }
    for site in ["cross-site", "same-site"] {
        refused(&[host.clone(), token.clone(), format!("Sec-Fetch-Site: {site}")]);
    }
    let own = format!("Origin: http://localhost:{}", it.port);
    let local = format!("Host: localhost:{}", it.port);
    assert_eq!(it.status(run, &[local, token.clone(), own, "Sec-Fetch-Site: same-origin".into()]), 200);
    assert_eq!(it.status("POST /api/run", &[host.clone(), token.clone()]), 405);
    assert_eq!(it.status("GET /end", &[host.clone(), token.clone()]), 405, "no link ends it");
    assert_eq!(it.status("GET /api/../etc/passwd", &[host.clone(), token.clone()]), 400);
    assert_eq!(it.status("GET /nothing", &[host, token]), 404);
    it.end();
}

#[test]
fn answers_forbid_everything_that_the_page_does_not_need() {
    let it = serve();
    let (_, answer) = it.request(&format!("GET /?token={}", it.token), &[it.host()]);
    for header in [
        "Content-Security-Policy: default-src 'none'; script-src 'self'",
        "X-Content-Type-Options: nosniff",
        "Referrer-Policy: no-referrer",
        "Cache-Control: no-store",
        "frame-ancestors 'none'",
    ] {
        assert!(answer.contains(header), "{header}: {answer}");
    }
    assert!(!answer.contains("http://") && !answer.contains("https://"), "nothing from elsewhere");
    it.end();
}

/// A connection that says nothing, and one that says nonsense, hold up no others.
#[test]
fn broken_clients_hold_up_no_others() {
    let it = serve();
    let address = format!("127.0.0.1:{}", it.port);
    let silent: Vec<TcpStream> = (0..20).map(|_| TcpStream::connect(&address).unwrap()).collect();
    for nonsense in ["\r\n\r\n", "GET\r\n\r\n", "\0\u{1}\u{2}\r\n\r\n", "GET / HTTP/9.9\r\n\r\n"] {
        TcpStream::connect(&address).unwrap().write_all(nonsense.as_bytes()).unwrap();
    }
    assert_eq!(it.status("GET /api/run", &[it.host(), it.with_token()]), 200);
    drop(silent);
    it.end();
}

/// As the page of a report: dist/ must be built of the sources as they are.
#[test]
fn the_built_page_is_current() {
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../web");
    let sources = std::fs::read_dir(web.join("debug")).unwrap().map(|entry| entry.unwrap().path());
    let mut sources: Vec<_> = sources.collect();
    sources.sort();
    sources.push(web.join("package-lock.json"));
    let mut hash = 0xcbf2_9ce4_8422_2325_u64; // FNV-1a
    for source in sources {
        for byte in std::fs::read(source).unwrap() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
    let built = std::fs::read_to_string(web.join("dist/debug.js")).unwrap();
    assert!(
        built.starts_with(&format!("/* made by build.mjs from sources {hash:016x}")),
        "web/dist is stale: run \"npm ci && npm run build\" in web/ and commit the result"
    );
}
