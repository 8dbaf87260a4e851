//! Dependencies between passes and the order they run in.
//!
//! Data dependencies point from earlier to later declarations. So unless an `after` points forwards, declaration order
//! is itself legal and there can be no cycle: the common case costs nothing.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::OrderPolicy;
use super::cells::{Work, flag};
use crate::declare::{Graph, Lifetime, NONE};
use crate::error::{CompileError, ErrorCode};
use crate::profile::Profile;

/// Edges "must run before", as lists in one array.
pub(super) struct Edges {
    starts: Vec<u32>,
    targets: Vec<u32>,
    incoming: Vec<u32>,
}

impl Edges {
    fn after(&self, pass: u32) -> &[u32] {
        &self.targets[self.starts[pass as usize] as usize..self.starts[pass as usize + 1] as usize]
    }

    fn from_pairs(count: usize, mut pairs: Vec<(u32, u32)>) -> Self {
        pairs.sort_unstable();
        pairs.dedup();
        let mut edges = Self { starts: vec![0; count + 1], targets: Vec::new(), incoming: vec![0; count] };
        for (from, to) in &pairs {
            edges.starts[*from as usize + 1] += 1;
            edges.incoming[*to as usize] += 1;
        }
        for i in 0..count {
            edges.starts[i + 1] += edges.starts[i];
        }
        edges.targets = pairs.into_iter().map(|(_, to)| to).collect();
        edges
    }
}

/// Fails if the declared orders contradict each other; returns the edges when it had to build them.
pub(super) fn check_cycles(graph: &Graph, work: &Work) -> Result<Option<Edges>, CompileError> {
    let forwards =
        (0..graph.passes.len()).any(|pass| graph.after(pass).iter().any(|earlier| *earlier as usize >= pass));
    if !forwards {
        return Ok(None);
    }
    let edges = edges(graph, work, |_| true);
    let mut incoming = edges.incoming.clone();
    let mut ready: Vec<u32> = ids(graph).filter(|pass| incoming[*pass as usize] == 0).collect();
    let mut done = 0;
    while let Some(pass) = ready.pop() {
        done += 1;
        for next in edges.after(pass) {
            incoming[*next as usize] -= 1;
            if incoming[*next as usize] == 0 {
                ready.push(*next);
            }
        }
    }
    if done == graph.passes.len() { Ok(Some(edges)) } else { Err(cycle(graph, &edges, &incoming)) }
}

fn ids(graph: &Graph) -> impl Iterator<Item = u32> + use<> {
    0..u32::try_from(graph.passes.len()).unwrap_or(NONE)
}

/// Names the passes of one cycle. Every pass left over has a predecessor left over, so walking back must repeat.
fn cycle(graph: &Graph, edges: &Edges, incoming: &[u32]) -> CompileError {
    let left = |pass: u32| incoming[pass as usize] > 0;
    let mut previous = vec![NONE; graph.passes.len()];
    for pass in ids(graph).filter(|pass| left(*pass)) {
        for next in edges.after(pass).iter().filter(|next| left(**next)) {
            previous[*next as usize] = pass;
        }
    }
    let mut at = ids(graph).find(|pass| left(*pass)).unwrap_or(0);
    for _ in 0..graph.passes.len() {
        at = previous[at as usize];
    }
    let mut ring = vec![at];
    let mut walk = previous[at as usize];
    while walk != at {
        ring.push(walk);
        walk = previous[walk as usize];
    }
    ring.reverse();
    let labels: Vec<&str> = ring.iter().map(|pass| graph.pass_label(*pass as usize)).collect();
    let shown = if labels.len() > 8 { format!("{} … ", labels[..8].join("` -> `")) } else { labels.join("` -> `") };
    let message = format!("passes must run before each other: `{shown}` -> `{}`", labels[0]);
    labels.iter().fold(CompileError::new(ErrorCode::Cycle, message), |error, label| error.pass(label))
}

/// Dependencies among the passes that `keep` says, per cell: RAW and WAW on the last writer, WAR on its readers.
fn edges(graph: &Graph, work: &Work, keep: impl Fn(usize) -> bool) -> Edges {
    // Per cell the last writer and the head of a list of readers since; lists are cut at each write, so all of this is
    // linear in the cells named.
    let mut cells = vec![(NONE, NONE); work.cell_count];
    let mut readers: Vec<(u32, u32)> = Vec::new();
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    for pass in (0..graph.passes.len()).filter(|pass| keep(*pass)) {
        let to = u32::try_from(pass).unwrap_or(NONE);
        let earlier = graph.after(pass).iter().filter(|earlier| keep(**earlier as usize));
        pairs.extend(earlier.map(|earlier| (*earlier, to)));
        for item in work.pass_uses(graph, to) {
            // A discard after reading ends contents: for the order it counts as a write.
            let writes = item.has(flag::WRITES | flag::DISCARDS);
            work.each_cell(item.resource, &item.rect, |cell| {
                let (writer, head) = &mut cells[cell];
                let mut link = |from: u32| {
                    if from != to && pairs.last() != Some(&(from, to)) {
                        pairs.push((from, to));
                    }
                };
                if *writer != NONE {
                    link(*writer);
                }
                if writes {
                    let mut at = std::mem::replace(head, NONE);
                    while at != NONE {
                        let (reader, next) = readers[at as usize];
                        link(reader);
                        at = next;
                    }
                    *writer = to;
                } else {
                    readers.push((to, *head));
                    *head = u32::try_from(readers.len() - 1).unwrap_or(NONE);
                }
            });
        }
    }
    Edges::from_pairs(graph.passes.len(), pairs)
}

/// The live passes in the order the policy asks for.
pub(super) fn order(
    graph: &Graph,
    profile: &Profile,
    work: &Work,
    live: &[bool],
    known: Option<Edges>,
    policy: OrderPolicy,
) -> Vec<u32> {
    let all_live = live.iter().all(|live| *live);
    let live_ids = ids(graph).filter(|pass| live[*pass as usize]);
    if policy == OrderPolicy::Declaration && known.is_none() {
        return live_ids.collect();
    }
    // Edges through culled passes may be gone or needless, so those of the live graph are built anew.
    let edges = match known {
        Some(edges) if all_live => edges,
        _ => edges(graph, work, |pass| live[pass]),
    };
    let starts: Vec<u32> = live_ids.filter(|pass| edges.incoming[*pass as usize] == 0).collect();
    match policy {
        OrderPolicy::Declaration => by_heap(&edges, &starts, |pass, _| pass),
        // The position of the last producer: the smaller, the longer it has been done.
        OrderPolicy::Overlap => by_heap(&edges, &starts, |_, producer| producer),
        OrderPolicy::Memory => by_memory(graph, profile, work, &edges, starts, live),
        OrderPolicy::Random(seed) => at_random(&edges, starts, seed),
    }
}

/// Kahn's algorithm; `key(pass, position after its last producer)` is smallest first, then the pass declared first.
fn by_heap(edges: &Edges, starts: &[u32], key: impl Fn(u32, u32) -> u32) -> Vec<u32> {
    let mut incoming = edges.incoming.clone();
    let mut ready: BinaryHeap<_> = starts.iter().map(|pass| Reverse((key(*pass, 0), *pass))).collect();
    let mut order = Vec::with_capacity(incoming.len());
    while let Some(Reverse((_, pass))) = ready.pop() {
        order.push(pass);
        let position = u32::try_from(order.len()).unwrap_or(NONE);
        for next in edges.after(pass) {
            incoming[*next as usize] -= 1;
            if incoming[*next as usize] == 0 {
                ready.push(Reverse((key(*next, position), *next)));
            }
        }
    }
    order
}

/// A legal order from a seed. The generator is `SplitMix64` (Steele, Lea, Flood 2014): tiny, and the same everywhere.
fn at_random(edges: &Edges, mut ready: Vec<u32>, seed: u64) -> Vec<u32> {
    let mut incoming = edges.incoming.clone();
    let mut state = seed;
    let mut order = Vec::with_capacity(incoming.len());
    while !ready.is_empty() {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let pick = usize::try_from((bits ^ (bits >> 31)) % ready.len() as u64).unwrap_or(0);
        let pass = ready.swap_remove(pick);
        order.push(pass);
        for next in edges.after(pass) {
            incoming[*next as usize] -= 1;
            if incoming[*next as usize] == 0 {
                ready.push(*next);
            }
        }
    }
    order
}

/// The resources that each pass names, each once.
struct Named {
    starts: Vec<u32>,
    resources: Vec<u32>,
}

impl Named {
    fn new(graph: &Graph, work: &Work) -> Self {
        let mut named = Self { starts: vec![0], resources: Vec::with_capacity(work.uses.len()) };
        let mut seen = vec![NONE; graph.resources.len()];
        for pass in ids(graph) {
            for item in work.pass_uses(graph, pass) {
                if std::mem::replace(&mut seen[item.resource as usize], pass) != pass {
                    named.resources.push(item.resource);
                }
            }
            named.starts.push(u32::try_from(named.resources.len()).unwrap_or(NONE));
        }
        named
    }

    fn of(&self, pass: u32) -> &[u32] {
        &self.resources[self.starts[pass as usize] as usize..self.starts[pass as usize + 1] as usize]
    }
}

/// How many ready passes the memory policy compares at each step: bounds its cost on very wide graphs.
const WINDOW: usize = 64;

/// Greedy: the ready pass (of the first [`WINDOW`]) with the smallest growth of live transient bytes.
fn by_memory(
    graph: &Graph,
    profile: &Profile,
    work: &Work,
    edges: &Edges,
    starts: Vec<u32>,
    live: &[bool],
) -> Vec<u32> {
    let sizes: Vec<i128> = graph
        .resources
        .iter()
        .map(|decl| match decl.lifetime {
            Lifetime::Transient => i128::from(super::place::need(decl, profile).bytes),
            Lifetime::Imported | Lifetime::Persistent => 0,
        })
        .collect();
    let named = Named::new(graph, work);
    // How many live passes have yet to use each resource.
    let mut left = vec![0_u32; graph.resources.len()];
    for pass in ids(graph).filter(|pass| live[*pass as usize]) {
        named.of(pass).iter().for_each(|resource| left[*resource as usize] += 1);
    }
    let total = left.clone();
    let growth = |pass: u32, left: &[u32]| -> i128 {
        let change = |resource: &u32| {
            let at = *resource as usize;
            let ends = left[at] == 1 && !graph.resources[at].output;
            (i128::from(left[at] == total[at]) - i128::from(ends)) * sizes[at]
        };
        named.of(pass).iter().map(change).sum()
    };
    let mut incoming = edges.incoming.clone();
    let mut ready: std::collections::BTreeSet<u32> = starts.into_iter().collect();
    let mut order = Vec::with_capacity(incoming.len());
    while let Some(pass) = ready.iter().take(WINDOW).copied().min_by_key(|pass| (growth(*pass, &left), *pass)) {
        ready.remove(&pass);
        order.push(pass);
        named.of(pass).iter().for_each(|resource| left[*resource as usize] -= 1);
        for next in edges.after(pass) {
            incoming[*next as usize] -= 1;
            if incoming[*next as usize] == 0 {
                ready.insert(*next);
            }
        }
    }
    order
}
