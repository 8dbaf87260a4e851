//! Pipeline layouts derived from what shaders use.

use rhizo_rhi::{BindingKind, ShaderArtifact, ShaderBinding, ShaderStages};
use std::fmt;

/// Groups of a layout: WebGPU and SwiftShader have four.
const GROUPS: usize = 4;

/// The smallest pipeline layout that the given shaders fit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct DerivedLayout {
    /// Entries of each group, sorted by slot. Groups between used ones may be empty.
    pub groups: [Vec<DerivedEntry>; GROUPS],
    /// Bytes of push constants, a multiple of 4; 0 if none.
    pub push_constant_size: u32,
    /// Stages that see them.
    pub push_constant_stages: ShaderStages,
}

/// One slot of a group.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DerivedEntry {
    /// Slot.
    pub slot: u32,
    /// The variable's name in the first shader that uses it.
    pub name: String,
    /// What is bound.
    pub kind: BindingKind,
    /// Array length; 0 for a run-time sized array.
    pub count: u32,
    /// Stages that see it.
    pub stages: ShaderStages,
    /// Least size of a buffer in bytes, the largest any of the shaders needs; 0 for others.
    pub min_size: u64,
}

/// Why no layout fits all of the shaders.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LayoutErrorKind {
    /// The group's number is above the highest one, 3.
    GroupOutOfRange,
    /// Two shaders declare one binding as different things.
    KindMismatch {
        /// The other shader.
        other: String,
        /// The entry point in it.
        other_entry: String,
        /// What it is here, and there.
        kinds: (BindingKind, BindingKind),
    },
    /// Two shaders declare one binding with different array lengths.
    CountMismatch {
        /// The other shader.
        other: String,
        /// The entry point in it.
        other_entry: String,
        /// The length here, and there; 0 is run-time sized.
        counts: (u32, u32),
    },
    /// Two of the shaders have the same stage.
    StageTwice {
        /// The other shader.
        other: String,
        /// The entry point in it.
        other_entry: String,
    },
    /// A compute shader was given together with others.
    ComputeWithOthers,
}

/// Shaders that fit no common layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutError {
    /// Label of the shader at which it showed.
    pub shader: String,
    /// Its entry point.
    pub entry: String,
    /// Group, slot and name of the binding it is about, if it is about one.
    pub binding: Option<(u32, u32, String)>,
    /// Why. Boxed to keep results small.
    pub kind: Box<LayoutErrorKind>,
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "shader '{}', entry point '{}'", self.shader, self.entry)?;
        if let Some((group, slot, name)) = &self.binding {
            write!(f, ", binding '{name}' (group {group}, slot {slot})")?;
        }
        match &*self.kind {
            LayoutErrorKind::GroupOutOfRange => write!(f, ": groups go up to {}", GROUPS - 1),
            LayoutErrorKind::KindMismatch { other, other_entry, kinds } => {
                let (here, there) = kinds;
                write!(f, ": {here:?} here, {there:?} in shader '{other}', entry point '{other_entry}'")
            }
            LayoutErrorKind::CountMismatch { other, other_entry, counts: (here, there) } => {
                write!(f, ": array length {here} here, {there} in shader '{other}', entry point '{other_entry}'")
            }
            LayoutErrorKind::StageTwice { other, other_entry } => {
                write!(f, ": its stage is already that of shader '{other}', entry point '{other_entry}'")
            }
            LayoutErrorKind::ComputeWithOthers => f.write_str(": a compute shader shares its pipeline with no other"),
        }
    }
}

impl std::error::Error for LayoutError {}

/// Merges what the shaders of one pipeline use into the smallest layout for them.
///
/// A texture that one shader reads and another samples with comparison, a buffer that one reads and another writes and
/// the like are *different* kinds: such bindings need different slots, because backends create them differently. The
/// exception is a read-only and a writable storage *buffer*: they merge into a writable one.
///
/// # Errors
/// [`LayoutError`], naming shader, entry point and binding.
pub fn derive_layout(shaders: &[&ShaderArtifact]) -> Result<DerivedLayout, LayoutError> {
    let mut out = DerivedLayout::default();
    for (i, shader) in shaders.iter().enumerate() {
        check_stages(shader, &shaders[..i])?;
        for binding in &shader.interface().bindings {
            let error = |kind| fail(shader, Some(binding), kind);
            let group =
                out.groups.get_mut(binding.group as usize).ok_or_else(|| error(LayoutErrorKind::GroupOutOfRange))?;
            match group.iter_mut().find(|e| e.slot == binding.slot) {
                Some(entry) => merge(entry, binding, shader, &shaders[..i])?,
                None => group.push(DerivedEntry {
                    slot: binding.slot,
                    name: binding.name.clone(),
                    kind: binding.kind,
                    count: binding.count,
                    stages: shader.stage().flag(),
                    min_size: binding.min_size,
                }),
            }
        }
        let size = shader.interface().push_constant_size;
        if size > 0 {
            out.push_constant_size = out.push_constant_size.max(size.next_multiple_of(4));
            out.push_constant_stages |= shader.stage().flag();
        }
    }
    for group in &mut out.groups {
        group.sort_by_key(|e| e.slot);
    }
    Ok(out)
}

fn fail(shader: &ShaderArtifact, binding: Option<&ShaderBinding>, kind: LayoutErrorKind) -> LayoutError {
    LayoutError {
        shader: shader.label().to_owned(),
        entry: shader.entry().to_owned(),
        binding: binding.map(|b| (b.group, b.slot, b.name.clone())),
        kind: Box::new(kind),
    }
}

fn check_stages(shader: &ShaderArtifact, earlier: &[&ShaderArtifact]) -> Result<(), LayoutError> {
    for other in earlier {
        if other.stage() == shader.stage() {
            let kind = LayoutErrorKind::StageTwice { other: other.label().into(), other_entry: other.entry().into() };
            return Err(fail(shader, None, kind));
        }
        if (shader.stage().flag() | other.stage().flag()).contains(ShaderStages::COMPUTE) {
            return Err(fail(shader, None, LayoutErrorKind::ComputeWithOthers));
        }
    }
    Ok(())
}

fn merge(
    entry: &mut DerivedEntry,
    binding: &ShaderBinding,
    shader: &ShaderArtifact,
    earlier: &[&ShaderArtifact],
) -> Result<(), LayoutError> {
    let uses = |s: &&&ShaderArtifact| {
        s.interface().bindings.iter().any(|b| (b.group, b.slot) == (binding.group, binding.slot))
    };
    let (other, other_entry) =
        earlier.iter().find(uses).map(|s| (s.label().to_owned(), s.entry().to_owned())).unwrap_or_default();
    let storage = |kind| matches!(kind, BindingKind::BufferRead | BindingKind::BufferWrite);
    if entry.kind != binding.kind {
        if !(storage(entry.kind) && storage(binding.kind)) {
            let kinds = (binding.kind, entry.kind);
            return Err(fail(shader, Some(binding), LayoutErrorKind::KindMismatch { other, other_entry, kinds }));
        }
        entry.kind = BindingKind::BufferWrite;
    }
    if entry.count != binding.count {
        let counts = (binding.count, entry.count);
        return Err(fail(shader, Some(binding), LayoutErrorKind::CountMismatch { other, other_entry, counts }));
    }
    entry.stages |= shader.stage().flag();
    entry.min_size = entry.min_size.max(binding.min_size);
    Ok(())
}
