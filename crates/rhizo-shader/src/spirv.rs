//! A look at SPIR-V binaries that does not trust them: structure, entry points, capabilities, decorated bindings.
//!
//! Numbers are those of the SPIR-V specification 1.6, section 3.

use crate::error::{ShaderError, ShaderErrorKind};
use crate::guard::limits;
use rhizo_rhi::{BindingKind, ShaderArtifact, ShaderInterface, ShaderPayload, ShaderStage};
use std::collections::HashMap;

const MAGIC: u32 = 0x0723_0203;
const HEADER_WORDS: usize = 5;
/// Ids must be below this (section 2.17, universal limits).
const MAX_BOUND: u32 = 4_194_304;

mod op {
    pub const ENTRY_POINT: u16 = 15;
    pub const EXECUTION_MODE: u16 = 16;
    pub const CAPABILITY: u16 = 17;
    pub const TYPE_IMAGE: u16 = 25;
    pub const TYPE_SAMPLER: u16 = 26;
    pub const TYPE_SAMPLED_IMAGE: u16 = 27;
    pub const TYPE_ARRAY: u16 = 28;
    pub const TYPE_RUNTIME_ARRAY: u16 = 29;
    pub const TYPE_STRUCT: u16 = 30;
    pub const TYPE_POINTER: u16 = 32;
    pub const CONSTANT: u16 = 43;
    pub const FUNCTION: u16 = 54;
    pub const FUNCTION_END: u16 = 56;
    pub const VARIABLE: u16 = 59;
    pub const DECORATE: u16 = 71;
    pub const LOOP_MERGE: u16 = 246;
    pub const SELECTION_MERGE: u16 = 247;
}

const EXECUTION_MODE_LOCAL_SIZE: u32 = 17;
const DECORATION_BUFFER_BLOCK: u32 = 3;
const DECORATION_BINDING: u32 = 33;
const DECORATION_DESCRIPTOR_SET: u32 = 34;
const STORAGE_UNIFORM_CONSTANT: u32 = 0;
const STORAGE_UNIFORM: u32 = 2;
const STORAGE_BUFFER: u32 = 12;

/// Capabilities of the OpenCL world, which no graphics API takes: Addresses, Linkage, Kernel.
const KERNEL_CAPABILITIES: [u32; 3] = [4, 5, 6];

/// What a binary declares. Its instructions are known to lie inside the binary; nothing else about it is verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpirvModule {
    /// Version (major, minor).
    pub version: (u8, u8),
    /// Declared capabilities, by number.
    pub capabilities: Vec<u32>,
    /// Entry points.
    pub entries: Vec<SpirvEntry>,
    /// Variables decorated with a set and a binding, sorted by both.
    pub bindings: Vec<SpirvBinding>,
    merges: usize,
}

/// An entry point of a binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpirvEntry {
    /// Name.
    pub name: String,
    /// Execution model, by number: 0 vertex, 4 fragment, 5 compute.
    pub model: u32,
    /// Group size stated as literals, if any.
    pub group_size: Option<[u32; 3]>,
    id: u32,
    interface: Vec<u32>,
}

/// A decorated resource of a binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpirvBinding {
    /// Descriptor set.
    pub group: u32,
    /// Binding.
    pub slot: u32,
    /// What it is.
    pub class: SpirvClass,
    /// Array length; 0 without one, `None` if it is a specialization constant.
    pub count: Option<u32>,
    variable: u32,
}

/// The class of a resource as far as it shows in its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpirvClass {
    /// Uniform block.
    Constant,
    /// Storage block.
    Storage,
    /// Sampled image.
    Texture,
    /// Storage image.
    StorageTexture,
    /// Sampler.
    Sampler,
    /// Anything else: combined image samplers, acceleration structures, texel buffers, tensors.
    Other,
}

impl SpirvClass {
    const fn fits(self, kind: BindingKind) -> bool {
        matches!(
            (self, kind),
            (Self::Constant, BindingKind::Constant { .. })
                | (Self::Storage, BindingKind::BufferRead | BindingKind::BufferWrite)
                | (Self::Texture, BindingKind::Texture { .. })
                | (Self::StorageTexture, BindingKind::StorageTexture { .. })
                | (Self::Sampler, BindingKind::Sampler { .. })
        )
    }
}

/// Declarations collected on the way through the binary, before they are put together.
#[derive(Default)]
struct Declarations {
    capabilities: Vec<u32>,
    entries: Vec<SpirvEntry>,
    local_sizes: HashMap<u32, [u32; 3]>,
    /// Id → opcode and operands after the result id.
    types: HashMap<u32, (u16, Vec<u32>)>,
    constants: HashMap<u32, u32>,
    /// Id, pointer type, storage class.
    variables: Vec<(u32, u32, u32)>,
    sets: HashMap<u32, u32>,
    slots: HashMap<u32, u32>,
    buffer_blocks: Vec<u32>,
    merges: usize,
    merges_in_function: usize,
    in_function: bool,
}

fn malformed(label: &str, message: impl Into<String>) -> ShaderError {
    ShaderError::new(ShaderErrorKind::Malformed, label, message)
}

impl SpirvModule {
    /// Walks the binary once.
    ///
    /// # Errors
    /// `TooLarge`; `Malformed` for a wrong magic number, version or id bound, an instruction that is empty or runs past
    /// the end, a broken name, or a module without entry points.
    pub fn parse(label: &str, words: &[u32]) -> Result<Self, ShaderError> {
        if words.len() > limits::SPIRV_WORDS {
            let limit = limits::SPIRV_WORDS as u64;
            return Err(ShaderError::too_large(label, "words of SPIR-V", words.len() as u64, limit));
        }
        let version = header(label, words)?;
        let mut declarations = Declarations::default();
        let mut at = HEADER_WORDS;
        while at < words.len() {
            let (length, opcode) = ((words[at] >> 16) as usize, (words[at] & 0xffff) as u16);
            let end = at.saturating_add(length);
            if length == 0 || end > words.len() {
                let message = format!("the instruction at word {at} has {length} words, {} are left", words.len() - at);
                return Err(malformed(label, message));
            }
            declarations.read(opcode, &words[at + 1..end]).ok_or_else(|| {
                malformed(label, format!("the instruction at word {at} (opcode {opcode}) is too short or broken"))
            })?;
            at = end;
        }
        if declarations.in_function {
            return Err(malformed(label, "the last function does not end"));
        }
        if declarations.entries.is_empty() {
            return Err(malformed(label, "there is no entry point"));
        }
        Ok(declarations.finish(version))
    }

    /// Refuses functions with more structured branches than a recursive reader should meet.
    pub(crate) fn check_nesting(&self, label: &str) -> Result<(), ShaderError> {
        if self.merges > limits::SPIRV_MERGES {
            let limit = limits::SPIRV_MERGES as u64;
            return Err(ShaderError::too_large(label, "branches in one function", self.merges as u64, limit));
        }
        Ok(())
    }
}

fn header(label: &str, words: &[u32]) -> Result<(u8, u8), ShaderError> {
    if words.len() < HEADER_WORDS {
        return Err(malformed(label, format!("{} words are no SPIR-V header", words.len())));
    }
    if words[0] == MAGIC.swap_bytes() {
        return Err(malformed(label, "the words are in the other byte order"));
    }
    if words[0] != MAGIC {
        return Err(malformed(label, format!("the magic number is {:#010x}, not {MAGIC:#010x}", words[0])));
    }
    let [low, minor, major, high] = words[1].to_le_bytes();
    if (low, high, major) != (0, 0, 1) || minor > 6 {
        return Err(malformed(label, format!("{:#010x} is no known SPIR-V version", words[1])));
    }
    if words[3] == 0 || words[3] > MAX_BOUND {
        return Err(malformed(label, format!("the id bound {} is out of range", words[3])));
    }
    Ok((major, minor))
}

/// A literal string and the number of words it takes.
fn literal(words: &[u32]) -> Option<(String, usize)> {
    let mut bytes = Vec::new();
    for (i, word) in words.iter().enumerate() {
        for byte in word.to_le_bytes() {
            if byte == 0 {
                return Some((String::from_utf8(bytes).ok()?, i + 1));
            }
            bytes.push(byte);
        }
    }
    None
}

impl Declarations {
    /// Takes in one instruction; `None` if it lacks operands.
    fn read(&mut self, opcode: u16, operands: &[u32]) -> Option<()> {
        match opcode {
            op::CAPABILITY => self.capabilities.push(*operands.first()?),
            op::ENTRY_POINT => {
                let (name, length) = literal(operands.get(2..)?)?;
                let interface = operands[2 + length..].to_vec();
                let (model, id) = (operands[0], operands[1]);
                self.entries.push(SpirvEntry { name, model, group_size: None, id, interface });
            }
            op::EXECUTION_MODE if *operands.get(1)? == EXECUTION_MODE_LOCAL_SIZE => {
                let size = <[u32; 3]>::try_from(operands.get(2..5)?).ok()?;
                self.local_sizes.insert(operands[0], size);
            }
            op::TYPE_IMAGE | op::TYPE_SAMPLED_IMAGE | op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY | op::TYPE_POINTER => {
                let least = if opcode == op::TYPE_IMAGE {
                    8
                } else if opcode == op::TYPE_ARRAY || opcode == op::TYPE_POINTER {
                    3
                } else {
                    2
                };
                self.types.insert(*operands.first()?, (opcode, operands.get(1..least)?.to_vec()));
            }
            op::TYPE_SAMPLER | op::TYPE_STRUCT => {
                self.types.insert(*operands.first()?, (opcode, Vec::new()));
            }
            op::CONSTANT => {
                self.constants.insert(*operands.get(1)?, *operands.get(2)?);
            }
            op::VARIABLE => self.variables.push((*operands.get(1)?, operands[0], *operands.get(2)?)),
            op::DECORATE => self.decorate(operands)?,
            op::FUNCTION => (self.in_function, self.merges_in_function) = (true, 0),
            op::FUNCTION_END => self.in_function = false,
            op::LOOP_MERGE | op::SELECTION_MERGE => {
                self.merges_in_function += 1;
                self.merges = self.merges.max(self.merges_in_function);
            }
            _ => {}
        }
        Some(())
    }

    fn decorate(&mut self, operands: &[u32]) -> Option<()> {
        let target = *operands.first()?;
        match *operands.get(1)? {
            DECORATION_BINDING => {
                self.slots.insert(target, *operands.get(2)?);
            }
            DECORATION_DESCRIPTOR_SET => {
                self.sets.insert(target, *operands.get(2)?);
            }
            DECORATION_BUFFER_BLOCK => self.buffer_blocks.push(target),
            _ => {}
        }
        Some(())
    }

    fn finish(mut self, version: (u8, u8)) -> SpirvModule {
        for entry in &mut self.entries {
            entry.group_size = self.local_sizes.get(&entry.id).copied();
        }
        let mut bindings: Vec<SpirvBinding> =
            self.variables.iter().filter_map(|(id, ty, storage)| self.binding(*id, *ty, *storage)).collect();
        bindings.sort_by_key(|b| (b.group, b.slot, b.variable));
        SpirvModule { version, capabilities: self.capabilities, entries: self.entries, bindings, merges: self.merges }
    }

    fn binding(&self, id: u32, pointer: u32, storage: u32) -> Option<SpirvBinding> {
        let (group, slot) = (*self.sets.get(&id)?, *self.slots.get(&id)?);
        let ty = match self.types.get(&pointer) {
            Some((op::TYPE_POINTER, operands)) => operands[1],
            _ => pointer,
        };
        let (element, count) = match self.types.get(&ty) {
            Some((op::TYPE_ARRAY, operands)) => (operands[0], self.constants.get(&operands[1]).copied()),
            Some((op::TYPE_RUNTIME_ARRAY, operands)) => (operands[0], Some(0)),
            _ => (ty, Some(1)),
        };
        Some(SpirvBinding { group, slot, class: self.class(element, storage), count, variable: id })
    }

    fn class(&self, ty: u32, storage: u32) -> SpirvClass {
        const DIM_BUFFER: u32 = 5;
        match (self.types.get(&ty), storage) {
            (Some((op::TYPE_STRUCT, _)), STORAGE_BUFFER) => SpirvClass::Storage,
            (Some((op::TYPE_STRUCT, _)), STORAGE_UNIFORM) if self.buffer_blocks.contains(&ty) => SpirvClass::Storage,
            (Some((op::TYPE_STRUCT, _)), STORAGE_UNIFORM) => SpirvClass::Constant,
            (Some((op::TYPE_SAMPLER, _)), STORAGE_UNIFORM_CONSTANT) => SpirvClass::Sampler,
            // Operands: sampled type, dimension, depth, arrayed, multisampled, sampled, format.
            (Some((op::TYPE_IMAGE, operands)), STORAGE_UNIFORM_CONSTANT) => match (operands[1], operands[5]) {
                (DIM_BUFFER, _) => SpirvClass::Other,
                (_, 1) => SpirvClass::Texture,
                (_, 2) => SpirvClass::StorageTexture,
                _ => SpirvClass::Other,
            },
            _ => SpirvClass::Other,
        }
    }
}

const fn execution_model(stage: ShaderStage) -> Option<u32> {
    match stage {
        ShaderStage::Vertex => Some(0),
        ShaderStage::Fragment => Some(4),
        ShaderStage::Compute => Some(5),
        _ => None,
    }
}

/// Passes a ready-made SPIR-V binary through, with the interface its author states for it.
///
/// Checked: the structure ([`SpirvModule::parse`]); that the entry point exists with that stage; that no OpenCL
/// capability is declared; that every stated binding is declared by the binary with a fitting type and array length,
/// and that every decorated binding of the entry point is stated (before SPIR-V 1.4 entry points do not list their
/// resources: there all of a module with one entry point count, and none of a module with several); for compute, the
/// stated group size. Use [`crate::Module`] wherever naga can read the shader.
///
/// # Safety
/// The binary must be valid SPIR-V for the devices it is given to, use only what they have enabled, have exactly the
/// interface stated, and keep every memory access in bounds (given robust buffer access).
///
/// # Errors
/// `TooLarge`, `Malformed`, `EntryMissing`, `Unsupported`, `InterfaceMismatch`.
pub unsafe fn from_spirv_unchecked(
    label: &str,
    words: &[u32],
    entry: &str,
    stage: ShaderStage,
    interface: ShaderInterface,
) -> Result<ShaderArtifact, ShaderError> {
    let module = SpirvModule::parse(label, words)?;
    if let Some(number) = module.capabilities.iter().find(|c| KERNEL_CAPABILITIES.contains(c)) {
        let what = format!("the SPIR-V capability {number}");
        return Err(ShaderError::unsupported(label, what, "it belongs to OpenCL kernels"));
    }
    let found = find_entry(label, &module, entry, stage)?;
    check_interface(label, &module, found, stage, &interface)?;
    let payload = ShaderPayload::Spirv(words.to_vec());
    // SAFETY: the caller vouches for the binary and its interface, as this function's own contract demands.
    Ok(unsafe { ShaderArtifact::from_validated(label, entry, stage, payload, interface) })
}

fn find_entry<'m>(
    label: &str,
    module: &'m SpirvModule,
    name: &str,
    stage: ShaderStage,
) -> Result<&'m SpirvEntry, ShaderError> {
    let model = execution_model(stage);
    module.entries.iter().find(|e| e.name == name && Some(e.model) == model).ok_or_else(|| {
        let message = format!("there is no {} entry point '{name}'", stage.name());
        let list: Vec<String> = module.entries.iter().map(|e| format!("{} (model {})", e.name, e.model)).collect();
        ShaderError::new(ShaderErrorKind::EntryMissing, label, message)
            .note(format!("entry points: {}", list.join(", ")))
    })
}

fn check_interface(
    label: &str,
    module: &SpirvModule,
    entry: &SpirvEntry,
    stage: ShaderStage,
    interface: &ShaderInterface,
) -> Result<(), ShaderError> {
    let mismatch = |message: String| Err(ShaderError::new(ShaderErrorKind::InterfaceMismatch, label, message));
    let used = |b: &SpirvBinding| entry.interface.contains(&b.variable);
    let lists_resources = module.version >= (1, 4);
    for b in module.bindings.iter().filter(|b| if lists_resources { used(b) } else { module.entries.len() == 1 }) {
        if !interface.bindings.iter().any(|s| (s.group, s.slot) == (b.group, b.slot)) {
            return mismatch(format!("the binary uses group {} binding {}, which is not stated", b.group, b.slot));
        }
    }
    for s in &interface.bindings {
        let mut declared = module.bindings.iter().filter(|b| (b.group, b.slot) == (s.group, s.slot)).peekable();
        if declared.peek().is_none() {
            return mismatch(format!("group {} binding {} is stated, but not in the binary", s.group, s.slot));
        }
        // Several variables may share a binding; only the one the entry point uses counts, and it need not be known.
        if !declared.any(|b| b.class.fits(s.kind) && b.count.is_none_or(|n| n == s.count)) {
            let message = format!("group {} binding {} is stated as {:?} × {}", s.group, s.slot, s.kind, s.count);
            return mismatch(format!("{message}, but is something else in the binary"));
        }
    }
    if stage == ShaderStage::Compute && entry.group_size.is_some_and(|size| size != interface.group_size) {
        let size = entry.group_size.unwrap_or_default();
        return mismatch(format!("the group size is {size:?}, stated is {:?}", interface.group_size));
    }
    Ok(())
}
