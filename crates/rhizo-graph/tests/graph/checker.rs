//! An independent, naive checker of plans for one queue: replays a plan file and proves each access right.
//!
//! Every access on every cell is kept for good. What a barrier does is applied to each of them: which stages run after
//! it, whether its write is available, to which stage-access pairs it is visible.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

use crate::model::{Access, Cell, Model, row, stages, strings};

/// An access, or a layout transition, that happened on a cell.
#[derive(Clone)]
struct Event {
    what: String,
    writes: bool,
    /// Readers too must be ordered after it, though there is nothing to see.
    holds: bool,
    transition: bool,
    /// The memory accesses to be made available.
    masks: BTreeSet<String>,
    /// For each stage it ran in: the stages of coming work that are ordered after it.
    after: BTreeMap<String, BTreeSet<String>>,
    /// For each stage: whether its write has been made available.
    available: BTreeMap<String, bool>,
    visible: BTreeSet<(String, String)>,
}

#[derive(Clone, Default)]
struct State {
    layout: String,
    contents: bool,
    /// The pass that wrote last, or `None`: from before the frame.
    version: Option<usize>,
    events: Vec<Event>,
}

struct Barrier {
    resource: Option<String>,
    cells: BTreeSet<Cell>,
    before: BTreeSet<String>,
    before_access: BTreeSet<String>,
    after: BTreeSet<String>,
    after_access: BTreeSet<String>,
    layouts: Option<(String, String)>,
    activates: bool,
    deactivates: BTreeSet<String>,
}

pub struct Checker<'a> {
    model: &'a Model,
    cells: BTreeMap<(String, Cell), State>,
    extents: HashMap<String, (u64, u64, u64)>,
    active: BTreeSet<String>,
    dead: BTreeSet<String>,
}

/// All barriers of a plan file, as selectors.
pub fn plan_barriers(plan: &Value) -> Vec<&Value> {
    let steps = plan["submissions"].as_array().unwrap().iter().flat_map(|s| s["steps"].as_array().unwrap());
    steps.flat_map(|step| step["barriers"].as_array().into_iter().flatten()).collect()
}

/// Checks a plan of one queue against its graph.
pub fn check(graph: &Value, plan: &Value) -> Result<(), String> {
    let model = Model::new(graph, &plan_barriers(plan));
    Checker::new(&model, plan).run(plan)
}

impl Event {
    fn new(what: &str, stages: &BTreeSet<String>, masks: &BTreeSet<String>, writes: bool) -> Self {
        Self {
            what: what.to_owned(),
            writes,
            holds: false,
            transition: false,
            masks: masks.iter().filter(|mask| mask.ends_with("-write")).cloned().collect(),
            after: stages.iter().map(|stage| (stage.clone(), BTreeSet::new())).collect(),
            available: stages.iter().map(|stage| (stage.clone(), false)).collect(),
            visible: BTreeSet::new(),
        }
    }

    /// Whether everything it did in `stage` is over when the barrier's second half begins.
    fn reached(&self, stage: &str, barrier: &Barrier) -> bool {
        barrier.before.contains(stage) || !self.after[stage].is_disjoint(&barrier.before)
    }

    fn flushed(&self, stage: &str, barrier: &Barrier) -> bool {
        let direct = barrier.before.contains(stage) && self.masks.is_subset(&barrier.before_access);
        direct || (self.available[stage] && self.reached(stage, barrier))
    }

    /// Whether a transition or take-over in this barrier may touch what the event touched.
    fn settled_by(&self, barrier: &Barrier) -> bool {
        // Transitions of one queue are ordered among themselves.
        self.transition
            || self
                .after
                .keys()
                .all(|stage| self.reached(stage, barrier) && (!self.writes || self.flushed(stage, barrier)))
    }

    /// The effect of a batch; `covers` says whether a barrier's memory effects reach the cell.
    fn apply(&mut self, batch: &[Barrier], covers: impl Fn(&Barrier) -> bool) {
        let old = self.clone();
        for barrier in batch {
            for stage in old.after.keys().filter(|stage| old.reached(stage, barrier)) {
                self.after.get_mut(stage).unwrap().extend(barrier.after.iter().cloned());
                if covers(barrier) && old.writes && old.flushed(stage, barrier) {
                    self.available.insert(stage.clone(), true);
                    for stage in &barrier.after {
                        self.visible.extend(barrier.after_access.iter().map(|a| (stage.clone(), a.clone())));
                    }
                }
            }
        }
    }
}

impl<'a> Checker<'a> {
    fn new(model: &'a Model, plan: &Value) -> Self {
        let mut cells = BTreeMap::new();
        for (name, resource) in &model.resources {
            let initial = &resource.data["initial"];
            let mut state = State { layout: "undefined".to_owned(), ..State::default() };
            if initial.is_object() {
                state.layout = initial["layout"].as_str().unwrap_or("undefined").to_owned();
                state.contents = Model::has_initial(resource);
                state.events.extend(initial_event(initial));
            }
            cells.extend(resource.cells.iter().map(|cell| ((name.clone(), *cell), state.clone())));
        }
        let mut extents = HashMap::new();
        for allocation in plan["memory"]["allocations"].as_array().unwrap() {
            let number = |key: &str| allocation[key].as_u64().unwrap();
            let name = allocation["resource"].as_str().unwrap().to_owned();
            extents.insert(name, (number("heap"), number("offset"), number("size")));
        }
        Self { model, cells, extents, active: BTreeSet::new(), dead: BTreeSet::new() }
    }

    fn run(&mut self, plan: &Value) -> Result<(), String> {
        self.numbers(plan)?;
        let order: Vec<usize> =
            plan["passes"].as_array().unwrap().iter().map(|p| self.model.index[p["name"].as_str().unwrap()]).collect();
        self.order(&order)?;
        let mut stepped = Vec::new();
        for submission in plan["submissions"].as_array().unwrap() {
            for step in submission["steps"].as_array().unwrap() {
                if let Some(list) = step["barriers"].as_array() {
                    let batch: Vec<Barrier> = list.iter().map(|b| self.barrier(b)).collect();
                    self.batch(&batch)?;
                } else {
                    let pass = self.model.index[step["pass"].as_str().ok_or("a step without a pass")?];
                    stepped.push(pass);
                    self.pass(pass, step)?;
                }
            }
        }
        if stepped != order {
            return Err("the steps are not the passes of the plan in their order".to_owned());
        }
        self.end(&order)
    }

    /// Live passes exactly, and every dependency kept.
    fn order(&self, order: &[usize]) -> Result<(), String> {
        let live = self.model.live();
        if order.iter().copied().collect::<BTreeSet<_>>() != live || order.len() != live.len() {
            return Err(format!("the plan runs {order:?}, live are {live:?}"));
        }
        let place: HashMap<usize, usize> = order.iter().enumerate().map(|(at, i)| (*i, at)).collect();
        for (i, j) in self.model.edges() {
            let late = place.get(&i).zip(place.get(&j)).is_some_and(|(a, b)| a >= b);
            if late {
                return Err(format!("{} must run before {}", self.model.passes[i].name, self.model.passes[j].name));
            }
        }
        Ok(())
    }

    fn barrier(&self, data: &Value) -> Barrier {
        let side = |side: &str, what: &str| strings(&data[side][what]);
        let resource = data["resource"].as_str().map(str::to_owned);
        let layout = |side: &str| data[side]["layout"].as_str().map(str::to_owned);
        Barrier {
            cells: if resource.is_some() { self.model.cells(data) } else { BTreeSet::new() },
            resource,
            before: stages(&side("before", "stages")),
            before_access: side("before", "access").into_iter().collect(),
            after: stages(&side("after", "stages")),
            after_access: side("after", "access").into_iter().collect(),
            layouts: layout("before").zip(layout("after")),
            activates: data["activates"] == true,
            deactivates: strings(&data["deactivates"]).into_iter().collect(),
        }
    }

    fn batch(&mut self, batch: &[Barrier]) -> Result<(), String> {
        for barrier in batch {
            let Some(name) = &barrier.resource else { continue };
            if self.dead.contains(name) {
                return Err(format!("a barrier names {name}, whose memory another has taken"));
            }
            if barrier.activates {
                self.take_over(name, batch)?;
            }
        }
        let mut named: BTreeSet<(String, Cell)> = BTreeSet::new();
        // Layout changes look at the state before the batch.
        let old = self.cells.clone();
        let mut moved: Vec<((String, Cell), State)> = Vec::new();
        for barrier in batch {
            let (Some(name), Some((from, to))) = (&barrier.resource, &barrier.layouts) else { continue };
            for cell in &barrier.cells {
                let key = (name.clone(), *cell);
                if !named.insert(key.clone()) {
                    return Err(format!("{name} {cell:?} is named twice in a batch"));
                }
                let state = &old[&key];
                if from != "undefined" && *from != state.layout {
                    return Err(format!("{name} {cell:?} is in {}, the barrier says {from}", state.layout));
                }
                if from == to && from != "undefined" {
                    continue;
                }
                if let Some(event) = state.events.iter().find(|event| !event.settled_by(barrier)) {
                    return Err(format!("{name} {cell:?} changes layout without waiting for {}", event.what));
                }
                let mut event = Event::new("a transition", &barrier.after, &BTreeSet::new(), true);
                event.transition = true;
                for (stage, after) in &mut event.after {
                    // The transition is over before any of these stages goes on.
                    after.extend(barrier.after.iter().cloned());
                    event.available.insert(stage.clone(), true);
                    event.visible.extend(barrier.after_access.iter().map(|a| (stage.clone(), a.clone())));
                }
                let contents = state.contents && from != "undefined";
                let state = State { layout: to.clone(), contents, version: state.version, events: vec![event] };
                moved.push((key, state));
            }
        }
        for ((name, cell), state) in &mut self.cells {
            for event in &mut state.events {
                event.apply(batch, |barrier| {
                    barrier.resource.as_ref().is_none_or(|other| other == name && barrier.cells.contains(cell))
                });
            }
        }
        self.cells.extend(moved);
        Ok(())
    }

    fn overlapping(&self, name: &str) -> BTreeSet<String> {
        let Some((heap, offset, size)) = self.extents.get(name) else { return BTreeSet::new() };
        let meets =
            |other: &(u64, u64, u64)| other.0 == *heap && other.1 < offset + size && *offset < other.1 + other.2;
        self.active.iter().filter(|other| *other != name && meets(&self.extents[*other])).cloned().collect()
    }

    /// An activation: the old owners' uses are over, their writes out of the way.
    fn take_over(&mut self, name: &str, batch: &[Barrier]) -> Result<(), String> {
        if self.active.contains(name) {
            return Ok(()); // Another barrier of the batch.
        }
        let old = self.overlapping(name);
        let own: Vec<&Barrier> = batch.iter().filter(|b| b.resource.as_deref() == Some(name)).collect();
        for barrier in &own {
            if !barrier.activates || barrier.deactivates != old {
                return Err(format!("{name} must activate and end {old:?} in each barrier of the batch"));
            }
            if barrier.layouts.as_ref().is_some_and(|(from, _)| from != "undefined") {
                return Err(format!("{name} starts in memory of others, so its layout is undefined"));
            }
        }
        let mut left = Vec::new();
        for ((other, cell), state) in &self.cells {
            if !old.contains(other) {
                continue;
            }
            for event in &state.events {
                if let Some(barrier) = own.iter().find(|barrier| !event.settled_by(barrier)) {
                    return Err(format!(
                        "{name} takes memory of {other} {cell:?} without waiting for {} ({:?})",
                        event.what, barrier.before
                    ));
                }
                left.push(event.clone());
            }
        }
        for ((other, cell), state) in &mut self.cells {
            if other == name {
                let covered = own.iter().any(|barrier| barrier.cells.contains(cell));
                // Cells not named still lie where the old owners' last uses were; for buffers the barrier of the batch
                // is applied to these as to any other.
                let keep = !covered || own.iter().all(|barrier| barrier.layouts.is_none());
                state.events = if keep { left.clone() } else { Vec::new() };
                state.contents = false;
            }
        }
        for other in old {
            self.active.remove(&other);
            self.dead.insert(other);
        }
        self.active.insert(name.to_owned());
        Ok(())
    }

    fn pass(&mut self, index: usize, step: &Value) -> Result<(), String> {
        let model = self.model;
        let pass = &model.passes[index];
        for access in &pass.accesses {
            let name = &access.resource;
            if self.dead.contains(name) {
                return Err(format!("{} uses {name}, whose memory another has taken", pass.name));
            }
            if self.extents.contains_key(name) && !self.active.contains(name) {
                let others = self.overlapping(name);
                let was: Vec<_> = self.dead.iter().filter(|d| self.meets(d, name)).collect();
                if !others.is_empty() || !was.is_empty() {
                    return Err(format!("{name} has no activation, but its memory had other users"));
                }
                self.active.insert(name.clone());
            } else if model.resources[name].transient && !self.extents.contains_key(name) {
                return Err(format!("{name} has no memory"));
            }
            for cell in &access.cells {
                self.access(&pass.name, access, *cell)?;
            }
            // One access is bound as one view, which has one layout.
            let layout = |cell: &Cell| &self.cells[&(name.clone(), *cell)].layout;
            let first = access.cells.first().map(layout);
            if access.cells.iter().any(|cell| Some(layout(cell)) != first) {
                return Err(format!("{}: {} of {name} finds several layouts", pass.name, access.kind));
            }
        }
        let mut nth: HashMap<&str, usize> = HashMap::new();
        for access in &pass.accesses {
            let count = nth.entry(&access.resource).or_default();
            for cell in &access.cells {
                let discards = access.attachment && self.stored(step, access, *cell, *count) == "discard";
                let state = self.cells.get_mut(&(access.resource.clone(), *cell)).unwrap();
                if access.writes {
                    state.contents = true;
                    state.version = Some(index);
                }
                if discards || access.discards {
                    state.contents = false;
                }
                if !access.stages.is_empty() {
                    state.events.push(Event::new(&pass.name, &access.stages, &access.masks, access.writes));
                }
            }
            *count += usize::from(access.attachment);
        }
        Ok(())
    }

    fn meets(&self, a: &str, b: &str) -> bool {
        let (a, b) = (&self.extents[a], &self.extents[b]);
        a.0 == b.0 && a.1 < b.1 + b.2 && b.1 < a.1 + a.2
    }

    /// The store operation of a cell as the plan says.
    fn stored(&self, step: &Value, access: &Access, cell: Cell, nth: usize) -> String {
        let mut value = &step["store"][&access.resource];
        if let Some(list) = value.as_array() {
            value = &list[nth];
        }
        if let Some(map) = value.as_object() {
            let format = self.model.resources[&access.resource].data["format"].as_str().unwrap();
            value = &map[crate::model::aspects(format)[usize::try_from(cell.2).unwrap()]];
        }
        value.as_str().expect("each attachment has a store operation").to_owned()
    }

    fn access(&self, pass: &str, access: &Access, cell: Cell) -> Result<(), String> {
        let name = &access.resource;
        let state = &self.cells[&(name.clone(), cell)];
        let place = format!("{pass}: {} of {name} {cell:?}", access.kind);
        if self.model.resources[name].texture && !row(&access.kind).layouts.contains(&state.layout.as_str()) {
            return Err(format!("{place} in layout {}", state.layout));
        }
        if access.reads {
            if !state.contents {
                return Err(format!("{place} has lost its contents"));
            }
            let index = self.model.index[pass];
            let wanted = (0..index).rev().find(|i| {
                self.model.passes[*i]
                    .accesses
                    .iter()
                    .any(|a| a.writes && a.resource == *name && a.cells.contains(&cell))
            });
            if state.version != wanted {
                return Err(format!("{place} sees {:?}, not {wanted:?}", state.version));
            }
        }
        synchronised(state, &access.stages, &access.masks, access.writes, &place)
    }

    /// Outputs keep what was declared; final states are reached.
    fn end(&self, order: &[usize]) -> Result<(), String> {
        for (name, resource) in &self.model.resources {
            let used = order.iter().any(|i| self.model.passes[*i].accesses.iter().any(|a| a.resource == *name));
            for cell in &resource.cells {
                let state = &self.cells[&(name.clone(), *cell)];
                let touching = |a: &&Access| a.resource == *name && a.cells.contains(cell) && (a.writes || a.discards);
                let live = self.model.live();
                let last = live.iter().rev().flat_map(|i| &self.model.passes[*i].accesses).find(touching);
                let declared = last.map_or(Model::has_initial(resource), |a| !a.discards);
                if (resource.output || !resource.transient) && declared && !state.contents {
                    return Err(format!("{name} {cell:?} has lost its contents at the end"));
                }
                let last = &resource.data["final"];
                if !used || !last.is_object() {
                    continue;
                }
                let layout = last["layout"].as_str().unwrap_or("undefined");
                if resource.texture && state.layout != layout {
                    return Err(format!("{name} {cell:?} ends in {}, not {layout}", state.layout));
                }
                if let Some(event) = initial_event(last) {
                    let masks = strings(&last["access"])
                        .into_iter()
                        .flat_map(|kind| [row(&kind).reads, row(&kind).writes].map(str::to_owned));
                    let stages: BTreeSet<String> = event.after.keys().cloned().collect();
                    let masks: BTreeSet<String> = masks.filter(|mask| !mask.is_empty()).collect();
                    synchronised(state, &stages, &masks, event.writes, &format!("after the frame: {name}"))?;
                }
            }
        }
        Ok(())
    }

    /// The memory numbers are what they claim to be, and nothing alive overlaps (which activation checks in time).
    fn numbers(&self, plan: &Value) -> Result<(), String> {
        let memory = &plan["memory"];
        let heaps = memory["heaps"].as_array().unwrap();
        let mut ends = vec![0; heaps.len()];
        let mut sum = 0;
        for (name, (heap, offset, size)) in &self.extents {
            let at = usize::try_from(*heap).unwrap();
            ends[at] = ends[at].max(offset + size);
            sum += size;
            let data = &self.model.resources[name].data;
            let alignment = data["alignment"].as_u64().unwrap_or(65_536);
            if offset % alignment != 0 || *size != self.model.resources[name].bytes {
                return Err(format!("{name} is placed at {offset} with {size} bytes"));
            }
        }
        let order: Vec<usize> =
            plan["passes"].as_array().unwrap().iter().map(|p| self.model.index[p["name"].as_str().unwrap()]).collect();
        let expected = [ends.iter().sum::<u64>(), sum, self.model.max_load(&order)];
        let found = ["used", "unaliased", "lower_bound"].map(|key| memory[key].as_u64().unwrap());
        let sizes: Vec<u64> = heaps.iter().map(|heap| heap["size"].as_u64().unwrap()).collect();
        if expected == found && sizes == ends { Ok(()) } else { Err(format!("memory says {found:?}, is {expected:?}")) }
    }
}

/// Everything that conflicts is over, and the last write is visible.
fn synchronised(
    state: &State,
    stages: &BTreeSet<String>,
    masks: &BTreeSet<String>,
    writes: bool,
    place: &str,
) -> Result<(), String> {
    for event in state.events.iter().filter(|event| event.writes || event.holds || writes) {
        let ordered = event.after.values().all(|after| stages.is_subset(after));
        if !ordered {
            return Err(format!("{place} is not ordered after {}", event.what));
        }
    }
    let Some(write) = state.events.iter().rev().find(|event| event.writes) else { return Ok(()) };
    for stage in stages {
        for mask in masks {
            if !write.visible.contains(&(stage.clone(), mask.clone())) {
                return Err(format!("{place}: {} is not visible to {stage} {mask}", write.what));
            }
        }
    }
    Ok(())
}

fn initial_event(initial: &Value) -> Option<Event> {
    let named: Vec<String> =
        strings(&initial["stages"]).into_iter().filter(|s| !matches!(s.as_str(), "host" | "present")).collect();
    let (mut masks, mut writes) = (BTreeSet::new(), false);
    for kind in strings(&initial["access"]) {
        let row = row(&kind);
        writes |= !row.writes.is_empty();
        masks.extend([row.reads, row.writes].into_iter().filter(|mask| !mask.is_empty()).map(str::to_owned));
    }
    // Stages without accesses need execution order from everybody, and nothing to be flushed.
    let holds = masks.is_empty();
    let event = Event::new("work before the frame", &stages(&named), &masks, writes);
    (!named.is_empty()).then_some(Event { holds, ..event })
}
