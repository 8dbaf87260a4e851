//! Plan files: what was compiled.

use std::collections::BTreeMap;

use rhizo_rhi::{Access, Aspects, Layout, QueueKind, Scope, TextureRange};
use serde::{Deserialize, Serialize};

use super::names::{Flags, Name, StageList};
use super::{FileError, check_version, field_error, parse};
use crate::compile::OrderPolicy;
use crate::declare::{AccessKind, Graph, ResourceDesc, StoreOp};
use crate::dump;
use crate::plan::{Attachment, Barrier, BarrierRange, NO_INDEX, Plan, PlanPass, Step, Submission};

/// A plan in the form of the exchange format; fields as in `docs/graph.md`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the format is documented field by field in docs/graph.md and docs/schemas")]
pub struct PlanFile {
    pub version: u64,
    pub graph: String,
    pub profile: String,
    pub policy: String,
    pub queues: Vec<QueueFile>,
    #[serde(default)]
    pub sharing: Sharing,
    #[serde(default)]
    pub resources: Vec<ResourceFile>,
    pub passes: Vec<PassFile>,
    #[serde(default)]
    pub culled: Vec<CulledFile>,
    #[serde(default)]
    pub memory: MemoryFile,
    pub submissions: Vec<SubmissionFile>,
    #[serde(default)]
    pub stats: StatsFile,
    /// What the compiler wants its user to know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Whether resources belong to one queue family at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sharing {
    /// One family at a time.
    #[default]
    Exclusive,
    /// All at once.
    Concurrent,
}

macro_rules! file_types {
    ($($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident : $type:ty),* $(,)? })*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[allow(missing_docs, reason = "the format is documented field by field in docs/graph.md and docs/schemas")]
        pub struct $name { $($(#[$field_meta])* pub $field: $type),* }
    )*};
}

file_types! {
    /// A queue.
    QueueFile { kind: Name<QueueKind>, #[serde(default, skip_serializing_if = "Option::is_none")] family: Option<u32> }
    /// A resource with the usages of live passes.
    ResourceFile {
        name: String,
        accesses: Vec<Name<AccessKind>>,
        #[serde(default, skip_serializing_if = "Option::is_none")] sharing: Option<Sharing>,
    }
    /// A live pass.
    PassFile { name: String, queue: u32, submission: u32, order: u32 }
    /// A culled pass.
    CulledFile { name: String, #[serde(default)] reason: String }
    /// A heap.
    HeapFile { class: String, size: u64 }
    /// Where a transient lies.
    AllocationFile {
        resource: String,
        #[serde(default, skip_serializing_if = "Option::is_none")] heap: Option<u32>,
        #[serde(default, skip_serializing_if = "Option::is_none")] offset: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")] size: Option<u64>,
        #[serde(default, skip_serializing_if = "is_false")] memoryless: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")] sharing: Option<Sharing>,
    }
    /// Work handed to a queue at once.
    SubmissionFile { queue: u32, #[serde(default)] waits: Vec<WaitFile>, steps: Vec<StepFile> }
    /// A wait before a submission.
    WaitFile {
        #[serde(default, skip_serializing_if = "Option::is_none")] submission: Option<u32>,
        #[serde(default, skip_serializing_if = "Option::is_none")] previous: Option<u32>,
        stages: Flags<StageList>,
    }
    /// A barrier.
    BarrierFile {
        scope: ScopeName,
        #[serde(default, skip_serializing_if = "Option::is_none")] resource: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")] mips: Option<[u32; 2]>,
        #[serde(default, skip_serializing_if = "Option::is_none")] layers: Option<[u32; 2]>,
        #[serde(default, skip_serializing_if = "Option::is_none")] aspects: Option<Flags<Aspects>>,
        #[serde(default, skip_serializing_if = "Option::is_none")] range: Option<[u64; 2]>,
        before: SideFile,
        after: SideFile,
        #[serde(default, skip_serializing_if = "Option::is_none")] source_queue: Option<u32>,
        #[serde(default, skip_serializing_if = "Option::is_none")] destination_queue: Option<u32>,
        #[serde(default, skip_serializing_if = "is_false")] activates: bool,
        #[serde(default, skip_serializing_if = "Vec::is_empty")] deactivates: Vec<String>,
    }
    /// One side of a barrier.
    SideFile {
        stages: Flags<StageList>,
        access: Flags<Access>,
        #[serde(default, skip_serializing_if = "Option::is_none")] layout: Option<Name<Layout>>,
    }
}

/// Transient memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the format is documented field by field in docs/graph.md and docs/schemas")]
pub struct MemoryFile {
    pub heaps: Vec<HeapFile>,
    pub allocations: Vec<AllocationFile>,
    pub used: u64,
    pub unaliased: u64,
    pub lower_bound: u64,
}

/// Counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the format is documented field by field in docs/graph.md and docs/schemas")]
#[serde(default)]
pub struct StatsFile {
    pub barriers: usize,
    pub batches: usize,
    pub splits: usize,
    pub waits: usize,
    pub transfers: usize,
    pub compile_ns: u64,
}

/// What a barrier names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScopeName {
    /// Everything.
    Global,
    /// A buffer.
    Buffer,
    /// A texture.
    Texture,
}

/// A step: exactly one of a pass, a signal, a wait, or barriers alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the format is documented field by field in docs/graph.md and docs/schemas")]
#[serde(default)]
pub struct StepFile {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pass: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub load: BTreeMap<String, Operation>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub store: BTreeMap<String, Operation>,
    #[serde(skip_serializing_if = "is_false")]
    pub merged_with_previous: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub barriers: Option<Vec<BarrierFile>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A load or store operation: one, by aspect, or one for each attachment access of the resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Operation {
    /// For all aspects.
    One(String),
    /// By aspect.
    Aspects(BTreeMap<String, String>),
    /// Parallel to the attachment accesses of the resource.
    Each(Vec<Operation>),
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn is_false(value: &bool) -> bool {
    !*value
}

/// Pretty JSON with a final newline: the same text for equal values.
pub(super) fn to_json(value: &impl Serialize) -> String {
    // Strings, numbers, lists and string-keyed maps always serialise.
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}

impl PlanFile {
    /// The exchange form of a plan.
    #[must_use]
    pub fn new(graph: &Graph, plan: &Plan) -> Self {
        let name = |resource: u32| plan.resource_label(resource).to_owned();
        let passes = plan.passes.iter().zip(0..).map(|(pass, order)| PassFile {
            name: plan.pass_label(pass.pass).to_owned(),
            queue: pass.queue,
            submission: pass.submission,
            order,
        });
        Self {
            version: 1,
            graph: plan.graph.clone(),
            profile: plan.profile.clone(),
            policy: plan.policy.clone(),
            queues: plan
                .queues
                .iter()
                .map(|queue| QueueFile { kind: Name(queue.kind), family: Some(queue.family) })
                .collect(),
            sharing: Sharing::Exclusive,
            resources: plan
                .resources
                .iter()
                .map(|resource| ResourceFile {
                    name: name(resource.resource),
                    accesses: resource.usages.iter().map(Name).collect(),
                    sharing: None,
                })
                .collect(),
            passes: passes.collect(),
            culled: plan
                .culled
                .iter()
                .map(|culled| CulledFile {
                    name: plan.pass_label(culled.pass).to_owned(),
                    reason: dump::cull_reason(plan, culled.reason),
                })
                .collect(),
            memory: memory_file(plan),
            submissions: plan.submissions.iter().map(|submission| submission_file(graph, plan, submission)).collect(),
            stats: StatsFile { barriers: plan.barriers.len(), batches: plan.batch_count(), ..StatsFile::default() },
            notes: plan.notes.clone(),
        }
    }

    /// JSON text, the same for equal plans.
    #[must_use]
    pub fn to_json(&self) -> String {
        to_json(self)
    }

    /// Reads a plan file of any author.
    ///
    /// # Errors
    ///
    /// [`FileError`] with line and field. Whether the plan is right for a graph is the verifier's question.
    pub fn parse(text: &str) -> Result<Self, FileError> {
        let file: Self = parse(text)?;
        check_version(text, file.version)?;
        if let Err(error) = file.policy.parse::<OrderPolicy>() {
            return Err(field_error(text, "policy".to_owned(), error.to_string()));
        }
        for (i, submission) in file.submissions.iter().enumerate() {
            for (k, step) in submission.steps.iter().enumerate() {
                let place = format!("submissions[{i}].steps[{k}]");
                check_step(step).map_err(|what| field_error(text, place, what))?;
            }
            for (k, wait) in submission.waits.iter().enumerate() {
                if wait.submission.is_some() == wait.previous.is_some() {
                    let place = format!("submissions[{i}].waits[{k}]");
                    return Err(field_error(text, place, "a wait names either `submission` or `previous`"));
                }
            }
        }
        Ok(file)
    }
}

fn check_step(step: &StepFile) -> Result<(), &'static str> {
    let is_pass = step.pass.is_some();
    let kinds = [is_pass, step.signal.is_some(), step.wait.is_some()].into_iter().filter(|is| *is).count();
    match (kinds, step.barriers.is_some()) {
        (1, true) if is_pass => return Err("a pass step has no barriers; they are a step of their own"),
        (1, false) if !is_pass => return Err("a signal or wait carries `barriers`"),
        (0, false) | (2.., _) => return Err("a step is one of `pass`, `signal`, `wait` and `barriers`"),
        _ => {}
    }
    for barrier in step.barriers.iter().flatten() {
        if (barrier.scope == ScopeName::Global) != barrier.resource.is_none() {
            return Err("buffer and texture barriers name a resource, global ones do not");
        }
        let layouts = [barrier.before.layout.is_some(), barrier.after.layout.is_some()];
        if layouts != [barrier.scope == ScopeName::Texture; 2] {
            return Err("a texture barrier has both layouts, others have none");
        }
        if barrier.source_queue.is_some() != barrier.destination_queue.is_some() {
            return Err("a hand-over names both queues");
        }
    }
    Ok(())
}

fn memory_file(plan: &Plan) -> MemoryFile {
    let memory = &plan.memory;
    let allocations = plan.resources.iter().filter(|resource| resource.slot != NO_INDEX).map(|resource| {
        let slot = &memory.slots[resource.slot as usize];
        AllocationFile {
            resource: plan.resource_label(resource.resource).to_owned(),
            heap: Some(slot.heap),
            offset: Some(slot.offset),
            size: Some(slot.size),
            memoryless: false,
            sharing: None,
        }
    });
    MemoryFile {
        heaps: memory.heaps.iter().map(|heap| HeapFile { class: heap.class.clone(), size: heap.size }).collect(),
        allocations: allocations.collect(),
        used: memory.used,
        unaliased: memory.unaliased,
        lower_bound: memory.lower_bound,
    }
}

fn submission_file(graph: &Graph, plan: &Plan, submission: &Submission) -> SubmissionFile {
    let mut steps = Vec::with_capacity(submission.steps.len());
    for (i, step) in submission.steps.iter().enumerate() {
        steps.push(match step {
            Step::Pass(pass) => pass_step(plan, &plan.passes[*pass as usize]),
            Step::Barriers(range) => {
                let next = match submission.steps.get(i + 1) {
                    Some(Step::Pass(pass)) => plan.passes[*pass as usize].pass,
                    _ => NO_INDEX,
                };
                let batch = plan.batch(range);
                StepFile {
                    barriers: Some(batch.iter().map(|barrier| barrier_file(graph, plan, barrier)).collect()),
                    reason: Some(dump::batch_reason(plan, batch, next)),
                    ..StepFile::default()
                }
            }
        });
    }
    SubmissionFile { queue: submission.queue, waits: Vec::new(), steps }
}

fn pass_step(plan: &Plan, pass: &PlanPass) -> StepFile {
    let attachments = &plan.attachments[pass.attachments.start as usize..pass.attachments.end as usize];
    let mut step = StepFile { pass: Some(plan.pass_label(pass.pass).to_owned()), ..StepFile::default() };
    for attachment in attachments {
        let name = plan.resource_label(attachment.resource);
        add(&mut step.load, name, Operation::One(attachment.load.name().to_owned()));
        add(&mut step.store, name, store_operation(attachment));
    }
    step
}

/// A second access of the same resource turns the entry into a list.
fn add(map: &mut BTreeMap<String, Operation>, name: &str, operation: Operation) {
    match map.get_mut(name) {
        None => {
            map.insert(name.to_owned(), operation);
        }
        Some(Operation::Each(list)) => list.push(operation),
        Some(first) => *first = Operation::Each(vec![first.clone(), operation]),
    }
}

fn store_operation(attachment: &Attachment) -> Operation {
    let (first, stencil): (StoreOp, StoreOp) = (attachment.store, attachment.stencil_store);
    match attachment.aspects {
        Aspects::STENCIL => Operation::One(stencil.name().to_owned()),
        Aspects::DEPTH_STENCIL if first != stencil => Operation::Aspects(BTreeMap::from([
            ("depth".to_owned(), first.name().to_owned()),
            ("stencil".to_owned(), stencil.name().to_owned()),
        ])),
        _ => Operation::One(first.name().to_owned()),
    }
}

fn side(scope: Scope, layout: Option<Layout>) -> SideFile {
    let stages = StageList { stages: scope.stages, outside: false };
    SideFile { stages: Flags(stages), access: Flags(scope.access), layout: layout.map(Name) }
}

fn barrier_file(graph: &Graph, plan: &Plan, barrier: &Barrier) -> BarrierFile {
    let desc = &graph.resources()[barrier.resource as usize].desc;
    let mut file = BarrierFile {
        scope: ScopeName::Buffer,
        resource: Some(plan.resource_label(barrier.resource).to_owned()),
        mips: None,
        layers: None,
        aspects: None,
        range: None,
        before: side(barrier.before, None),
        after: side(barrier.after, None),
        source_queue: None,
        destination_queue: None,
        activates: barrier.activates,
        deactivates: barrier.deactivates.iter().map(|old| plan.resource_label(*old).to_owned()).collect(),
    };
    match (barrier.range, desc) {
        (BarrierRange::Texture(range, old, new), ResourceDesc::Texture(texture)) => {
            let TextureRange { base_mip, mip_count, base_layer, layer_count, aspects } = range;
            file.scope = ScopeName::Texture;
            file.mips = (mip_count != texture.mips).then_some([base_mip, mip_count]);
            file.layers = (layer_count != texture.layers).then_some([base_layer, layer_count]);
            file.aspects = (aspects != desc.aspects()).then_some(Flags(aspects));
            file.before.layout = Some(Name(old));
            file.after.layout = Some(Name(new));
        }
        (BarrierRange::Buffer(range), ResourceDesc::Buffer(buffer)) => {
            file.range = (range.size != buffer.size).then_some([range.offset, range.size]);
        }
        // The compiler makes ranges from the descriptors, so the two never differ in kind.
        (BarrierRange::Texture(..), ResourceDesc::Buffer(_)) | (BarrierRange::Buffer(_), ResourceDesc::Texture(_)) => {}
    }
    file
}
