//! Buffers, buffer views and accessors: every offset and count is checked here, before any data is touched.

use std::path::Path;

use super::error::{Fault, Reason, Result};
use super::json::Json;
use super::limits::Budget;
use super::resource::{self, Fetched};

/// A buffer's bytes, or why there are none. (Only a use of such a buffer is an error.)
enum Buffer {
    Bytes(Vec<u8>),
    Absent { why: &'static str },
}

struct View {
    buffer: usize,
    offset: usize,
    length: usize,
    stride: Option<usize>,
}

/// Component type of an accessor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl Component {
    fn from_gl(number: u64) -> Option<Self> {
        Some(match number {
            5120 => Self::I8,
            5121 => Self::U8,
            5122 => Self::I16,
            5123 => Self::U16,
            5125 => Self::U32,
            5126 => Self::F32,
            _ => return None,
        })
    }

    fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }

    /// Reads one component; normalised integers are mapped as in glTF 2.0, section 3.11.
    fn read(self, b: &[u8], normalized: bool) -> f32 {
        let byte = |i: usize| b.get(i).copied().unwrap_or(0);
        let two = [byte(0), byte(1)];
        let four = [byte(0), byte(1), byte(2), byte(3)];
        match (self, normalized) {
            (Self::I8, false) => f32::from(two[0] as i8),
            (Self::I8, true) => (f32::from(two[0] as i8) / 127.0).max(-1.0),
            (Self::U8, false) => f32::from(two[0]),
            (Self::U8, true) => f32::from(two[0]) / 255.0,
            (Self::I16, false) => f32::from(i16::from_le_bytes(two)),
            (Self::I16, true) => (f32::from(i16::from_le_bytes(two)) / 32767.0).max(-1.0),
            (Self::U16, false) => f32::from(u16::from_le_bytes(two)),
            (Self::U16, true) => f32::from(u16::from_le_bytes(two)) / 65535.0,
            (Self::U32, _) => u32::from_le_bytes(four) as f32,
            (Self::F32, _) => f32::from_le_bytes(four),
        }
    }

    fn read_uint(self, b: &[u8]) -> Option<u32> {
        match self {
            Self::U8 => b.first().map(|v| u32::from(*v)),
            Self::U16 => b.first_chunk().map(|v| u32::from(u16::from_le_bytes(*v))),
            Self::U32 => b.first_chunk().map(|v| u32::from_le_bytes(*v)),
            Self::I8 | Self::I16 | Self::F32 => None,
        }
    }
}

/// Element type of an accessor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    Scalar,
    Vec2,
    Vec3,
    Vec4,
    Mat2,
    Mat3,
    Mat4,
}

impl Shape {
    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "SCALAR" => Self::Scalar,
            "VEC2" => Self::Vec2,
            "VEC3" => Self::Vec3,
            "VEC4" => Self::Vec4,
            "MAT2" => Self::Mat2,
            "MAT3" => Self::Mat3,
            "MAT4" => Self::Mat4,
            _ => return None,
        })
    }

    /// (columns, rows)
    fn layout(self) -> (usize, usize) {
        match self {
            Self::Scalar => (1, 1),
            Self::Vec2 => (1, 2),
            Self::Vec3 => (1, 3),
            Self::Vec4 => (1, 4),
            Self::Mat2 => (2, 2),
            Self::Mat3 => (3, 3),
            Self::Mat4 => (4, 4),
        }
    }

    pub fn components(self) -> usize {
        let (columns, rows) = self.layout();
        columns * rows
    }

    /// Bytes from one column to the next: matrix columns start at multiples of four bytes.
    fn column_bytes(self, component: Component) -> usize {
        let (columns, rows) = self.layout();
        let bytes = rows * component.size();
        if columns > 1 { bytes.next_multiple_of(4) } else { bytes }
    }

    fn bytes(self, component: Component) -> usize {
        let (columns, rows) = self.layout();
        // The last column needs no padding behind it.
        (columns - 1) * self.column_bytes(component) + rows * component.size()
    }
}

/// A run of equally spaced elements inside a buffer view.
#[derive(Clone, Copy)]
struct Run {
    view: usize,
    offset: usize,
    stride: usize,
}

struct Sparse {
    count: usize,
    indices: Run,
    index_type: Component,
    values: Run,
}

/// A checked accessor.
pub(super) struct Accessor {
    path: String,
    /// `None`: a type this importer does not know; harmless while nothing uses the accessor.
    layout: Option<(Component, Shape)>,
    pub normalized: bool,
    pub count: usize,
    base: Option<Run>,
    base_has_stride: bool,
    sparse: Option<Sparse>,
}

/// All data of a file.
pub(super) struct Data {
    buffers: Vec<Buffer>,
    views: Vec<View>,
    pub accessors: Vec<Accessor>,
}

fn size(j: &Json, key: &'static str) -> Result<Option<usize>> {
    let Some(value) = j.uint(key)? else { return Ok(None) };
    usize::try_from(value).map(Some).map_err(|_| j.invalid(format!("{key} is too large")))
}

/// Where the document came from.
#[derive(Clone, Copy)]
pub(super) enum Container<'b> {
    Gltf,
    /// With the BIN chunk, if there is one.
    Glb(Option<&'b [u8]>),
}

/// Loads buffers and checks views and accessors.
pub(super) fn load(root: &Json, container: Container, folder: Option<&Path>, budget: &mut Budget) -> Result<Data> {
    let mut data = Data { buffers: Vec::new(), views: Vec::new(), accessors: Vec::new() };
    let mut lengths = Vec::new();
    for (i, j) in root.objects("buffers")?.iter().enumerate() {
        let length = size(j, "byteLength")?.ok_or_else(|| j.fault(Reason::Missing("byteLength")))?;
        if length == 0 {
            return Err(j.invalid("byteLength must be at least 1"));
        }
        data.buffers.push(load_buffer(j, length, if i == 0 { container } else { Container::Gltf }, folder, budget)?);
        lengths.push(length);
    }
    for j in &root.objects("bufferViews")? {
        data.views.push(check_view(j, &lengths)?);
    }
    for j in &root.objects("accessors")? {
        let accessor = check_accessor(j, &data.views)?;
        data.accessors.push(accessor);
    }
    Ok(data)
}

fn load_buffer(
    j: &Json,
    length: usize,
    container: Container,
    folder: Option<&Path>,
    budget: &mut Budget,
) -> Result<Buffer> {
    let mut bytes = match j.get("uri")? {
        Some(uri) => match resource::fetch(uri.as_str()?, &uri.path, folder, budget)? {
            Fetched::Data(resource) => resource.bytes,
            Fetched::Remote => return Ok(Buffer::Absent { why: "its URI is not a file or data URI" }),
        },
        None => match container {
            Container::Glb(Some(bin)) => {
                budget.bytes(bin.len() as u64, &j.path)?;
                bin.to_vec()
            }
            Container::Glb(None) => return Err(j.invalid("buffer 0 has no URI, and the GLB file has no BIN chunk")),
            Container::Gltf => return Ok(Buffer::Absent { why: "it has neither a URI nor a BIN chunk" }),
        },
    };
    if bytes.len() < length {
        return Err(Fault::range(
            &j.path,
            format!("the buffer has {} bytes, fewer than byteLength {length}", bytes.len()),
        ));
    }
    bytes.truncate(length);
    Ok(Buffer::Bytes(bytes))
}

fn check_view(j: &Json, buffer_lengths: &[usize]) -> Result<View> {
    let buffer = j.need("buffer")?.as_index("buffer", buffer_lengths.len())?;
    let offset = size(j, "byteOffset")?.unwrap_or(0);
    let length = size(j, "byteLength")?.ok_or_else(|| j.fault(Reason::Missing("byteLength")))?;
    if length == 0 {
        return Err(j.invalid("byteLength must be at least 1"));
    }
    let available = buffer_lengths[buffer];
    if offset.checked_add(length).is_none_or(|end| end > available) {
        let message = format!("bytes {offset} + {length} of buffer {buffer}, which has {available}");
        return Err(Fault::range(&j.path, message));
    }
    let stride = size(j, "byteStride")?;
    if let Some(stride) = stride.filter(|s| !(4..=252).contains(s) || s % 4 != 0) {
        return Err(j.invalid(format!("byteStride {stride} is not a multiple of 4 in 4..=252")));
    }
    Ok(View { buffer, offset, length, stride })
}

fn check_accessor(j: &Json, views: &[View]) -> Result<Accessor> {
    let component = Component::from_gl(j.need("componentType")?.as_uint()?);
    let shape = Shape::from_name(j.need("type")?.as_str()?);
    let count = size(j, "count")?.ok_or_else(|| j.fault(Reason::Missing("count")))?;
    if count == 0 {
        return Err(j.invalid("count must be at least 1"));
    }
    let normalized = j.bool("normalized")?.unwrap_or(false);
    if normalized && matches!(component, Some(Component::F32 | Component::U32)) {
        return Err(j.invalid("only 8-bit and 16-bit integers can be normalized"));
    }
    let view = j.index("bufferView", "buffer view", views.len())?;
    let offset = size(j, "byteOffset")?.unwrap_or(0);
    let mut accessor = Accessor {
        path: j.path.clone(),
        layout: component.zip(shape),
        normalized,
        count,
        base: None,
        base_has_stride: view.is_some_and(|v| views[v].stride.is_some()),
        sparse: None,
    };
    if let Some((component, shape)) = accessor.layout {
        if let Some(view) = view {
            let layout = (component, shape, count);
            accessor.base = Some(check_run(j, views, view, offset, layout)?);
        }
        if let Some(sparse) = j.get("sparse")? {
            accessor.sparse = Some(check_sparse(&sparse, views, component, shape, count)?);
        }
    }
    Ok(accessor)
}

/// Checks that `count` elements fit behind `offset` in a view.
fn check_run(j: &Json, views: &[View], view: usize, offset: usize, layout: (Component, Shape, usize)) -> Result<Run> {
    let (component, shape, count) = layout;
    let v = &views[view];
    let element = shape.bytes(component);
    let packed = shape.layout().0 * shape.column_bytes(component);
    let stride = v.stride.unwrap_or(packed);
    if stride < element {
        return Err(j.invalid(format!("the view's byteStride {stride} is less than an element's {element} bytes")));
    }
    let alignment = if shape.layout().0 > 1 { 4 } else { component.size() };
    if !offset.is_multiple_of(alignment) || !(v.offset + offset.min(v.length)).is_multiple_of(alignment) {
        return Err(j.invalid(format!("byteOffset {offset} is not a multiple of {alignment} in view and buffer")));
    }
    let end = (count - 1).checked_mul(stride).and_then(|x| x.checked_add(element)).and_then(|x| x.checked_add(offset));
    if end.is_none_or(|end| end > v.length) {
        let message = format!("{count} elements at byte {offset} do not fit buffer view {view} of {} bytes", v.length);
        return Err(Fault::range(&j.path, message));
    }
    Ok(Run { view, offset, stride })
}

fn check_sparse(j: &Json, views: &[View], component: Component, shape: Shape, base_count: usize) -> Result<Sparse> {
    let count = size(j, "count")?.ok_or_else(|| j.fault(Reason::Missing("count")))?;
    if count == 0 || count > base_count {
        return Err(j.invalid(format!("sparse count {count} is not in 1..={base_count}")));
    }
    let part = |key: &'static str, component: Component, shape: Shape| -> Result<Run> {
        let p = j.need(key)?;
        let view = p.need("bufferView")?.as_index("buffer view", views.len())?;
        if views[view].stride.is_some() {
            return Err(p.invalid("sparse data must not have a byteStride"));
        }
        check_run(&p, views, view, size(&p, "byteOffset")?.unwrap_or(0), (component, shape, count))
    };
    let type_json = j.need("indices")?.need("componentType")?;
    let index_type = Component::from_gl(type_json.as_uint()?)
        .filter(|c| matches!(c, Component::U8 | Component::U16 | Component::U32))
        .ok_or_else(|| type_json.invalid("sparse indices must be unsigned integers"))?;
    let indices = part("indices", index_type, Shape::Scalar)?;
    Ok(Sparse { count, indices, index_type, values: part("values", component, shape)? })
}

/// What an attribute may look like.
pub(super) struct Want<'w> {
    pub what: &'static str,
    pub shapes: &'w [Shape],
    pub floats: bool,
    pub normalized: &'w [Component],
    pub integers: &'w [Component],
}

impl Data {
    fn bytes_of(&self, run: Run, path: &str) -> Result<&[u8]> {
        let view = &self.views[run.view];
        match &self.buffers[view.buffer] {
            Buffer::Bytes(bytes) => Ok(&bytes[view.offset + run.offset..view.offset + view.length]),
            Buffer::Absent { why } => Err(Fault::value(path, format!("buffer {} has no data: {why}", view.buffer))),
        }
    }

    /// The bytes of a buffer view (images use them directly).
    pub fn view_bytes(&self, view: usize, path: &str) -> Result<&[u8]> {
        self.bytes_of(Run { view, offset: 0, stride: 0 }, path)
    }

    pub fn view_count(&self) -> usize {
        self.views.len()
    }

    /// Whether the accessor's format is one of those wanted; else an error that lists what it is.
    pub fn check_format(&self, accessor: usize, want: &Want) -> Result<Shape> {
        let a = &self.accessors[accessor];
        let Some((component, shape)) = a.layout else {
            return Err(Fault::value(&a.path, "unknown componentType or type"));
        };
        let allowed = match (component, a.normalized) {
            (Component::F32, _) => want.floats,
            (_, true) => want.normalized.contains(&component),
            (_, false) => want.integers.contains(&component),
        };
        if allowed && want.shapes.contains(&shape) {
            return Ok(shape);
        }
        let normalized = if a.normalized { " normalized" } else { "" };
        Err(Fault::value(&a.path, format!("{shape:?} of{normalized} {component:?} cannot be used as {}", want.what)))
    }

    /// All elements as 32-bit floats, sparse values applied, components of an element one after the other.
    /// Infinities and NaNs are errors.
    pub fn floats(&self, accessor: usize, budget: &mut Budget) -> Result<Vec<f32>> {
        let a = &self.accessors[accessor];
        let Some((component, shape)) = a.layout else {
            return Err(Fault::value(&a.path, "unknown componentType or type"));
        };
        let width = shape.components();
        let total = a.count.checked_mul(width).ok_or_else(|| Fault::range(&a.path, "count is too large"))?;
        budget.bytes(total as u64 * 4, &a.path)?;
        let mut out = vec![0.0; total];
        let read = |bytes: &[u8], element: &mut [f32]| {
            let (_, rows) = shape.layout();
            for (i, value) in element.iter_mut().enumerate() {
                let at = (i / rows) * shape.column_bytes(component) + (i % rows) * component.size();
                *value = component.read(bytes.get(at..).unwrap_or_default(), a.normalized);
            }
        };
        if let Some(run) = a.base {
            let bytes = self.bytes_of(run, &a.path)?;
            for (i, element) in out.chunks_exact_mut(width).enumerate() {
                read(&bytes[i * run.stride..], element);
            }
        }
        self.overlay(a, |index, bytes| read(bytes, &mut out[index * width..(index + 1) * width]))?;
        if let Some(at) = out.iter().position(|v| !v.is_finite()) {
            return Err(Fault::value(&a.path, format!("element {} is not a finite number", at / width)));
        }
        Ok(out)
    }

    /// All elements as unsigned integers, components of an element one after the other.
    pub fn uints(&self, accessor: usize, budget: &mut Budget) -> Result<Vec<u32>> {
        let a = &self.accessors[accessor];
        let Some((component, shape)) = a.layout.filter(|(c, s)| c.read_uint(&[0; 4]).is_some() && s.layout().0 == 1)
        else {
            return Err(Fault::value(&a.path, "unsigned integers are wanted here"));
        };
        let width = shape.components();
        let total = a.count.checked_mul(width).ok_or_else(|| Fault::range(&a.path, "count is too large"))?;
        budget.bytes(total as u64 * 4, &a.path)?;
        let mut out = vec![0u32; total];
        let read = |bytes: &[u8], element: &mut [u32]| {
            for (i, value) in element.iter_mut().enumerate() {
                let at = i * component.size();
                *value = bytes.get(at..).and_then(|b| component.read_uint(b)).unwrap_or(0);
            }
        };
        if let Some(run) = a.base {
            let bytes = self.bytes_of(run, &a.path)?;
            for (i, element) in out.chunks_exact_mut(width).enumerate() {
                read(&bytes[i * run.stride..], element);
            }
        }
        self.overlay(a, |index, bytes| read(bytes, &mut out[index * width..(index + 1) * width]))?;
        Ok(out)
    }

    /// Calls `write(element index, bytes of the new value)` for each sparse replacement.
    fn overlay(&self, a: &Accessor, mut write: impl FnMut(usize, &[u8])) -> Result<()> {
        let Some(sparse) = &a.sparse else { return Ok(()) };
        let indices = self.bytes_of(sparse.indices, &a.path)?;
        let values = self.bytes_of(sparse.values, &a.path)?;
        for i in 0..sparse.count {
            let index = sparse.index_type.read_uint(&indices[i * sparse.indices.stride..]);
            let index = index.map_or(usize::MAX, |v| v as usize);
            if index >= a.count {
                let message = format!("sparse index {index} names no element: there are {}", a.count);
                return Err(Fault::range(format!("{}/sparse/indices", a.path), message));
            }
            write(index, &values[i * sparse.values.stride..]);
        }
        Ok(())
    }

    pub fn path(&self, accessor: usize) -> &str {
        &self.accessors[accessor].path
    }

    /// Index data must be packed.
    pub fn check_packed(&self, accessor: usize) -> Result<()> {
        let a = &self.accessors[accessor];
        if a.base_has_stride {
            return Err(Fault::value(&a.path, "indices must not have a byteStride"));
        }
        Ok(())
    }
}
