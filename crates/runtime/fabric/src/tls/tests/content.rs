//! What a process sees and can change that all bytes of a connection pass through.

use super::*;
use crate::tls::addresses::{InterfaceAddress, NodeAddress};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

/// What has passed, in both directions.
type Recorded = Arc<Mutex<[Vec<u8>; 2]>>;

/// Passes one connection on to `to`, and records it. `change` may change what passes: it gets the direction,
/// how much has passed, and the bytes.
fn pass_on(
    to: SocketAddr,
    change: impl Fn(usize, usize, &mut [u8]) + Send + Sync + 'static,
) -> (SocketAddr, Recorded) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (at, recorded) = (listener.local_addr().unwrap(), Recorded::default());
    let (kept, change) = (Arc::clone(&recorded), Arc::new(change));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(client) = stream else { return };
            let server = TcpStream::connect(to).unwrap();
            let ends = [(client.try_clone(), server.try_clone()), (Ok(server), Ok(client))];
            for (direction, (from, into)) in ends.into_iter().enumerate() {
                let (mut from, mut into) = (from.unwrap(), into.unwrap());
                let (kept, change) = (Arc::clone(&kept), Arc::clone(&change));
                std::thread::spawn(move || {
                    let mut bytes = [0; 4096];
                    while let Ok(got @ 1..) = from.read(&mut bytes) {
                        let mut kept = kept.lock().unwrap();
                        change(direction, kept[direction].len(), &mut bytes[..got]);
                        kept[direction].extend_from_slice(&bytes[..got]);
                        drop(kept);
                        if into.write_all(&bytes[..got]).is_err() {
                            break;
                        }
                    }
                    let _ = into.shutdown(std::net::Shutdown::Both);
                });
            }
        }
    });
    (at, recorded)
}

/// Two nodes, of which node 0 reaches node 1 through such a process.
fn job_through(change: impl Fn(usize, usize, &mut [u8]) + Send + Sync + 'static) -> (Vec<TlsWire>, Recorded) {
    let (zero, one) = (open_one(), open_one());
    let real = [zero.address().to_vec(), one.address().to_vec()];
    let one = one.connect(NodeId(1), &secret(), &real).unwrap();
    let (between, recorded) = pass_on(port_of(&one), change);
    let address = NodeAddress {
        port: between.port(),
        addresses: vec![InterfaceAddress { ip: between.ip(), prefix: 8 }],
    };
    let zero = zero.connect(NodeId(0), &secret(), &[real[0].clone(), address.encode()]).unwrap();
    (vec![zero, one], recorded)
}

fn contains(bytes: &[u8], sought: &[u8]) -> bool {
    bytes.windows(sought.len()).any(|window| window == sought)
}

#[test]
fn what_passes_shows_nothing_of_what_is_sent() {
    let (mut wires, recorded) = job_through(|_, _, _| {});
    let marker = b"a payload that can be recognized";
    let sent: Vec<u8> = marker.iter().copied().cycle().take(100_000).collect();
    for (from, to) in [(0, 1), (1, 0)] {
        wires[from].send(NodeId(to as u32), &sent).unwrap();
        let mut event = None;
        work_until(&mut wires, |wires| {
            event = wires[to].poll();
            event.is_some()
        });
        assert!(event == Some(Event::Message { from: NodeId(from as u32), bytes: sent.clone() }));
    }
    let recorded = recorded.lock().unwrap();
    for (direction, bytes) in recorded.iter().enumerate() {
        assert!(bytes.len() > sent.len(), "direction {direction}: {} bytes", bytes.len());
        for length in [8, marker.len()] {
            assert!(!contains(bytes, &marker[..length]), "direction {direction}");
        }
        assert!(!contains(bytes, &[7; 8]), "the secret");
    }
    assert!(contains(&sent, marker) && contains(&recorded[0], b"evenkeel"), "what is there is found");
}

/// A bit that is changed on the way ends the connection. Nothing wrong is delivered.
#[test]
fn what_is_changed_on_the_way_is_not_delivered() {
    // In the greeting, in the handshake, in a frame's head, and in what follows.
    for place in [3, 40, 70, 200, 700, 900, 1100, 5000, 40_000] {
        let (mut wires, recorded) = job_through(move |direction, passed, bytes| {
            if direction == 0 && (passed..passed + bytes.len()).contains(&place) {
                bytes[place - passed] ^= 1;
            }
        });
        let sent = vec![0x5a; 100_000];
        wires[0].send(NodeId(1), &sent).unwrap();
        let mut happened = Vec::new();
        work_until(&mut wires, |wires| {
            happened.extend([0, 1].into_iter().filter_map(|node| wires[node].poll()));
            !happened.is_empty()
        });
        // Up to the end of the handshake, node 0 tries again; the bit is changed only once.
        let message = Event::Message { from: NodeId(0), bytes: sent };
        let is_allowed = |event: &Event| matches!(event, Event::Lost { .. }) || *event == message;
        assert!(happened.iter().all(is_allowed), "a changed bit at {place} has changed something");
        let is_lost = happened.iter().any(|event| matches!(event, Event::Lost { .. }));
        assert!(is_lost || place < 1100, "a changed bit at {place} has not been noticed");
        assert!(recorded.lock().unwrap()[0].len() > place);
    }
}

/// After a number of records keys are changed, in both directions. Here it is a small number.
#[test]
fn keys_are_changed_after_some_records() {
    let suite = rustls::crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256.tls13().unwrap();
    let suite = Box::leak(Box::new(rustls::Tls13CipherSuite {
        common: rustls::crypto::CipherSuiteCommon {
            suite: suite.common.suite,
            hash_provider: suite.common.hash_provider,
            confidentiality_limit: 40,
        },
        hkdf_provider: suite.hkdf_provider,
        aead_alg: suite.aead_alg,
        quic: None,
    }));
    let suites = vec![rustls::SupportedCipherSuite::Tls13(suite)];
    let identity = |node| Identity::new(&secret(), node).unwrap().with_suites(suites.clone());
    let mut wires = job_as(2, identity);
    for _ in 0..300 {
        assert_undisturbed(&mut wires, [0, 1]);
    }
    let long = vec![9; 3_000_000];
    for (from, to) in [(0, 1), (1, 0)] {
        wires[from].send(NodeId(to as u32), &long).unwrap();
        let mut event = None;
        work_until(&mut wires, |wires| {
            event = wires[to].poll();
            event.is_some()
        });
        assert!(event == Some(Event::Message { from: NodeId(from as u32), bytes: long.clone() }));
    }
}
