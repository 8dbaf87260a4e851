//! Lifetimes and memory: transients of equal shape whose lifetimes do not meet take turns in one slot.

use std::collections::HashMap;

use super::cells::Work;
use crate::declare::{AccessKinds, Graph, Lifetime, ResourceDecl, ResourceDesc};
use crate::error::{CompileError, ErrorCode};
use crate::plan::{Heap, Memory, NO_INDEX, Slot};
use crate::profile::{HeapClass, HeapMemory, MemoryNeed, Profile, TextureSizes};

/// When a resource is used, by live passes and in the plan's order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Life {
    pub first: u32,
    pub last: u32,
    pub usages: AccessKinds,
    pub slot: u32,
    /// The transient that had the slot before.
    pub previous: u32,
}

pub(super) struct Placement {
    pub lives: Vec<Life>,
    pub memory: Memory,
}

/// Size and alignment of a resource: as stated, as the profile lists, or tight.
pub(super) fn need(decl: &ResourceDecl, profile: &Profile) -> MemoryNeed {
    let listed = match &profile.texture_sizes {
        TextureSizes::Table(table) => table.get(&decl.desc).copied(),
        TextureSizes::Tight => None,
    };
    // Validation has made sure that the tight size fits.
    let tight = MemoryNeed { bytes: decl.desc.tight_bytes().unwrap_or(u64::MAX), alignment: profile.alignment };
    let base = listed.unwrap_or(tight);
    MemoryNeed { bytes: decl.bytes.unwrap_or(base.bytes), alignment: decl.alignment.unwrap_or(base.alignment).max(1) }
}

/// What makes two transients interchangeable: one committed object serves both.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Shape {
    desc: ResourceDesc,
    need: MemoryNeed,
    class: u32,
}

/// Slots, and which of them are free for which shape.
struct Pool {
    /// By shape the slots that are free, with the resource that had each last.
    free: HashMap<Shape, Vec<(u32, u32)>>,
    slots: Vec<Shape>,
    live: u64,
    peak: u64,
    unaliased: u64,
}

impl Pool {
    /// A slot for a resource, and who had it before.
    fn take(&mut self, shape: Shape) -> Option<(u32, u32)> {
        self.live = self.live.checked_add(shape.need.bytes)?;
        self.unaliased = self.unaliased.checked_add(shape.need.bytes)?;
        self.peak = self.peak.max(self.live);
        if let Some(found) = self.free.get_mut(&shape).and_then(Vec::pop) {
            return Some(found);
        }
        self.slots.push(shape);
        Some((u32::try_from(self.slots.len() - 1).ok()?, NO_INDEX))
    }

    fn give_back(&mut self, resource: u32, slot: u32) {
        let shape = self.slots[slot as usize];
        self.live -= shape.need.bytes;
        self.free.entry(shape).or_default().push((slot, resource));
    }

    /// Lays the slots out, one heap a class; large alignments first, so that little is lost between them.
    fn finish(self, profile: &Profile) -> Option<Memory> {
        let mut memory = Memory {
            slots: vec![Slot { heap: 0, offset: 0, size: 0 }; self.slots.len()],
            unaliased: self.unaliased,
            lower_bound: self.peak,
            ..Memory::default()
        };
        let alignment = |shape: &Shape| shape.need.alignment.max(profile.granularity);
        let mut order: Vec<usize> = (0..self.slots.len()).collect();
        order.sort_by_key(|slot| (self.slots[*slot].class, std::cmp::Reverse(alignment(&self.slots[*slot])), *slot));
        let mut class = NO_INDEX;
        for slot in order {
            let shape = &self.slots[slot];
            if shape.class != class {
                class = shape.class;
                memory.heaps.push(Heap { class: profile.heap_classes[class as usize].name.clone(), size: 0 });
            }
            let heap_index = u32::try_from(memory.heaps.len() - 1).ok()?;
            let heap = memory.heaps.last_mut()?;
            let offset = heap.size.checked_next_multiple_of(alignment(shape))?;
            heap.size = offset.checked_add(shape.need.bytes)?;
            memory.slots[slot] = Slot { heap: heap_index, offset, size: shape.need.bytes };
        }
        memory.used = memory.heaps.iter().try_fold(0_u64, |sum, heap| sum.checked_add(heap.size))?;
        Some(memory)
    }
}

pub(super) fn place(graph: &Graph, profile: &Profile, work: &Work, order: &[u32]) -> Result<Placement, CompileError> {
    let mut lives = lifetimes(graph, work, order);
    let mut pool = Pool { free: HashMap::new(), slots: Vec::new(), live: 0, peak: 0, unaliased: 0 };
    let overflow = || {
        let message = "the sizes of the transients together do not fit 64 bits";
        CompileError::new(ErrorCode::Unsupported, message)
    };
    let ends = ends(graph, &lives, order.len());
    for (position, pass) in order.iter().enumerate() {
        for item in work.pass_uses(graph, *pass) {
            let decl = &graph.resources[item.resource as usize];
            let life = &mut lives[item.resource as usize];
            if decl.lifetime == Lifetime::Transient && life.slot == NO_INDEX {
                let class = class(graph, profile, item.resource, life.usages)?;
                let shape = Shape { desc: decl.desc, need: need(decl, profile), class };
                (life.slot, life.previous) = pool.take(shape).ok_or_else(overflow)?;
            }
        }
        // Extracted memory stays with its contents.
        for resource in ends.at(position).iter().filter(|resource| !graph.resources[**resource as usize].output) {
            pool.give_back(*resource, lives[*resource as usize].slot);
        }
    }
    Ok(Placement { lives, memory: pool.finish(profile).ok_or_else(overflow)? })
}

/// The first heap class of device memory that takes the resource.
fn class(graph: &Graph, profile: &Profile, resource: u32, usages: AccessKinds) -> Result<u32, CompileError> {
    let decl = &graph.resources[resource as usize];
    let attachment = usages.has_attachment();
    let takes = |class: &HeapClass| {
        class.memory == HeapMemory::Default
            && match (decl.desc.is_texture(), attachment) {
                (false, _) => class.buffers,
                (true, false) => class.textures,
                (true, true) => class.attachments,
            }
    };
    let found = profile.heap_classes.iter().position(takes).and_then(|class| u32::try_from(class).ok());
    found.ok_or_else(|| {
        let label = graph.resource_label(resource as usize);
        let message = format!("profile `{}` has no heap class for transient `{label}`", profile.name);
        CompileError::new(ErrorCode::Unsupported, message).resource(label)
    })
}

fn lifetimes(graph: &Graph, work: &Work, order: &[u32]) -> Vec<Life> {
    let unused = Life { first: NO_INDEX, last: 0, usages: AccessKinds::EMPTY, slot: NO_INDEX, previous: NO_INDEX };
    let mut lives = vec![unused; graph.resources.len()];
    for (position, pass) in order.iter().enumerate() {
        let position = u32::try_from(position).unwrap_or(NO_INDEX);
        let first = graph.passes[*pass as usize].first_access as usize;
        for (offset, item) in work.pass_uses(graph, *pass).iter().enumerate() {
            let life = &mut lives[item.resource as usize];
            life.first = life.first.min(position);
            life.last = position;
            life.usages.insert(graph.accesses[first + offset].kind);
        }
    }
    let end = u32::try_from(order.len().saturating_sub(1)).unwrap_or(NO_INDEX);
    for (life, decl) in lives.iter_mut().zip(&graph.resources) {
        if life.first != NO_INDEX && decl.output && decl.lifetime == Lifetime::Transient {
            life.last = end;
        }
    }
    lives
}

/// Transients grouped by the position of their last use.
struct Ends {
    starts: Vec<u32>,
    resources: Vec<u32>,
}

impl Ends {
    fn at(&self, position: usize) -> &[u32] {
        &self.resources[self.starts[position] as usize..self.starts[position + 1] as usize]
    }
}

fn ends(graph: &Graph, lives: &[Life], positions: usize) -> Ends {
    let transient = |resource: &usize| {
        graph.resources[*resource].lifetime == Lifetime::Transient && lives[*resource].first != NO_INDEX
    };
    let mut ends = Ends { starts: vec![0; positions + 1], resources: Vec::new() };
    for resource in (0..lives.len()).filter(transient) {
        ends.starts[lives[resource].last as usize + 1] += 1;
    }
    for position in 0..positions {
        ends.starts[position + 1] += ends.starts[position];
    }
    let mut next = ends.starts.clone();
    ends.resources = vec![0; ends.starts[positions] as usize];
    for resource in (0..lives.len()).filter(transient) {
        let at = &mut next[lives[resource].last as usize];
        ends.resources[*at as usize] = u32::try_from(resource).unwrap_or(NO_INDEX);
        *at += 1;
    }
    ends
}
