//! Checks a graph against its own rules and the profile; nothing here looks at other passes.

use std::collections::HashMap;

use rhizo_rhi::{Layout, QueueKind, Scope, Stages};

use super::cells::{Part, Use, Work, flag, full, too_large};
use crate::declare::{
    AccessDecl, AccessKind, AccessRange, Graph, Lifetime, LoadOp, NONE, PassKind, ResourceDecl, ResourceDesc, StoreOp,
    Target, TextureDesc, TextureDimension, preferred_layout,
};
use crate::error::{CompileError, ErrorCode};
use crate::plan::known;
use crate::profile::Profile;

/// Refuses graphs beyond the bounds, and what declaring already found wrong.
pub(super) fn limits(graph: &Graph) -> Result<(), CompileError> {
    use super::limits as most;
    let sizes = [
        ("passes", graph.passes.len(), most::PASSES),
        ("resources", graph.resources.len(), most::RESOURCES),
        ("accesses", graph.accesses.len(), most::ACCESSES),
        ("`after` entries", graph.after.len(), most::ACCESSES),
    ];
    for (what, count, limit) in sizes {
        if count > limit {
            return Err(too_large(&format!("{count} {what} (limit {limit})")));
        }
    }
    match &graph.deferred {
        Some(error) => Err((**error).clone()),
        None => Ok(()),
    }
}

/// Checks resources and accesses; gives every access its scope, layout and flags, and the ranges that are partial.
pub(super) fn uses(graph: &Graph, profile: &Profile) -> Result<(Vec<Use>, Vec<Part>), CompileError> {
    for (i, decl) in graph.resources.iter().enumerate() {
        resource(decl).map_err(|(code, what)| {
            let label = graph.resource_label(i);
            CompileError::new(code, format!("resource `{label}`: {what}")).resource(label)
        })?;
    }
    let mut uses = Vec::with_capacity(graph.accesses.len());
    let mut parts = Vec::new();
    for pass in 0..graph.passes.len() {
        queue(graph, pass)?;
        for access in graph.accesses(pass) {
            let part = usage(graph, profile, pass, access, &mut uses)?;
            parts.extend(part);
        }
        if graph.passes[pass].kind == PassKind::Raster {
            attachments(graph, pass)?;
        }
    }
    Ok((uses, parts))
}

/// The preferred queue must be able to run the pass at all.
fn queue(graph: &Graph, pass: usize) -> Result<(), CompileError> {
    let decl = &graph.passes[pass];
    let able = match decl.queue {
        QueueKind::Graphics => true,
        QueueKind::Compute => decl.kind != PassKind::Raster,
        QueueKind::Transfer => decl.kind == PassKind::Transfer,
    };
    if able {
        return Ok(());
    }
    let label = graph.pass_label(pass);
    let message = format!("pass `{label}`: a {} queue runs no {} pass", decl.queue.name(), decl.kind.name());
    Err(CompileError::new(ErrorCode::InvalidDescriptor, message).pass(label))
}

type Fault = (ErrorCode, String);

fn descriptor(text: impl Into<String>) -> Fault {
    (ErrorCode::InvalidDescriptor, text.into())
}

fn resource(decl: &ResourceDecl) -> Result<(), Fault> {
    match &decl.desc {
        ResourceDesc::Texture(desc) => texture(desc)?,
        ResourceDesc::Buffer(desc) if desc.size == 0 => return Err(descriptor("an empty buffer")),
        ResourceDesc::Buffer(_) => {}
    }
    let Some(tight) = decl.desc.tight_bytes() else {
        return Err(descriptor("its size in bytes does not fit 64 bits"));
    };
    if decl.bytes.is_some_and(|bytes| bytes < tight) {
        return Err(descriptor(format!("`bytes` is below the {tight} bytes of its contents")));
    }
    if decl.alignment.is_some_and(|alignment| !alignment.is_power_of_two() || alignment > 1 << 30) {
        return Err(descriptor("`alignment` is not a power of two up to 2^30"));
    }
    let state = |text: &str| Err((ErrorCode::InvalidState, text.to_owned()));
    if decl.lifetime == Lifetime::Transient && (decl.initial.is_some() || decl.final_state.is_some()) {
        return state("a transient has no state outside the frame");
    }
    if decl.lifetime == Lifetime::Imported && decl.initial.is_none() {
        return state("an imported resource needs its initial state");
    }
    if decl.desc.is_texture() && decl.final_state.is_some_and(|last| last.layout == Layout::Undefined) {
        return state("a final layout cannot be undefined");
    }
    Ok(())
}

fn texture(desc: &TextureDesc) -> Result<(), Fault> {
    let [width, height, depth] = desc.extent;
    if desc.extent.contains(&0) || desc.layers == 0 || desc.mips == 0 {
        return Err(descriptor("extent, layers and mips must be at least 1"));
    }
    let largest = width.max(height).max(depth);
    let most = 32 - largest.leading_zeros();
    if desc.mips > most {
        return Err(descriptor(format!("{} mips, but {width}x{height}x{depth} has at most {most}", desc.mips)));
    }
    if !matches!(desc.samples, 1 | 2 | 4 | 8 | 16) {
        return Err(descriptor(format!("{} samples: expected 1, 2, 4, 8 or 16", desc.samples)));
    }
    let multisampled = desc.samples > 1;
    if multisampled && (desc.mips > 1 || desc.dimension != TextureDimension::D2 || desc.format.is_compressed()) {
        return Err(descriptor("a multisampled texture is 2D, uncompressed and has one mip"));
    }
    let flat = |what: &str| descriptor(format!("{what} has a depth of 1"));
    match desc.dimension {
        TextureDimension::D1 if height > 1 || depth > 1 => Err(descriptor("a 1D texture has a height and depth of 1")),
        TextureDimension::D2 if depth > 1 => Err(flat("a 2D texture")),
        TextureDimension::Cube if depth > 1 => Err(flat("a cube")),
        TextureDimension::Cube if width != height => Err(descriptor("the faces of a cube are square")),
        TextureDimension::Cube if !desc.layers.is_multiple_of(6) => Err(descriptor("a cube has six layers each")),
        TextureDimension::D3 if desc.layers > 1 => Err(descriptor("a 3D texture has no layers")),
        _ => Ok(()),
    }
}

/// Checks one access and appends what later phases need of it.
fn usage(
    graph: &Graph,
    profile: &Profile,
    pass: usize,
    access: &AccessDecl,
    uses: &mut Vec<Use>,
) -> Result<Option<Part>, CompileError> {
    let kind = graph.passes[pass].kind;
    if access.resource == NONE {
        // Declaring has recorded the error that `limits` returns; this is for graphs built in another way.
        let label = graph.pass_label(pass);
        let message = format!("pass `{label}` names a resource that does not exist");
        return Err(CompileError::new(ErrorCode::InvalidHandle, message).pass(label));
    }
    let decl = &graph.resources[access.resource_index()];
    let fail = |(code, what): Fault| {
        let (label, resource) = (graph.pass_label(pass), graph.resource_label(access.resource_index()));
        let message = format!("pass `{label}`, {} of `{resource}`: {what}", access.kind.name());
        CompileError::new(code, message).pass(label).resource(resource)
    };
    applies(kind, access, &decl.desc).map_err(fail)?;
    let part = part(access, &decl.desc, uses.len()).map_err(fail)?;
    uses.push(resolve(kind, profile, access, &decl.desc));
    Ok(part)
}

/// Whether the kind of access fits the kind of pass and resource.
fn applies(pass: PassKind, access: &AccessDecl, desc: &ResourceDesc) -> Result<(), Fault> {
    let info = access.kind.info();
    if info.passes & (1 << pass as u8) == 0 {
        return Err(descriptor(format!("not possible in a {} pass", pass.name())));
    }
    let depth = desc.aspects().intersects(rhizo_rhi::Aspects::DEPTH_STENCIL);
    let fits = match info.target {
        Target::Any => true,
        Target::Buffer => !desc.is_texture(),
        Target::Texture => desc.is_texture(),
        Target::ColorTexture => desc.is_texture() && !depth,
        Target::DepthTexture => desc.is_texture() && depth,
    };
    if !fits {
        let is = if desc.is_texture() { "a texture of this format" } else { "a buffer" };
        return Err(descriptor(format!("not possible for {is}")));
    }
    if access.kind == AccessKind::DepthStencilRead && !matches!(access.load, LoadOp::Load) {
        return Err(descriptor("an attachment that is only read must load"));
    }
    let ResourceDesc::Texture(texture) = desc else { return Ok(()) };
    match access.kind {
        AccessKind::ResolveRead if texture.samples == 1 => Err(descriptor("the source of a resolve is multisampled")),
        AccessKind::ResolveWrite if texture.samples > 1 => {
            Err(descriptor("the destination of a resolve has one sample"))
        }
        AccessKind::StorageWrite | AccessKind::StorageReadWrite if depth || texture.format.is_compressed() => {
            Err(descriptor("depth and compressed formats cannot be written as storage"))
        }
        kind if kind.is_attachment() && texture.format.is_compressed() => {
            Err(descriptor("a compressed format cannot be an attachment"))
        }
        _ => Ok(()),
    }
}

/// The range, when it is not all of the resource.
fn part(access: &AccessDecl, desc: &ResourceDesc, position: usize) -> Result<Option<Part>, Fault> {
    let (mips, layers) = full(desc);
    let mut part = Part {
        access: u32::try_from(position).unwrap_or(NONE),
        mips: [0, mips],
        layers: [0, layers],
        aspects: desc.aspects(),
    };
    match (access.range, desc) {
        (AccessRange::Whole, _) => {}
        (AccessRange::Texture(range), ResourceDesc::Texture(texture)) => {
            let range = range
                .resolve(texture.mips, texture.layers, desc.aspects())
                .ok_or_else(|| descriptor("mips, layers or aspects out of bounds"))?;
            part.mips = [range.base_mip, range.base_mip + range.mip_count].map(u64::from);
            part.layers = [range.base_layer, range.base_layer + range.layer_count].map(u64::from);
            part.aspects = range.aspects;
        }
        (AccessRange::Buffer(range), ResourceDesc::Buffer(buffer)) => {
            let range = range.resolve(buffer.size).ok_or_else(|| {
                descriptor(format!(
                    "bytes [{}, +{}] of a buffer of {} bytes are out of bounds",
                    range.offset, range.size, buffer.size
                ))
            })?;
            part.layers = [range.offset, range.offset + range.size];
        }
        (AccessRange::Texture(_), ResourceDesc::Buffer(_)) => return Err(descriptor("a texture range of a buffer")),
        (AccessRange::Buffer(_), ResourceDesc::Texture(_)) => return Err(descriptor("a byte range of a texture")),
    }
    let whole = part.mips == [0, mips] && part.layers == [0, layers] && part.aspects == desc.aspects();
    Ok((!whole).then_some(part))
}

/// Scope, layout and flags of a checked access.
fn resolve(pass: PassKind, profile: &Profile, access: &AccessDecl, desc: &ResourceDesc) -> Use {
    let info = access.kind.info();
    let outside = access.kind.default_stages(pass).is_empty();
    let stages = match (outside, access.stages.is_empty()) {
        (true, _) => Stages::empty(),
        (false, true) => access.kind.default_stages(pass),
        (false, false) => known(access.stages),
    };
    let loads = matches!(access.load, LoadOp::Load);
    let reads = if info.attachment && !loads { Default::default() } else { info.reads };
    let mut flags = 0;
    for (is, bit) in [
        (access.reads(), flag::READS),
        (access.kind.writes(), flag::WRITES),
        (info.attachment && access.store == StoreOp::Discard, flag::DISCARDS),
        (info.attachment, flag::ATTACHMENT),
    ] {
        flags |= if is { bit } else { 0 };
    }
    let legal = if desc.is_texture() { info.layouts } else { 0 };
    let unified = profile.unified_layouts && legal & (1 << Layout::Present as u16) == 0;
    let legal = if desc.is_texture() && unified { 1 << Layout::General as u16 } else { legal };
    // Outside the queue only the layout matters: nothing is outstanding before or after.
    let scope = if outside { Scope::NONE } else { Scope::new(stages, reads | info.writes) };
    Use {
        resource: access.resource,
        flags,
        layout: preferred_layout(legal),
        legal,
        scope,
        rect: super::cells::Rect::default(),
    }
}

/// The attachments of a raster pass must agree in samples, size and layers.
fn attachments(graph: &Graph, pass: usize) -> Result<(), CompileError> {
    let mut first: Option<(&AccessDecl, [u32; 4])> = None;
    let (mut colors, mut depth) = (0, NONE);
    for access in graph.accesses(pass).iter().filter(|access| access.kind.is_attachment()) {
        let ResourceDesc::Texture(desc) = &graph.resources[access.resource_index()].desc else { continue };
        let shape = shape(access, desc);
        let fail = |code, what: &str, other: &AccessDecl| {
            let label = graph.pass_label(pass);
            let (a, b) = (graph.resource_label(other.resource_index()), graph.resource_label(access.resource_index()));
            let message = format!("pass `{label}`: {what} (`{a}`, `{b}`)");
            CompileError::new(code, message).pass(label).resource(a).resource(b)
        };
        match first {
            None => first = Some((access, shape)),
            Some((other, agreed)) if agreed != shape => {
                let what = match () {
                    () if agreed[3] != shape[3] => "attachments with different sample counts",
                    () if agreed[2] != shape[2] => "attachments with different layer counts",
                    () => "attachments of different size",
                };
                return Err(fail(ErrorCode::AttachmentMismatch, what, other));
            }
            Some(_) => {}
        }
        if !desc.format.is_depth_stencil() {
            colors += 1;
            if colors > super::limits::COLOR_ATTACHMENTS {
                return Err(fail(ErrorCode::Unsupported, "more than 8 colour attachments", access));
            }
        } else if depth == NONE {
            depth = access.resource;
        } else if depth != access.resource {
            return Err(fail(ErrorCode::AttachmentMismatch, "two depth-stencil attachments", access));
        }
    }
    Ok(())
}

/// Width, height, layers and samples of an attachment.
fn shape(access: &AccessDecl, desc: &TextureDesc) -> [u32; 4] {
    let (mip, layers) = match access.range {
        AccessRange::Texture(range) => {
            let range = range.resolve(desc.mips, desc.layers, desc.format.aspects()).unwrap_or(range);
            (range.base_mip, range.layer_count)
        }
        _ => (0, desc.layers),
    };
    let side = |size: u32| (size >> mip.min(31)).max(1);
    let depth = if desc.dimension == TextureDimension::D3 { side(desc.extent[2]) } else { layers };
    [side(desc.extent[0]), side(desc.extent[1]), depth, desc.samples]
}

/// Accesses of one pass may overlap only if all read and one layout serves them.
pub(super) fn overlaps(graph: &Graph, work: &mut Work) -> Result<(), CompileError> {
    // Per resource the pass that named it last; only passes that repeat a resource look at cells.
    let mut seen = vec![NONE; graph.resources.len()];
    let mut stamps: Vec<(u32, u32)> = Vec::new();
    for (pass, decl) in graph.passes.iter().enumerate() {
        let number = u32::try_from(pass).unwrap_or(NONE);
        let range = decl.first_access as usize..(decl.first_access + decl.access_count) as usize;
        let mut repeats = false;
        for item in &work.uses[range.clone()] {
            repeats |= std::mem::replace(&mut seen[item.resource as usize], number) == number;
        }
        if repeats {
            stamps.resize(work.cell_count, (NONE, 0));
            mark_shared(graph, work, number, range.clone(), &mut stamps)?;
            share_layouts(graph, work, number, range)?;
        }
    }
    Ok(())
}

/// Finds accesses of a pass with common cells; an error if one of them writes.
fn mark_shared(
    graph: &Graph,
    work: &mut Work,
    pass: u32,
    range: std::ops::Range<usize>,
    stamps: &mut [(u32, u32)],
) -> Result<(), CompileError> {
    let mut others: Vec<u32> = Vec::new();
    for position in range {
        let item = work.uses[position];
        let number = u32::try_from(position).unwrap_or(NONE);
        others.clear();
        work.each_cell(item.resource, &item.rect, |cell| {
            let (last, access) = std::mem::replace(&mut stamps[cell], (pass, number));
            if last == pass && others.last() != Some(&access) {
                others.push(access);
            }
        });
        for other in &others {
            let earlier = &mut work.uses[*other as usize];
            earlier.flags |= flag::SHARED;
            let writes = (item.flags | earlier.flags) & flag::WRITES != 0;
            work.uses[position].flags |= flag::SHARED;
            if writes {
                return Err(overlap(graph, pass, position, *other as usize, "and one of them writes"));
            }
        }
    }
    Ok(())
}

/// Gives the overlapping reads of a resource in one pass the layout that serves them all.
fn share_layouts(graph: &Graph, work: &mut Work, pass: u32, range: std::ops::Range<usize>) -> Result<(), CompileError> {
    let shared = |item: &Use| item.has(flag::SHARED) && item.legal != 0;
    let mut legal: HashMap<u32, (u16, usize)> = HashMap::new();
    for position in range.clone().filter(|position| shared(&work.uses[*position])) {
        let item = &work.uses[position];
        let entry = legal.entry(item.resource).or_insert((u16::MAX, position));
        entry.0 &= item.legal;
        if entry.0 == 0 {
            return Err(overlap(graph, pass, position, entry.1, "and no layout serves both"));
        }
    }
    for item in work.uses[range].iter_mut().filter(|item| shared(item)) {
        if let Some((mask, _)) = legal.get(&item.resource) {
            item.legal = *mask;
            item.layout = preferred_layout(*mask);
        }
    }
    Ok(())
}

fn overlap(graph: &Graph, pass: u32, a: usize, b: usize, why: &str) -> CompileError {
    let (label, access) = (graph.pass_label(pass as usize), &graph.accesses[a]);
    let resource = graph.resource_label(access.resource_index());
    let (one, two) = (graph.accesses[b].kind.name(), access.kind.name());
    let message = format!("pass `{label}`: {one} and {two} of `{resource}` overlap {why}");
    CompileError::new(ErrorCode::DuplicateAccess, message).pass(label).resource(resource)
}

/// Live accesses to imported objects must be among the usages these were created for.
pub(super) fn live_usages(graph: &Graph, live: &[bool]) -> Result<(), CompileError> {
    if graph.resources.iter().all(|decl| decl.usages.is_none()) {
        return Ok(());
    }
    for pass in (0..graph.passes.len()).filter(|pass| live[*pass]) {
        for access in graph.accesses(pass) {
            let usages = graph.resources[access.resource_index()].usages;
            if usages.is_some_and(|usages| !usages.contains(access.kind)) {
                let (label, resource) = (graph.pass_label(pass), graph.resource_label(access.resource_index()));
                let message = format!("pass `{label}`: `{resource}` was not created for {}", access.kind.name());
                return Err(CompileError::new(ErrorCode::InvalidDescriptor, message).pass(label).resource(resource));
            }
        }
    }
    Ok(())
}
