//! Graph files: what to compile.

use std::collections::HashMap;

use rhizo_rhi::Format;
use rhizo_rhi::{Access, Aspects, BufferRange, Layout, QueueKind, Stages, TextureRange};
use serde::{Deserialize, Serialize};

use super::names::{Flags, Name, StageList};
use super::{FileError, check_version, field_error, parse};
use crate::declare::{
    AccessDecl, AccessKind, AccessRange, BufferDesc, ClearValue, Graph, Lifetime, LoadOp, NONE, PassKind, ResourceDecl,
    ResourceDesc, State, StoreOp, TextureDesc, TextureDimension,
};
use crate::error::{CompileError, ErrorCode};

/// A graph file that parsed: the graph, and the free text beside it.
#[derive(Debug)]
pub struct GraphFile {
    /// What to compile. Names that nothing has are recorded in it and reported as `invalid-handle` when it is compiled.
    pub graph: Graph,
    /// Where it comes from.
    pub source: String,
    /// Remarks.
    pub notes: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Root {
    version: u64,
    name: String,
    #[serde(default)]
    source: String,
    #[serde(default)]
    notes: String,
    resources: Vec<Resource>,
    passes: Vec<Pass>,
    /// Expectations are for tests of compilers; they change nothing.
    #[serde(default, rename = "expect")]
    _expect: serde::de::IgnoredAny,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Resource {
    name: String,
    kind: Kind,
    lifetime: LifetimeName,
    #[serde(default)]
    output: bool,
    bytes: Option<u64>,
    alignment: Option<u64>,
    dimension: Option<DimensionName>,
    format: Option<Name<Format>>,
    extent: Option<[u32; 3]>,
    mips: Option<u32>,
    layers: Option<u32>,
    samples: Option<u32>,
    size: Option<u64>,
    usage: Option<UsageName>,
    initial: Option<StateFile>,
    #[serde(rename = "final")]
    final_state: Option<StateFile>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Texture,
    Buffer,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum UsageName {
    AccelerationStructure,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum LifetimeName {
    Transient,
    Imported,
    Persistent,
}

/// Texture dimensions in files.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) enum DimensionName {
    #[serde(rename = "1d")]
    D1,
    #[serde(rename = "2d")]
    D2,
    #[serde(rename = "3d")]
    D3,
    #[serde(rename = "cube")]
    Cube,
}

impl From<DimensionName> for TextureDimension {
    fn from(name: DimensionName) -> Self {
        match name {
            DimensionName::D1 => Self::D1,
            DimensionName::D2 => Self::D2,
            DimensionName::D3 => Self::D3,
            DimensionName::Cube => Self::Cube,
        }
    }
}

impl From<TextureDimension> for DimensionName {
    fn from(dimension: TextureDimension) -> Self {
        match dimension {
            TextureDimension::D1 => Self::D1,
            TextureDimension::D2 => Self::D2,
            TextureDimension::D3 => Self::D3,
            TextureDimension::Cube => Self::Cube,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StateFile {
    stages: Flags<StageList>,
    access: Vec<Name<AccessKind>>,
    layout: Option<Name<Layout>>,
    queue: Option<Name<QueueKind>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pass {
    name: String,
    kind: Name<PassKind>,
    queue: Name<QueueKind>,
    #[serde(default)]
    side_effect: bool,
    #[serde(default)]
    after: Vec<String>,
    accesses: Vec<AccessFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AccessFile {
    resource: String,
    access: Name<AccessKind>,
    stages: Option<Flags<StageList>>,
    mips: Option<[u32; 2]>,
    layers: Option<[u32; 2]>,
    aspects: Option<Flags<Aspects>>,
    range: Option<[u64; 2]>,
    load: Option<LoadName>,
    store: Option<StoreName>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum LoadName {
    Clear,
    Load,
    Discard,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum StoreName {
    Store,
    Discard,
}

impl GraphFile {
    /// Reads a graph file.
    ///
    /// # Errors
    ///
    /// [`FileError`] with line and field when it is malformed. What is well-formed but wrong is for
    /// [`crate::compile()`] to say.
    pub fn parse(text: &str) -> Result<Self, FileError> {
        let root: Root = parse(text)?;
        check_version(text, root.version)?;
        let mut reader = Reader { text, graph: Graph::new(&root.name), names: HashMap::new() };
        for (i, resource) in root.resources.iter().enumerate() {
            reader.resource(i, resource)?;
        }
        let mut passes = HashMap::with_capacity(root.passes.len());
        for (i, pass) in root.passes.iter().enumerate() {
            let place = || format!("passes[{i}].name");
            if pass.name.is_empty() || pass.name.starts_with('@') {
                return Err(field_error(text, place(), "a pass name is not empty and does not start with `@`"));
            }
            let index = u32::try_from(i).unwrap_or(NONE);
            if passes.insert(pass.name.as_str(), index).is_some() {
                return Err(field_error(text, place(), format!("the pass name `{}` repeats", pass.name)));
            }
        }
        for (i, pass) in root.passes.iter().enumerate() {
            reader.pass(i, pass, &passes)?;
        }
        Ok(Self { graph: reader.graph, source: root.source, notes: root.notes })
    }
}

struct Reader<'a> {
    text: &'a str,
    graph: Graph,
    names: HashMap<&'a str, u32>,
}

impl<'a> Reader<'a> {
    fn fail<T>(&self, field: String, message: impl Into<String>) -> Result<T, FileError> {
        Err(field_error(self.text, field, message))
    }

    fn need<T>(&self, value: Option<T>, i: usize, field: &str) -> Result<T, FileError> {
        match value {
            Some(value) => Ok(value),
            None => self.fail(format!("resources[{i}]"), format!("missing field `{field}`")),
        }
    }

    fn resource(&mut self, i: usize, file: &'a Resource) -> Result<(), FileError> {
        let place = |field: &str| format!("resources[{i}].{field}");
        if file.name.is_empty() {
            return self.fail(place("name"), "a resource name is not empty");
        }
        let index = u32::try_from(i).unwrap_or(NONE);
        if self.names.insert(&file.name, index).is_some() {
            return self.fail(place("name"), format!("the resource name `{}` repeats", file.name));
        }
        let desc = self.desc(i, file)?;
        let lifetime = match file.lifetime {
            LifetimeName::Transient => Lifetime::Transient,
            LifetimeName::Imported => Lifetime::Imported,
            LifetimeName::Persistent => Lifetime::Persistent,
        };
        if file.bytes == Some(0) {
            return self.fail(place("bytes"), "must be at least 1");
        }
        let initial = file.initial.as_ref().map(|state| self.state(place("initial"), state, &desc)).transpose()?;
        let final_state =
            file.final_state.as_ref().map(|state| self.state(place("final"), state, &desc)).transpose()?;
        self.graph.push_resource(
            &file.name,
            ResourceDecl {
                desc,
                lifetime,
                output: file.output,
                bytes: file.bytes,
                alignment: file.alignment,
                initial,
                final_state,
                usages: None,
            },
        );
        Ok(())
    }

    fn desc(&self, i: usize, file: &Resource) -> Result<ResourceDesc, FileError> {
        let place = |field: &str| format!("resources[{i}].{field}");
        match file.kind {
            Kind::Texture => {
                for (is, field) in [(file.size.is_some(), "size"), (file.usage.is_some(), "usage")] {
                    if is {
                        return self.fail(place(field), "a texture has no such field");
                    }
                }
                Ok(ResourceDesc::Texture(TextureDesc {
                    dimension: self.need(file.dimension, i, "dimension")?.into(),
                    format: self.need(file.format, i, "format")?.0,
                    extent: self.need(file.extent, i, "extent")?,
                    mips: self.need(file.mips, i, "mips")?,
                    layers: self.need(file.layers, i, "layers")?,
                    samples: self.need(file.samples, i, "samples")?,
                }))
            }
            Kind::Buffer => {
                for (is, field) in [
                    (file.dimension.is_some(), "dimension"),
                    (file.format.is_some(), "format"),
                    (file.extent.is_some(), "extent"),
                    (file.mips.is_some(), "mips"),
                    (file.layers.is_some(), "layers"),
                    (file.samples.is_some(), "samples"),
                ] {
                    if is {
                        return self.fail(place(field), "a buffer has no such field");
                    }
                }
                let accel_struct = matches!(file.usage, Some(UsageName::AccelerationStructure));
                Ok(ResourceDesc::Buffer(BufferDesc { size: self.need(file.size, i, "size")?, accel_struct }))
            }
        }
    }

    fn state(&self, place: String, file: &StateFile, desc: &ResourceDesc) -> Result<State, FileError> {
        let layout = match (desc.is_texture(), file.layout) {
            (true, Some(layout)) => layout.0,
            (true, None) => return self.fail(place, "missing field `layout`"),
            (false, None) => Layout::Undefined,
            (false, Some(_)) => return self.fail(format!("{place}.layout"), "a buffer has no layout"),
        };
        let mut access = Access::empty();
        let mut default_stages = Stages::empty();
        for Name(kind) in &file.access {
            access |= kind.accesses();
            default_stages |= state_stages(*kind);
        }
        let named = file.stages.0;
        let stages = if named.stages.is_empty() && !named.outside { default_stages } else { named.stages };
        let queue = file.queue.map_or(QueueKind::Graphics, |queue| queue.0);
        Ok(State { stages, access, layout, queue })
    }

    fn pass(&mut self, i: usize, file: &Pass, passes: &HashMap<&str, u32>) -> Result<(), FileError> {
        let mut builder = self.graph.pass(&file.name, file.kind.0);
        builder.queue(file.queue.0);
        if file.side_effect {
            builder.side_effect();
        }
        for (k, name) in file.after.iter().enumerate() {
            if let Some(index) = passes.get(name.as_str()) {
                self.graph.push_after(*index);
            } else {
                self.unknown(&file.name, &format!("passes[{i}].after[{k}]"), "pass", name);
            }
        }
        for (k, access) in file.accesses.iter().enumerate() {
            let access = self.access(&file.name, &format!("passes[{i}].accesses[{k}]"), access)?;
            self.graph.push_access(access);
        }
        Ok(())
    }

    fn access(&mut self, pass: &str, place: &str, file: &AccessFile) -> Result<AccessDecl, FileError> {
        let kind = file.access.0;
        let field = |name: &str| format!("{place}.{name}");
        let resource = self.names.get(file.resource.as_str()).copied().unwrap_or(NONE);
        if resource == NONE {
            self.unknown(pass, &field("resource"), "resource", &file.resource);
        }
        let (load, store) = match (kind.is_attachment(), file.load, file.store) {
            (false, None, None) => (LoadOp::Load, StoreOp::Store),
            (true, Some(load), Some(store)) => self.operations(resource, load, store),
            (false, ..) => return self.fail(place.to_owned(), "only attachments have `load` and `store`"),
            (true, ..) => return self.fail(place.to_owned(), "an attachment states `load` and `store`"),
        };
        if file.aspects.is_some_and(|aspects| aspects.0.is_empty()) {
            return self.fail(field("aspects"), "an access names at least one aspect");
        }
        let textures = file.mips.is_some() || file.layers.is_some() || file.aspects.is_some();
        let range = match file.range {
            Some(_) if textures => {
                return self.fail(field("range"), "mips, layers and aspects are of textures, a range is of buffers");
            }
            // The largest number means "the rest" in the vocabulary, but is only out of bounds in a file.
            Some([offset, size]) => AccessRange::Buffer(BufferRange { offset, size: size.min(u64::MAX - 1) }),
            None if textures => AccessRange::Texture(texture_range(file)),
            None => AccessRange::Whole,
        };
        let stages = file.stages.unwrap_or_default().0;
        if stages.outside && !kind.default_stages(PassKind::Raster).is_empty() {
            return self.fail(field("stages"), "`host` and `present` are stages of host and present accesses only");
        }
        Ok(AccessDecl { resource, kind, stages: stages.stages, range, load, store })
    }

    /// Files name no clear values: zero, and for depth the far plane of reversed depth, which is zero too.
    fn operations(&self, resource: u32, load: LoadName, store: StoreName) -> (LoadOp, StoreOp) {
        let depth = self
            .graph
            .resources
            .get(resource as usize)
            .is_some_and(|decl| decl.desc.aspects().intersects(Aspects::DEPTH_STENCIL));
        let clear = if depth { ClearValue::DepthStencil(0.0, 0) } else { ClearValue::Color([0.0; 4]) };
        let load = match load {
            LoadName::Clear => LoadOp::Clear(clear),
            LoadName::Load => LoadOp::Load,
            LoadName::Discard => LoadOp::Discard,
        };
        let store = match store {
            StoreName::Store => StoreOp::Store,
            StoreName::Discard => StoreOp::Discard,
        };
        (load, store)
    }

    fn unknown(&mut self, pass: &str, field: &str, what: &str, name: &str) {
        let place = field_error(self.text, field.to_owned(), format!("there is no {what} `{name}`"));
        let error = CompileError::new(ErrorCode::InvalidHandle, format!("pass `{pass}`: {place}")).pass(pass);
        self.graph.defer(if what == "resource" { error.resource(name) } else { error });
    }
}

fn texture_range(file: &AccessFile) -> TextureRange {
    let [base_mip, mip_count] =
        file.mips.map_or([0, TextureRange::REST], |[base, count]| [base, count.min(u32::MAX - 1)]);
    let [base_layer, layer_count] =
        file.layers.map_or([0, TextureRange::REST], |[base, count]| [base, count.min(u32::MAX - 1)]);
    let aspects = file.aspects.map_or(Aspects::empty(), |aspects| aspects.0);
    TextureRange { base_mip, mip_count, base_layer, layer_count, aspects }
}

/// Where an access outside the frame may have run when the state does not say.
fn state_stages(kind: AccessKind) -> Stages {
    let each = PassKind::ALL.into_iter().filter(|pass| *pass != PassKind::Transfer);
    each.fold(Stages::empty(), |stages, pass| stages | kind.default_stages(pass))
}
