//! What a PMI-1 server answers.

use super::line::Line;
use super::spawning::{SpawnBlock, SpawnCommand};
use std::collections::{BTreeMap, HashMap};
use std::mem;

/// A client, by the number that [`Server::add_group`] gave it.
pub(crate) type Client = usize;

/// What the caller of [`Server::receive`] is to do.
#[derive(Debug, PartialEq)]
pub(crate) enum Action {
    /// Send a line, its end included, to a client.
    Send(Client, String),
    /// A client asks to end the job.
    Abort {
        /// Who asks.
        client: Client,
        /// The exit code of the job.
        code: i32,
    },
    /// A client asks for more processes. The caller starts them, or not, and then calls
    /// [`Server::spawned`].
    Spawn {
        /// Who asks.
        client: Client,
        /// What is to be started.
        commands: Vec<SpawnCommand>,
        /// Keys and values for [`Server::add_group`].
        values: Vec<(String, String)>,
    },
    /// All clients here of a group that is spread over hosts are in a barrier. The caller gives the others
    /// what they have put since the last one, and calls [`Server::release`].
    Exchange {
        /// Keys and values.
        values: Vec<(String, String)>,
    },
    /// A client sent what is not understood. It cannot be served any more.
    Malformed {
        /// The client.
        client: Client,
        /// The beginning of what it sent.
        line: String,
    },
}

/// Where a client stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It has sent nothing yet; it need not be an MPI program.
    Started,
    /// It has sent `init`.
    Joined,
    /// It waits for the others of its group.
    InBarrier,
    /// It has sent `finalize`.
    Left,
}

#[derive(Debug)]
struct Member {
    group: usize,
    state: State,
    /// A block of lines that is being read.
    block: Option<SpawnBlock>,
    /// The commands of a call to spawn whose last one has not come yet.
    commands: Vec<SpawnCommand>,
    values: Vec<(String, String)>,
}

/// Processes that were started together and have one `MPI_COMM_WORLD`.
#[derive(Debug)]
struct Group {
    members: Vec<Client>,
    /// How many of them are in the barrier.
    waiting: usize,
    values: HashMap<String, String>,
    /// Present if some of the group's processes are on other hosts.
    spread: Option<Spread>,
}

/// The part of a group that is here.
#[derive(Debug)]
struct Spread {
    /// Processes of the group on all hosts.
    all: u32,
    /// What has been put since the last barrier.
    fresh: Vec<(String, String)>,
}

/// Serves the clients of one job.
#[derive(Debug)]
pub(crate) struct Server {
    /// The job, different from all others on this machine.
    job: String,
    members: Vec<Member>,
    groups: Vec<Group>,
    /// Published names and their ports.
    services: BTreeMap<String, String>,
    /// The number of this host among those of the job.
    host: u32,
}

/// The answer to a question about a key that no client has put.
const NOT_FOUND: &str = "cmd=get_result rc=-1 msg=key_not_found value=unknown\n";

impl Server {
    /// A job without clients. MPICH makes names of files from the job's, so it must be like no other one's;
    /// it may consist of a to z and digits.
    pub(crate) fn new(job: String) -> Server {
        Server { job, members: Vec::new(), groups: Vec::new(), services: BTreeMap::new(), host: 0 }
    }

    /// The job's name.
    pub(crate) fn job(&self) -> &str {
        &self.job
    }

    /// Adds a group of `size` processes, all on this machine, that finds `values` put already. Returns the
    /// client numbers of its ranks.
    pub(crate) fn add_group(&mut self, size: u32, values: Vec<(String, String)>) -> Vec<Client> {
        // All ranks are on node 0: one block of one node with `size` processes.
        self.add(size, format!("(vector,(0,1,{size}))"), values, None)
    }

    /// Adds the `size` processes on this host, which has a number, of a group of `all`. `mapping` says which
    /// ones are on which host.
    pub(crate) fn add_part(&mut self, host: u32, size: u32, all: u32, mapping: String) -> Vec<Client> {
        self.host = host;
        self.add(size, mapping, Vec::new(), Some(Spread { all, fresh: Vec::new() }))
    }

    fn add(
        &mut self,
        size: u32,
        mapping: String,
        values: Vec<(String, String)>,
        spread: Option<Spread>,
    ) -> Vec<Client> {
        let group = self.groups.len();
        let first = self.members.len();
        let members: Vec<Client> = (first..first + size as usize).collect();
        self.members.extend(members.iter().map(|_| Member {
            group,
            state: State::Started,
            block: None,
            commands: Vec::new(),
            values: Vec::new(),
        }));
        let mapping = ("PMI_process_mapping".to_string(), mapping);
        let values = values.into_iter().chain([mapping]).collect();
        self.groups.push(Group { members: members.clone(), waiting: 0, values, spread });
        members
    }

    /// Whether a client has joined and has not left: its exit leaves the others of its group alone.
    pub(crate) fn is_inside(&self, client: Client) -> bool {
        matches!(self.members[client].state, State::Joined | State::InBarrier)
    }

    /// Takes one line of a client, without its end.
    pub(crate) fn receive(&mut self, client: Client, text: &str) -> Vec<Action> {
        if let Some(block) = &mut self.members[client].block {
            return match text.trim() {
                "endcmd" => self.end_of_block(client),
                _ if block.take(text) => Vec::new(),
                _ => self.malformed(client, text),
            };
        }
        if text.trim() == "mcmd=spawn" {
            self.members[client].block = Some(SpawnBlock::default());
            return Vec::new();
        }
        match Line::parse(text) {
            Some(line) => self.answer(client, &line).unwrap_or_else(|| self.malformed(client, text)),
            None => self.malformed(client, text),
        }
    }

    /// The answer to a line; None if an argument is missing, or the line must not come now.
    fn answer(&mut self, client: Client, line: &Line) -> Option<Vec<Action>> {
        let group = self.members[client].group;
        let text = match line.command {
            "init" => {
                self.set_state(client, State::Started, State::Joined)?;
                "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1\n".to_string()
            }
            "get_maxes" => "cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=1024\n".to_string(),
            "get_appnum" => "cmd=appnum rc=0 appnum=0\n".to_string(),
            "get_my_kvsname" => format!("cmd=my_kvsname rc=0 kvsname={}\n", self.name_of(group)),
            "get_universe_size" => {
                let group = &self.groups[group];
                let size = group.spread.as_ref().map_or(group.members.len(), |spread| spread.all as usize);
                format!("cmd=universe_size rc=0 size={size}\n")
            }
            "put" => {
                let group = self.group_named(line.argument("kvsname")?)?;
                let (key, value) = (line.argument("key")?, line.last_argument("value")?);
                let group = &mut self.groups[group];
                group.values.insert(key.to_string(), value.to_string());
                if let Some(spread) = &mut group.spread {
                    spread.fresh.push((key.to_string(), value.to_string()));
                }
                "cmd=put_result rc=0 msg=success\n".to_string()
            }
            "get" => {
                let group = self.group_named(line.argument("kvsname")?)?;
                match self.groups[group].values.get(line.argument("key")?) {
                    Some(value) => format!("cmd=get_result rc=0 msg=success value={value}\n"),
                    None => NOT_FOUND.to_string(),
                }
            }
            "barrier_in" => {
                self.set_state(client, State::Joined, State::InBarrier)?;
                return Some(self.enter_barrier(group));
            }
            "finalize" => {
                self.set_state(client, State::Joined, State::Left)?;
                "cmd=finalize_ack rc=0\n".to_string()
            }
            "abort" => {
                let code = line.argument("exitcode").and_then(|code| code.parse().ok()).unwrap_or(1);
                return Some(vec![Action::Abort { client, code }]);
            }
            // Names would be known on this host alone.
            "publish_name" | "unpublish_name" | "lookup_name" if self.groups[0].spread.is_some() => {
                let what = line.command.trim_end_matches("_name");
                service_result(what, false, "not_served_between_hosts", "")
            }
            "publish_name" => {
                let (service, port) = (line.argument("service")?, line.last_argument("port")?);
                let is_new = !self.services.contains_key(service);
                self.services.entry(service.to_string()).or_insert_with(|| port.to_string());
                service_result("publish", is_new, "name_is_published_already", "")
            }
            "unpublish_name" => {
                let was_there = self.services.remove(line.argument("service")?).is_some();
                service_result("unpublish", was_there, "service_not_found", "")
            }
            "lookup_name" => {
                let port = self.services.get(line.argument("service")?);
                let text = port.map(|port| format!(" port={port}")).unwrap_or_default();
                service_result("lookup", port.is_some(), "service_not_found", &text)
            }
            _ => return None,
        };
        Some(vec![Action::Send(client, text)])
    }

    fn set_state(&mut self, client: Client, from: State, to: State) -> Option<()> {
        let state = &mut self.members[client].state;
        (*state == from).then(|| *state = to)
    }

    fn enter_barrier(&mut self, group: usize) -> Vec<Action> {
        self.groups[group].waiting += 1;
        if self.groups[group].waiting < self.groups[group].members.len() {
            return Vec::new();
        }
        if let Some(spread) = &mut self.groups[group].spread {
            return vec![Action::Exchange { values: mem::take(&mut spread.fresh) }];
        }
        self.open_barrier(group)
    }

    /// Gives the clients of the group that is spread over hosts what others have put, and lets them leave the
    /// barrier.
    pub(crate) fn release(&mut self, values: Vec<(String, String)>) -> Vec<Action> {
        let group = &mut self.groups[0];
        if group.waiting < group.members.len() {
            return Vec::new(); // no process asked
        }
        group.values.extend(values);
        self.open_barrier(0)
    }

    fn open_barrier(&mut self, group: usize) -> Vec<Action> {
        self.groups[group].waiting = 0;
        let members = self.groups[group].members.clone();
        for client in &members {
            self.members[*client].state = State::Joined;
        }
        members.into_iter().map(|client| Action::Send(client, "cmd=barrier_out rc=0\n".into())).collect()
    }

    /// The name of a group's store of keys and values.
    fn name_of(&self, group: usize) -> String {
        format!("kvs_{}_{group}", self.job)
    }

    fn group_named(&self, name: &str) -> Option<usize> {
        let group = name.rsplit_once('_')?.1.parse().ok()?;
        (group < self.groups.len() && name == self.name_of(group)).then_some(group)
    }

    fn end_of_block(&mut self, client: Client) -> Vec<Action> {
        let part = mem::take(&mut self.members[client].block).and_then(SpawnBlock::finish);
        let member = &mut self.members[client];
        let Some(part) = part else { return self.malformed(client, "mcmd=spawn") };
        member.commands.push(part.command);
        // Each block repeats the values of the call.
        member.values = part.values;
        if !part.is_last {
            return Vec::new();
        }
        let (commands, values) = (mem::take(&mut member.commands), mem::take(&mut member.values));
        vec![Action::Spawn { client, commands, values }]
    }

    /// The line that says to `client` whether its `processes` were started.
    pub(crate) fn spawned(processes: u32, is_started: bool) -> String {
        let code = if is_started { "0" } else { "-1" };
        let codes = vec![code; processes as usize].join(",");
        format!("cmd=spawn_result rc={code} errcodes={codes}\n")
    }

    fn malformed(&self, client: Client, text: &str) -> Vec<Action> {
        vec![Action::Malformed { client, line: text.chars().take(80).collect() }]
    }

    /// Files that MPICH may leave under /dev/shm when a job is ended: those that ranks have told each other,
    /// in clear or as hexadecimal digits, and those that MPICH 5 names after the group. The first group's are
    /// told before there is a group.
    pub(crate) fn shared_memory_files(&self) -> Vec<String> {
        let values = self.groups.iter().flat_map(|group| group.values.values());
        let told = values.map(|value| from_hexadecimal(value).unwrap_or_else(|| value.clone()));
        let is_file = |name: &String| {
            name.strip_prefix("/dev/shm/mpich_").is_some_and(|rest| !rest.is_empty() && !rest.contains('/'))
        };
        let named = (0..self.groups.len().max(1)).flat_map(|group| {
            let world = hash(&self.name_of(group));
            ["shm", "vci"].map(|kind| format!("/dev/shm/mpich_{kind}_{world:x}_{}", self.host))
        });
        told.filter(is_file).chain(named).collect()
    }
}

/// FNV-1a of 32 bits, which is how MPICH 5 numbers worlds by the name of their store.
fn hash(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

fn service_result(what: &str, is_success: bool, refusal: &str, more: &str) -> String {
    match is_success {
        true => format!("cmd={what}_result info=ok rc=0 msg=success{more}\n"),
        false => format!("cmd={what}_result info={refusal} rc=-1 msg={refusal}\n"),
    }
}

/// The text that hexadecimal digits encode. A final zero byte is not part of it.
fn from_hexadecimal(digits: &str) -> Option<String> {
    if digits.is_empty() || digits.len() % 2 != 0 || !digits.is_ascii() {
        return None;
    }
    let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).ok();
    let bytes: Vec<u8> = (0..digits.len()).step_by(2).map(byte).collect::<Option<_>>()?;
    let text = String::from_utf8(bytes).ok()?;
    Some(text.trim_end_matches('\0').to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_random::Random;

    fn lines(server: &mut Server, client: Client, text: &str) -> Vec<Action> {
        text.lines().flat_map(|line| server.receive(client, line)).collect()
    }

    fn sent(actions: Vec<Action>) -> Vec<(Client, String)> {
        let one = |action| match action {
            Action::Send(client, text) => (client, text.trim_end().to_string()),
            other => panic!("{other:?}"),
        };
        actions.into_iter().map(one).collect()
    }

    /// What two ranks of MPICH 4.0 sent in MPI_Init and MPI_Finalize, shortened.
    #[test]
    fn a_recorded_start_is_served() {
        let mut server = Server::new("j".into());
        let ranks = server.add_group(2, Vec::new());
        for rank in &ranks {
            let text = "cmd=init pmi_version=1 pmi_subversion=1\ncmd=get_maxes\ncmd=get_appnum\n\
                        cmd=get_my_kvsname\ncmd=get kvsname=kvs_j_0 key=PMI_process_mapping";
            let answers = sent(lines(&mut server, *rank, text));
            assert_eq!(answers.len(), 5);
            assert!(answers.iter().all(|(to, _)| to == rank));
            assert_eq!(answers[4].1, "cmd=get_result rc=0 msg=success value=(vector,(0,1,2))");
        }
        assert_eq!(server.receive(0, "cmd=barrier_in"), []);
        let out = "cmd=barrier_out rc=0".to_string();
        assert_eq!(sent(server.receive(1, "cmd=barrier_in")), [(0, out.clone()), (1, out)]);
        server.receive(0, "cmd=put kvsname=kvs_j_0 key=-bcast-1-0 value=2F646576");
        let answer = sent(server.receive(1, "cmd=get kvsname=kvs_j_0 key=-bcast-1-0"));
        assert_eq!(answer[0].1, "cmd=get_result rc=0 msg=success value=2F646576");
        assert!(server.is_inside(0));
        assert_eq!(sent(server.receive(0, "cmd=finalize"))[0].1, "cmd=finalize_ack rc=0");
        assert!(!server.is_inside(0) && server.is_inside(1));
    }

    /// Two hosts with two ranks each: no process leaves before all are in, and all see what all have put.
    #[test]
    fn ranks_of_two_hosts_exchange_what_they_put_at_a_barrier() {
        let mut hosts = [Server::new("j".into()), Server::new("j".into())];
        let mapping = "(vector,(0,2,2))";
        let mut put = Vec::new();
        for (number, server) in hosts.iter_mut().enumerate() {
            for client in server.add_part(number as u32, 2, 4, mapping.into()) {
                server.receive(client, "cmd=init pmi_version=1 pmi_subversion=1");
                let answer = sent(server.receive(client, "cmd=get_universe_size"));
                assert_eq!(answer[0].1, "cmd=universe_size rc=0 size=4");
                let rank = 2 * number + client;
                server.receive(client, &format!("cmd=put kvsname=kvs_j_0 key=k{rank} value=v {rank}"));
            }
            assert_eq!(server.release(Vec::new()), [], "no process waits");
            assert_eq!(server.receive(0, "cmd=barrier_in"), []);
            match &server.receive(1, "cmd=barrier_in")[..] {
                [Action::Exchange { values }] => put.extend(values.clone()),
                other => panic!("{other:?}"),
            }
        }
        for (number, server) in hosts.iter_mut().enumerate() {
            let files = server.shared_memory_files();
            assert!(files.iter().all(|file| file.ends_with(&format!("_{number}"))), "{files:?}");
            let unknown = sent(server.receive(0, "cmd=get kvsname=kvs_j_0 key=k0x"));
            assert!(unknown[0].1.contains("rc=-1"));
            assert_eq!(sent(server.release(put.clone())).len(), 2);
            for rank in 0..4 {
                let answer = sent(server.receive(1, &format!("cmd=get kvsname=kvs_j_0 key=k{rank}")));
                assert!(answer[0].1.ends_with(&format!("value=v {rank}")), "{answer:?}");
            }
            assert!(sent(server.receive(0, "cmd=publish_name service=s port=p"))[0].1.contains("rc=-1"));
            // What has been exchanged is not sent again.
            server.receive(0, "cmd=barrier_in");
            assert_eq!(server.receive(1, "cmd=barrier_in"), [Action::Exchange { values: Vec::new() }]);
        }
    }

    #[test]
    fn a_spawn_of_two_commands_is_one_request() {
        let mut server = Server::new("j".into());
        server.add_group(1, Vec::new());
        server.receive(0, "cmd=init pmi_version=1 pmi_subversion=1");
        let block = |program: &str, so_far: u32| {
            format!(
                "mcmd=spawn\nnprocs=2\nexecname={program}\ntotspawns=2\nspawnssofar={so_far}\narg1=a=b c\n\
                 argcnt=1\npreput_num=1\npreput_key_0=PARENT_ROOT_PORT_NAME\npreput_val_0=tag#0$x\n\
                 info_num=1\ninfo_key_0=wdir\ninfo_val_0=/tmp\nendcmd\n"
            )
        };
        assert_eq!(lines(&mut server, 0, &block("./a", 1)), []);
        let actions = lines(&mut server, 0, &block("./b", 2));
        let [Action::Spawn { client: 0, commands, values }] = &actions[..] else { panic!("{actions:?}") };
        assert_eq!(commands[0].program, "./a");
        assert_eq!(commands[1].arguments, ["a=b c"]);
        assert_eq!(commands[1].directory.as_deref(), Some("/tmp"));
        let children = server.add_group(4, values.clone());
        assert_eq!(children, [1, 2, 3, 4]);
        let answer = sent(server.receive(3, "cmd=get kvsname=kvs_j_1 key=PARENT_ROOT_PORT_NAME"));
        assert_eq!(answer[0].1, "cmd=get_result rc=0 msg=success value=tag#0$x");
        assert_eq!(Server::spawned(2, true), "cmd=spawn_result rc=0 errcodes=0,0\n");
    }

    #[test]
    fn names_are_published_once_and_found() {
        let mut server = Server::new("j".into());
        server.add_group(1, Vec::new());
        let mut ask = |text: &str| sent(server.receive(0, text))[0].1.clone();
        assert!(ask("cmd=lookup_name service=s").contains("rc=-1"));
        assert!(ask("cmd=publish_name service=s port=tag#0$a b").contains("rc=0"));
        assert!(ask("cmd=publish_name service=s port=other").contains("rc=-1"));
        let found = "cmd=lookup_result info=ok rc=0 msg=success port=tag#0$a b";
        assert_eq!(ask("cmd=lookup_name service=s"), found);
        assert!(ask("cmd=unpublish_name service=s").contains("rc=0"));
        assert!(ask("cmd=lookup_name service=s").contains("rc=-1"));
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for text in ["", "x", "cmd=dance", "cmd=put key=a", "cmd=get kvsname=kvs_j_1 key=a", "cmd=barrier_in"]
        {
            let mut server = Server::new("j".into());
            server.add_group(2, Vec::new());
            let actions = server.receive(0, text);
            assert!(matches!(actions[..], [Action::Malformed { client: 0, .. }]), "{text}: {actions:?}");
        }
        let mut server = Server::new("j".into());
        server.add_group(1, Vec::new());
        let huge = "mcmd=spawn\nnprocs=4000000000\nexecname=a\ntotspawns=1\nspawnssofar=1\nargcnt=0\nendcmd";
        assert!(matches!(lines(&mut server, 0, huge)[..], [Action::Malformed { .. }]));
    }

    /// Random pieces of the protocol in random order: never a panic, and a barrier opens only for a group
    /// all of whose members are in it.
    #[test]
    fn random_clients_break_nothing() {
        let pieces = [
            "cmd=init pmi_version=1 pmi_subversion=1",
            "cmd=barrier_in",
            "cmd=finalize",
            "cmd=put kvsname=kvs_j_0 key=k value=v",
            "cmd=get kvsname=kvs_j_0 key=k",
            "cmd=put kvsname= key= value=",
            "mcmd=spawn",
            "nprocs=1",
            "execname=a",
            "totspawns=1",
            "spawnssofar=1",
            "preput_num=4294967295",
            "argcnt=4294967295",
            "endcmd",
            "cmd=\u{fffd}",
            "=",
        ];
        for seed in 0..2000 {
            let mut random = Random::new(seed);
            let mut server = Server::new("j".into());
            let size = 1 + random.below(4);
            server.add_group(size as u32, Vec::new());
            let mut entered = vec![false; size];
            for _ in 0..60 {
                let client = random.below(size);
                let was_inside = server.is_inside(client);
                let is_reading_block = server.members[client].block.is_some();
                let piece = pieces[random.below(pieces.len())];
                let actions = server.receive(client, piece);
                let is_refused = actions.iter().any(|a| matches!(a, Action::Malformed { .. }));
                if piece == "cmd=barrier_in" && was_inside && !is_refused && !is_reading_block {
                    entered[client] = true;
                }
                let outs = actions.iter().filter(|a| matches!(a, Action::Send(_, t) if t.contains("out")));
                if outs.count() > 0 {
                    assert!(entered.iter().all(|e| *e), "seed {seed}");
                    entered.fill(false);
                }
            }
        }
    }

    #[test]
    fn only_files_of_mpich_are_named() {
        let mut server = Server::new("j".into());
        server.add_group(1, Vec::new());
        for value in [
            "2F6465762F73686D2F6D706963685F736861725F746D7061",
            "/dev/shm/mpich_shm_x",
            "/dev/shm/other",
            "/dev/shm/mpich_../../etc",
            "00",
        ] {
            server.receive(0, &format!("cmd=put kvsname=kvs_j_0 key={value} value={value}"));
        }
        let mut files = server.shared_memory_files();
        files.sort();
        let named = ["/dev/shm/mpich_shm_122e0dfb_0", "/dev/shm/mpich_vci_122e0dfb_0"];
        assert_eq!(files[..2], ["/dev/shm/mpich_shar_tmpa", named[0]]);
        assert_eq!(files[2..], ["/dev/shm/mpich_shm_x", named[1]]);
        // Seen with MPICH 5.0.2.
        assert_eq!(hash("kvs_0"), 0x7f2d_381a);
    }
}
