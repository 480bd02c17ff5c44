//! Processes that do not know the job's secret.

use super::*;

fn connect(wire: &TlsWire) -> TcpStream {
    let stream = TcpStream::connect(port_of(wire)).unwrap();
    stream.set_nonblocking(true).unwrap();
    stream
}

/// Whether the other end has ended a connection; nothing may have come over it before.
fn has_ended(stream: &mut TcpStream) -> bool {
    match stream.read(&mut [0; 16]) {
        Ok(0) => true,
        Ok(_) => panic!("a process that does not know the secret was sent something"),
        Err(error) => error.kind() != ErrorKind::WouldBlock,
    }
}

#[test]
fn bytes_that_are_no_greeting_end_a_connection() {
    let mut wires = job(2);
    let request = b"GET / HTTP/1.1\r\nHost: node\r\nAccept: */*\r\nConnection: keep-alive\r\n\r\n".to_vec();
    // What a TLS client would send first.
    let hello = [&[0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3][..], &[0x5a; 200]].concat();
    for bytes in [request, hello, vec![0; 64], vec![0xff; 100_000]] {
        let mut stream = connect(&wires[0]);
        let _ = stream.write(&bytes).unwrap();
        work_until(&mut wires, |_| has_ended(&mut stream));
        assert_undisturbed(&mut wires, [0, 1]);
    }
    let refused = wires[0].refused();
    assert_eq!((refused.count, refused.last_reason), (4, "it does not know this job's secret"));
}

/// With these 13 bytes, the head of a frame of UCX and eight more, a process could end a node over UCX's TCP.
#[test]
fn thirteen_bytes_do_nothing() {
    let mut wires = job(2);
    for kind in [0, 1, 30, 31, 0xff] {
        let mut stream = connect(&wires[0]);
        stream.write_all(&[&[kind, 8, 0, 0, 0][..], &[0xff; 8]].concat()).unwrap();
        assert_undisturbed(&mut wires, [0, 1]);
        work_until(&mut wires, |_| has_ended(&mut stream)); // when the time for greetings is over
    }
    assert_eq!(wires[0].refused().count, 5);
    assert_undisturbed(&mut wires, [0, 1]);
}

#[test]
fn a_node_of_another_job_is_refused() {
    let mut wires = job(2);
    let own = open_one();
    let victim = crate::tls::addresses::NodeAddress {
        port: port_of(&wires[0]).port(),
        addresses: vec![crate::tls::addresses::InterfaceAddress { ip: [127, 0, 0, 1].into(), prefix: 8 }],
    };
    let addresses = [victim.encode(), own.address().to_vec()];
    let mut other = own.connect(NodeId(1), &other_secret(), &addresses).unwrap();
    other.send(NodeId(0), b"of another job").unwrap();
    work_until(&mut wires, |wires| {
        assert_eq!(other.poll(), None);
        wires[0].refused().count >= 3 // it tries again and again
    });
    assert_undisturbed(&mut wires, [0, 1]);
}

/// A process that has recorded a greeting, and has made keys of its own.
fn replay(wires: &mut [TlsWire]) -> Option<HandMade> {
    let identity = Identity::new(&other_secret(), NodeId(1)).unwrap().without_checks();
    let mut made = HandMade::connect(wires, NodeId(1), &identity, NodeId(0))?;
    // The client's end has finished its handshake before the node has seen the client's key.
    let mut is_alive = true;
    work_until(wires, |wires| {
        is_alive = is_alive && made.read();
        !is_alive || wires[0].connections().count()[2] > 0
    });
    is_alive.then_some(made)
}

#[test]
fn a_recorded_greeting_without_the_nodes_key_is_refused() {
    let mut wires = job(2);
    assert!(replay(&mut wires).is_none());
    assert_eq!(wires[0].refused().last_reason, "its handshake fails");
    assert_undisturbed(&mut wires, [0, 1]);
}

/// Without the comparison of keys the same process speaks for a node.
#[test]
fn twin_without_comparing_keys_a_recorded_greeting_is_enough() {
    let mut wires = job_as(2, |node| Identity::new(&secret(), node).unwrap().without_checks());
    let mut made = replay(&mut wires).expect("it is let in");
    let frames = crate::tls::frame::OutgoingFrame::of_message(b"forged", bytes::Bytes::new());
    assert!(made.send(&frames[0].front));
    let mut event = None;
    work_until(&mut wires, |wires| {
        event = wires[0].poll();
        event.is_some()
    });
    assert_eq!(event, Some(Event::Message { from: NodeId(1), bytes: b"forged".to_vec() }));
}

/// A process that listens where a node is expected, and knows the greetings but not the keys.
#[test]
fn a_node_does_not_speak_to_a_process_without_the_other_nodes_key() {
    let identity = |node: NodeId| match node {
        NodeId(1) => Identity::new(&other_secret(), node).unwrap().without_checks(),
        node => Identity::new(&secret(), node).unwrap(),
    };
    let mut wires = job_as(2, identity);
    wires[0].send(NodeId(1), b"for node 1 only").unwrap();
    let mut event = None;
    work_until(&mut wires, |wires| {
        assert_eq!(wires[1].poll(), None);
        event = wires[0].poll();
        event.is_some()
    });
    assert!(matches!(event, Some(Event::Lost { node: NodeId(1), .. })), "{event:?}");
}

#[test]
fn connections_that_send_nothing_keep_no_node_out() {
    let mut wires = job(2);
    let mut idle: Vec<TcpStream> = Vec::new();
    for _ in 0..400 {
        idle.push(connect(&wires[0]));
        wires[0].wait(Duration::from_micros(1));
        assert!(wires[0].connections().count()[0] <= MAX_GREETING);
    }
    // The nodes have not spoken before: node 1 has to get through.
    wires[1].send(NodeId(0), b"hello").unwrap();
    let mut event = None;
    work_until(&mut wires, |wires| {
        idle.push(connect(&wires[0]));
        event = wires[0].poll();
        assert!(wires[0].connections().count()[0] <= MAX_GREETING);
        event.is_some()
    });
    assert_eq!(event, Some(Event::Message { from: NodeId(1), bytes: b"hello".to_vec() }));
    work_until(&mut wires, |wires| wires[0].connections().count()[0] == 0); // their time is over
    assert_undisturbed(&mut wires, [0, 1]);
}

#[test]
fn a_process_that_sends_slowly_is_not_waited_for() {
    let mut wires = job(2);
    let greeting = GreetingKey::new(&secret()).greeting(NodeId(1), NodeId(0)).unwrap();
    let mut stream = connect(&wires[0]);
    let mut sent = 0;
    work_until(&mut wires, |_| {
        if sent + 1 < greeting.len() && stream.write(&greeting[sent..=sent]).is_ok() {
            sent += 1;
        }
        has_ended(&mut stream)
    });
    assert_eq!(wires[0].refused().count, 1);
    assert_undisturbed(&mut wires, [0, 1]);
}

#[test]
fn a_handshake_that_is_cut_or_stalls_is_dropped() {
    let mut wires = job(2);
    let identity = Identity::new(&other_secret(), NodeId(1)).unwrap();
    let mut hello = Vec::new();
    let mut session = Session::client(&identity, NodeId(0)).unwrap();
    session.advance(&mut [], &mut hello, |_| Ok::<(), ()>(())).unwrap();
    let greeting = || GreetingKey::new(&secret()).greeting(NodeId(1), NodeId(0)).unwrap();
    for cut in [0, 1, 5, hello.len() / 2, hello.len() - 1, hello.len()] {
        let mut stream = connect(&wires[0]);
        stream.write_all(&[&greeting()[..], &hello[..cut]].concat()).unwrap();
        work_until(&mut wires, |wires| wires[0].connections().count()[1] == 1);
        drop(stream);
        work_until(&mut wires, |wires| wires[0].connections().count()[1] == 0);
    }
    // Those that stall: the first bytes of a record that never ends, and nothing at all.
    let stalled: Vec<TcpStream> = (0..20)
        .map(|number| {
            let mut stream = connect(&wires[0]);
            stream.write_all(&greeting()).unwrap();
            stream.write_all(&[0x16, 3, 1, 0x3f, 0xff][..5 * (number % 2)]).unwrap();
            for _ in 0..20 {
                wires[0].wait(Duration::from_micros(1));
                assert!(wires[0].connections().count()[1] <= MAX_HANDSHAKING_OF_NODE);
            }
            stream
        })
        .collect();
    assert_undisturbed(&mut wires, [1, 0]);
    work_until(&mut wires, |wires| wires[0].connections().count()[1] == 0); // their time is over
    drop(stalled);
    assert_undisturbed(&mut wires, [0, 1]);
}
