//! Culling by content liveness: a pass is live if an output, a side effect or a live pass needs what it does.

use super::cells::{Use, Work, flag};
use crate::declare::{Graph, Lifetime, NONE};
use crate::error::{CompileError, ErrorCode};
use crate::plan::{BarrierRange, CullReason, CulledPass};

/// What is live.
pub(super) struct Live {
    /// Per pass.
    pub passes: Vec<bool>,
    /// Per access, of live passes: contents that nobody needs after the pass, by aspect row (bit 0: colour, depth or
    /// all; bit 1: stencil when apart).
    pub dead_after: Vec<u8>,
}

/// A later live pass or an output reads it.
const WANTED: u8 = 1;
/// It may not be dropped: wanted, or left in an object that outlives the frame.
const KEPT: u8 = 2;

/// Orders that point forwards can wake passes that a backward sweep has left behind; then it sweeps again. Beyond this
/// many sweeps every pass that `after` names counts as live: more than needed, never less.
const SWEEPS: u32 = 32;

/// Marks live passes.
pub(super) fn liveness(graph: &Graph, work: &Work) -> Live {
    let count = graph.passes.len();
    let mut live = Live { passes: vec![false; count], dead_after: vec![0; work.uses.len()] };
    let mut forced: Vec<bool> = graph.passes.iter().map(|pass| pass.side_effect).collect();
    let mut contents = vec![0; work.cell_count];
    for round in 0.. {
        ends(graph, work, &mut contents);
        for pass in (0..count).rev() {
            sweep_pass(graph, work, pass, &mut forced, &mut contents, &mut live);
        }
        let missed = forced.iter().zip(&live.passes).any(|(forced, live)| *forced && !*live);
        if !missed {
            break;
        }
        for (forced, live) in forced.iter_mut().zip(&live.passes) {
            *forced |= *live;
        }
        if round == SWEEPS {
            graph.after.iter().for_each(|pass| forced[*pass as usize] = true);
        }
    }
    live
}

/// What is wanted at the end of the frame.
fn ends(graph: &Graph, work: &Work, contents: &mut [u8]) {
    for (decl, grid) in graph.resources.iter().zip(&work.grids) {
        let value = match (decl.output, decl.lifetime) {
            (true, _) => WANTED | KEPT,
            (false, Lifetime::Transient) => 0,
            (false, Lifetime::Imported | Lifetime::Persistent) => KEPT,
        };
        let whole = grid.whole();
        let first = grid.base as usize;
        contents[first..first + usize::try_from(whole.count()).unwrap_or(0)].fill(value);
    }
}

fn sweep_pass(graph: &Graph, work: &Work, pass: usize, forced: &mut [bool], contents: &mut [u8], live: &mut Live) {
    let decl = &graph.passes[pass];
    let first = decl.first_access as usize;
    let uses = &work.uses[first..first + decl.access_count as usize];
    let useful = |item: &Use| item.has(flag::WRITES) && work.any_cell(item, |cell| contents[cell] & WANTED != 0);
    if !(forced[pass] || uses.iter().any(useful)) {
        return;
    }
    live.passes[pass] = true;
    for earlier in graph.after(pass) {
        forced[*earlier as usize] = true;
    }
    for (offset, item) in uses.iter().enumerate().filter(|(_, item)| item.has(flag::ATTACHMENT)) {
        live.dead_after[first + offset] = dead_rows(work, item, contents);
    }
    for item in uses.iter().filter(|item| item.has(flag::WRITES) && !item.has(flag::READS)) {
        work.each_cell(item.resource, &item.rect, |cell| contents[cell] = 0);
    }
    for item in uses.iter().filter(|item| item.has(flag::READS)) {
        work.each_cell(item.resource, &item.rect, |cell| contents[cell] = WANTED | KEPT);
    }
}

fn dead_rows(work: &Work, item: &Use, contents: &[u8]) -> u8 {
    let mut dead = 0;
    for row in item.rect.aspects[0]..item.rect.aspects[1] {
        let part = Use { rect: super::cells::Rect { aspects: [row, row + 1], ..item.rect }, ..*item };
        if !work.any_cell(&part, |cell| contents[cell] & KEPT != 0) {
            dead |= 1 << row;
        }
    }
    dead
}

/// A live pass may not read what has no contents.
pub(super) fn check_contents(graph: &Graph, work: &Work, live: &Live) -> Result<(), CompileError> {
    let mut valid = vec![false; work.cell_count];
    for (decl, grid) in graph.resources.iter().zip(&work.grids) {
        if has_initial_contents(decl) {
            let first = grid.base as usize;
            valid[first..first + usize::try_from(grid.whole().count()).unwrap_or(0)].fill(true);
        }
    }
    // Conflicting accesses keep their declared order in every plan, so declaration order decides.
    for pass in (0..graph.passes.len()).filter(|pass| live.passes[*pass]) {
        let first = graph.passes[pass].first_access as usize;
        let uses = &work.uses[first..first + graph.passes[pass].access_count as usize];
        for item in uses.iter().filter(|item| item.has(flag::READS)) {
            if work.any_cell(item, |cell| !valid[cell]) {
                return Err(uninitialized(graph, work, live, pass, item));
            }
        }
        for item in uses.iter().filter(|item| item.has(flag::WRITES)) {
            work.each_cell(item.resource, &item.rect, |cell| valid[cell] = true);
        }
        for item in uses.iter().filter(|item| item.has(flag::DISCARDS)) {
            work.each_cell(item.resource, &item.rect, |cell| valid[cell] = false);
        }
    }
    Ok(())
}

/// Contents exist at the start of the frame unless there is no state or its layout is undefined.
pub(super) fn has_initial_contents(decl: &crate::declare::ResourceDecl) -> bool {
    let undefined = rhizo_rhi::Layout::Undefined;
    decl.initial.is_some_and(|state| !decl.desc.is_texture() || state.layout != undefined)
}

fn uninitialized(graph: &Graph, work: &Work, live: &Live, pass: usize, item: &Use) -> CompileError {
    let (label, resource) = (graph.pass_label(pass), graph.resource_label(item.resource as usize));
    let discarding = (0..pass).rev().filter(|earlier| live.passes[*earlier]).find(|earlier| {
        let decl = &graph.passes[*earlier];
        let first = decl.first_access as usize;
        let uses = &work.uses[first..first + decl.access_count as usize];
        uses.iter().any(|other| other.resource == item.resource && other.has(flag::DISCARDS))
    });
    let range = work.range(graph, item.resource, &item.rect, Default::default());
    let part = match range {
        BarrierRange::Buffer(range) => format!("bytes [{}, +{}]", range.offset, range.size),
        BarrierRange::Texture(range, ..) => format!(
            "mips [{}, +{}], layers [{}, +{}]",
            range.base_mip, range.mip_count, range.base_layer, range.layer_count
        ),
    };
    let why = match discarding {
        Some(earlier) => format!("pass `{}` discards them", graph.pass_label(earlier)),
        None => "nothing has written them before".to_owned(),
    };
    let message = format!("pass `{label}` reads {part} of `{resource}`, which have no contents: {why}");
    CompileError::new(ErrorCode::UninitializedRead, message).pass(label).resource(resource)
}

/// Says of each culled pass why.
pub(super) fn reasons(graph: &Graph, work: &Work, live: &[bool]) -> Vec<CulledPass> {
    let mut culled = Vec::new();
    if live.iter().all(|live| *live) {
        return culled;
    }
    // Per cell the next pass that reads the contents, and the next live pass that replaces them.
    let mut next = vec![(NONE, NONE); work.cell_count];
    for pass in (0..graph.passes.len()).rev() {
        let number = u32::try_from(pass).unwrap_or(NONE);
        let uses = work.pass_uses(graph, number);
        if !live[pass] {
            culled.push(CulledPass { pass: number, reason: reason(work, uses, &next) });
        }
        for item in uses.iter().filter(|item| live[pass] && item.has(flag::WRITES) && !item.has(flag::READS)) {
            work.each_cell(item.resource, &item.rect, |cell| next[cell] = (NONE, number));
        }
        for item in uses.iter().filter(|item| item.has(flag::READS)) {
            work.each_cell(item.resource, &item.rect, |cell| next[cell].0 = number);
        }
    }
    culled.reverse();
    culled
}

fn reason(work: &Work, uses: &[Use], next: &[(u32, u32)]) -> CullReason {
    let (mut reader, mut writer) = (NONE, NONE);
    for item in uses.iter().filter(|item| item.has(flag::WRITES)) {
        work.each_cell(item.resource, &item.rect, |cell| {
            reader = reader.min(next[cell].0);
            writer = writer.min(next[cell].1);
        });
    }
    match (uses.iter().any(|item| item.has(flag::WRITES)), reader, writer) {
        (false, ..) => CullReason::NoEffect,
        (true, NONE, NONE) => CullReason::Unread,
        (true, NONE, writer) => CullReason::Overwritten(writer),
        (true, reader, _) => CullReason::OnlyCulledReaders(reader),
    }
}
