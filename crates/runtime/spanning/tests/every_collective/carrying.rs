//! Carries a call out as the table says: each rank and each agent does what the table says of its node,
//! with collectives within a node and exchanges between nodes by their definitions.

use crate::elements::{Wrong, composed, equal};
use crate::program::Program;
use evenkeel_schedule::{Problem, Rank};
use evenkeel_spanning::CollectiveKind::*;
use evenkeel_spanning::cut::Piece;
use evenkeel_spanning::stages::{NodeInput, stages};
use evenkeel_spanning::{
    CollectiveKind, LocalCollective, LocalMember, NodePosition, PieceDescription, Span, Stages, exchange,
};

/// A node, with what the table says of it.
struct Node {
    members: Vec<usize>,
    stages: Stages,
}

/// Carries a call out, piece by piece. `breakage`: what is done to each row of the table before.
pub fn carry_out(program: &mut Program, breakage: fn(&mut Stages)) -> Result<(), Wrong> {
    let cut = program.call(0).cut(program.piece_bytes, false);
    for piece in (0..cut.pieces()).map(|index| cut.piece(index)) {
        let description = program.call(0).describe(piece, 0);
        for rank in 0..program.map.ranks() {
            equal(program.call(rank).describe(piece, 0), description, "the piece of another rank")?;
        }
        equal(PieceDescription::from_words(description.to_words()), Some(description), "words")?;
        carry_piece(program, piece, &description, breakage)?;
    }
    Ok(())
}

fn carry_piece(
    program: &mut Program,
    piece: Piece,
    description: &PieceDescription,
    breakage: fn(&mut Stages),
) -> Result<(), Wrong> {
    let mut nodes = Vec::new();
    let mut inputs = Vec::new();
    for number in 0..program.map.counts.nodes() {
        let mut stages = stages(description, program.map.position(number));
        breakage(&mut stages);
        let node = Node { members: program.map.members(number).collect(), stages };
        check_synchronization(&stages, program.map.position(number))?;
        let contributed = up(program, &node, piece)?;
        let exchange = stages.exchange;
        let input = match exchange.input {
            NodeInput::Contributions => {
                exchange::padded(description, program.map.position(number), contributed, exchange.input_bytes)
            }
            NodeInput::Placeholder => vec![0; exchange.input_bytes],
            NodeInput::Nothing => Vec::new(),
        };
        equal(input.len(), exchange.input_bytes, "bytes that a node brings in")?;
        inputs.push(input);
        nodes.push(node);
    }
    for (number, output) in exchanged(program, &nodes, &inputs)?.into_iter().enumerate() {
        let Some(local) = nodes[number].stages.down else { continue };
        let position = program.map.position(number);
        let from_agent = exchange::without_padding(description, position, &output).into_owned();
        down(program, &nodes[number], &local, piece, &from_agent)?;
    }
    Ok(())
}

/// The exchange waits for the ranks here, unless no other node needs what they have; and in a barrier the
/// ranks wait for the exchange.
fn check_synchronization(stages: &Stages, position: NodePosition<'_>) -> Result<(), Wrong> {
    let Stages { up, exchange, down } = stages;
    let is_last_of_scan =
        matches!(exchange.kind, Scan | Exscan) && position.node + 1 == position.counts.nodes();
    let waits = exchange.input == NodeInput::Contributions;
    equal(waits, up.is_some() && !is_last_of_scan, "whether the exchange waits for the ranks")?;
    let is_barrier_whole = exchange.kind != Barrier || up.is_some() && down.is_some();
    equal(is_barrier_whole, true, "a barrier waits for all, and all wait for it")
}

/// What a rank sends of a piece. The root of a scatter: what it has for the agent.
fn sent(program: &Program, rank: usize, piece: Piece) -> Vec<u8> {
    let (call, user) = (program.call(rank), &program.send[rank]);
    match call.staged_send(piece) {
        Some(staging) => staging.pack(user),
        None if program.kind == Allgatherv => {
            user[piece.at.min(call.bytes)..][..call.own_block_bytes(piece)].to_vec()
        }
        None => user.get(piece.at..piece.at + piece.length).unwrap_or_default().to_vec(),
    }
}

/// Within a node, up: what the agent gets.
fn up(program: &mut Program, node: &Node, piece: Piece) -> Result<Vec<u8>, Wrong> {
    let Some(up) = node.stages.up else { return Ok(Vec::new()) };
    equal(up.from_agent, 0, "what the agent contributes up")?;
    let sent: Vec<Vec<u8>> = node.members.iter().map(|rank| sent(program, *rank, piece)).collect();
    let is_unequal = program.kind == Allgatherv;
    if up.root == LocalMember::Agent && !is_unequal {
        sent.iter().try_for_each(|sent| equal(sent.len(), up.bytes, "bytes up"))?;
    }
    let got = match (up.kind, up.root) {
        (Gather, LocalMember::Agent) => sent.concat(),
        (Reduce, LocalMember::Agent) => program.reduce(sent.iter().map(Vec::as_slice)).unwrap(),
        (Scan | Exscan, LocalMember::Agent) => scan(program, node, up.kind, &sent, piece),
        (Bcast | Scatterv, LocalMember::Rank(root)) => {
            equal(node.members[root], program.root, "the root")?;
            from_root(program, node, &up, piece)?;
            sent[root].clone()
        }
        _ => return Err(format!("{up:?} brings nothing to the agent")),
    };
    let most = if is_unequal { got.len().max(up.to_agent) } else { got.len() };
    equal(most, up.to_agent, "bytes that the agent gets")?;
    Ok(got)
}

/// A scan among the ranks of a node, and the agent as its last member, which gets what all of them have.
fn scan(program: &mut Program, node: &Node, kind: CollectiveKind, sent: &[Vec<u8>], piece: Piece) -> Vec<u8> {
    for (local_rank, rank) in node.members.iter().enumerate() {
        let operands = if kind == Scan { local_rank + 1 } else { local_rank };
        if let Some(result) = program.reduce(sent[..operands].iter().map(Vec::as_slice)) {
            program.recv[*rank][piece.at..][..piece.length].copy_from_slice(&result);
        }
    }
    program.reduce(sent.iter().map(Vec::as_slice)).unwrap()
}

/// What the other ranks of a broadcast's or scatter's root's node get.
fn from_root(program: &mut Program, node: &Node, up: &LocalCollective, piece: Piece) -> Result<(), Wrong> {
    let root = program.root;
    let spans: Vec<Span> = match up.kind {
        Bcast => vec![Span { offset: piece.at as isize, bytes: piece.length }; node.members.len()],
        _ => program.call(root).member_spans(piece).collect(),
    };
    for (rank, span) in node.members.iter().zip(spans) {
        equal(span.bytes, up.bytes, "bytes of a block")?;
        if up.kind == Scatterv || *rank != root {
            let block = program.send[root][span.offset as usize..][..span.bytes].to_vec();
            program.recv[*rank][piece.at..][..piece.length].copy_from_slice(&block);
        }
    }
    Ok(())
}

/// The exchange between the nodes: what each node gets.
fn exchanged(program: &Program, nodes: &[Node], inputs: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, Wrong> {
    let exchange = nodes[0].stages.exchange;
    let (count, bytes) = (nodes.len(), exchange.bytes);
    check_inputs(nodes, inputs)?;
    let root = (exchange.root + exchange.first_node) % count;
    let only = |node: usize, output: Vec<u8>| {
        (0..count).map(|n| if n == node { output.clone() } else { Vec::new() }).collect()
    };
    let all = |output: Vec<u8>| vec![output; count];
    let block = |of: usize, to: usize| &inputs[of][to * bytes..][..bytes];
    let reduce = |chosen: &dyn Fn(usize) -> bool| {
        program.reduce((0..count).filter(|n| chosen(*n)).map(|n| inputs[n].as_slice())).unwrap_or_default()
    };
    Ok(match exchange.kind {
        Barrier => {
            equal(bytes, 0, "bytes of a barrier")?;
            all(Vec::new())
        }
        Bcast => all(inputs[root].clone()),
        // What the root itself has is missing.
        Reduce => only(root, reduce(&|node| node != root)),
        Allreduce => all(reduce(&|_| true)),
        ReduceScatterBlock => {
            (0..count).map(|to| program.reduce((0..count).map(|of| block(of, to))).unwrap()).collect()
        }
        Scan | Exscan => (0..count).map(|node| reduce(&|other| other < node)).collect(),
        Gather => only(root, inputs.concat()),
        Scatter => (0..count).map(|to| block(root, to).to_vec()).collect(),
        Allgather | Allgatherv => all(inputs.concat()),
        Alltoall => (0..count).map(|to| (0..count).flat_map(|of| block(of, to)).copied().collect()).collect(),
        other => return Err(format!("nodes do not exchange {other:?}")),
    })
}

/// All nodes see the same exchange, and bring in what a schedule for it takes.
fn check_inputs(nodes: &[Node], inputs: &[Vec<u8>]) -> Result<(), Wrong> {
    let first = nodes[0].stages.exchange;
    let count = nodes.len();
    let problem =
        Problem::new(count as u32).with_root(Rank(first.root as u32)).with_elements(first.bytes as u32);
    for (node, input) in inputs.iter().enumerate() {
        let exchange = nodes[node].stages.exchange;
        equal(
            (exchange.kind, exchange.root, exchange.first_node, exchange.bytes),
            (first.kind, first.root, first.first_node, first.bytes),
            "the exchange as another node sees it",
        )?;
        let number = Rank(((node + count - first.first_node) % count) as u32);
        let taken = first.kind.operation().input_elements(&problem, number);
        equal(input.len() as u64, taken, "bytes that the schedule takes")?;
    }
    Ok(())
}

/// Within a node, down: what the ranks get from the agent.
fn down(
    program: &mut Program,
    node: &Node,
    down: &LocalCollective,
    piece: Piece,
    from_agent: &[u8],
) -> Result<(), Wrong> {
    equal(from_agent.len(), down.from_agent, "what the agent contributes down")?;
    equal(down.to_agent, 0, "what the agent gets down")?;
    match (down.kind, down.root) {
        (Bcast, LocalMember::Agent) => {
            equal(from_agent.len(), down.bytes, "bytes down")?;
            node.members.iter().try_for_each(|rank| receive(program, *rank, piece, from_agent))
        }
        (Scatter, LocalMember::Agent) => {
            let blocks = from_agent.chunks_exact(down.bytes.max(1));
            node.members
                .iter()
                .zip(blocks)
                .try_for_each(|(rank, block)| receive(program, *rank, piece, block))
        }
        (Reduce, LocalMember::Rank(root)) => {
            equal(node.members[root], program.root, "the root")?;
            let sent = node.members.iter().map(|rank| &program.send[*rank][piece.at..][..piece.length]);
            let result = program.reduce(sent.chain([from_agent])).unwrap();
            equal(result.len(), down.bytes, "bytes down")?;
            receive(program, program.root, piece, &result)
        }
        (Gatherv, LocalMember::Rank(root)) => {
            equal(node.members[root], program.root, "the root")?;
            let spans: Vec<Span> = program.call(program.root).member_spans(piece).collect();
            for (rank, span) in node.members.iter().zip(spans) {
                equal(span.bytes, down.bytes, "bytes of a block")?;
                let block = program.send[*rank][piece.at..][..piece.length].to_vec();
                program.recv[program.root][span.offset as usize..][..span.bytes].copy_from_slice(&block);
            }
            receive(program, program.root, piece, from_agent)
        }
        _ => Err(format!("{down:?} brings nothing to the ranks")),
    }
}

/// A rank gets data of a piece, into its program's buffer or into staged memory.
fn receive(program: &mut Program, rank: usize, piece: Piece, data: &[u8]) -> Result<(), Wrong> {
    let Some(staging) = program.call(rank).staged_receive(piece) else {
        equal(data.len(), piece.length, "bytes for a rank")?;
        program.recv[rank][piece.at..][..piece.length].copy_from_slice(data);
        return Ok(());
    };
    equal(data.len(), staging.bytes, "bytes for a rank's staged memory")?;
    let is_first_here = program.map.locations[rank].local_rank == 0;
    let is_combined = program.is_scan() && !(program.kind == Exscan && is_first_here);
    for stretch in staging.stretches.iter().filter(|stretch| stretch.bytes > 0) {
        let staged = &data[stretch.staged..][..stretch.bytes];
        let user = &mut program.recv[rank][stretch.user as usize..][..stretch.bytes];
        let result = if is_combined { composed(staged, user) } else { staged.to_vec() };
        user.copy_from_slice(&result);
    }
    Ok(())
}
