//! Values that belong to a domain but are not limits: heaps, matrix shapes, element types.

use std::fmt;

/// One memory heap, with what its memory types offer together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct MemoryHeap {
    /// Size in bytes.
    pub size_bytes: u64,
    /// Fast for the device.
    pub device_local: bool,
    /// Some memory of it can be mapped by the CPU.
    pub host_visible: bool,
    /// Some mapped memory of it is cached by the CPU, so reads are fast.
    pub host_cached: bool,
    /// Some memory of it is only committed when needed (memoryless attachments).
    pub lazily_allocated: bool,
}

impl fmt::Display for MemoryHeap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} MiB", self.size_bytes >> 20)?;
        let words = [
            (self.device_local, "device-local"),
            (self.host_visible, "host-visible"),
            (self.host_cached, "host-cached"),
            (self.lazily_allocated, "lazily-allocated"),
        ];
        words.iter().filter(|(on, _)| *on).try_for_each(|(_, word)| write!(f, " {word}"))
    }
}

/// Element types of matrices and tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names say it")]
pub enum ElementType {
    F64,
    F32,
    F16,
    Bf16,
    F8E4m3,
    F8E5m2,
    I64,
    I32,
    I16,
    I8,
    U64,
    U32,
    U16,
    U8,
    /// A type this version does not know, by its native number.
    Other(u32),
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::F64 => "f64",
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::F8E4m3 => "f8e4m3",
            Self::F8E5m2 => "f8e5m2",
            Self::I64 => "i64",
            Self::I32 => "i32",
            Self::I16 => "i16",
            Self::I8 => "i8",
            Self::U64 => "u64",
            Self::U32 => "u32",
            Self::U16 => "u16",
            Self::U8 => "u8",
            Self::Other(number) => return write!(f, "type-{number}"),
        };
        f.write_str(name)
    }
}

/// The threads that work on one cooperative matrix together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names say it")]
pub enum MatrixScope {
    Subgroup,
    Workgroup,
    QueueFamily,
    Device,
    /// A scope this version does not know, by its native number.
    Other(u32),
}

/// One cooperative-matrix configuration as the device reports it: `result[m,n] = a[m,k] * b[k,n] + c[m,n]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CooperativeMatrix {
    /// Rows of `a` and of the result.
    pub m: u32,
    /// Columns of `b` and of the result.
    pub n: u32,
    /// Columns of `a`, rows of `b`.
    pub k: u32,
    /// Element type of `a`.
    pub a: ElementType,
    /// Element type of `b`.
    pub b: ElementType,
    /// Element type of `c`.
    pub c: ElementType,
    /// Element type of the result.
    pub result: ElementType,
    /// Whether integer accumulation saturates.
    pub saturating: bool,
    /// Threads working together.
    pub scope: MatrixScope,
}

impl fmt::Display for CooperativeMatrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { m, n, k, a, b, c, result, saturating, scope } = self;
        let scope = match scope {
            MatrixScope::Subgroup => "subgroup",
            MatrixScope::Workgroup => "workgroup",
            MatrixScope::QueueFamily => "queue-family",
            MatrixScope::Device => "device",
            MatrixScope::Other(_) => "other scope",
        };
        write!(f, "{m}x{n}x{k} {a}*{b}+{c}->{result} per {scope}")?;
        if *saturating { f.write_str(" saturating") } else { Ok(()) }
    }
}

/// A value as text; None when it was not reported.
pub(crate) trait Value {
    fn text(&self) -> Option<String>;
}

impl Value for Option<u64> {
    fn text(&self) -> Option<String> {
        self.map(|value| value.to_string())
    }
}

impl<T: fmt::Display> Value for Vec<T> {
    fn text(&self) -> Option<String> {
        let items: Vec<String> = self.iter().map(ToString::to_string).collect();
        (!items.is_empty()).then(|| items.join("; "))
    }
}
