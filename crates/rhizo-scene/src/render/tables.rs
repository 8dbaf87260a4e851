//! Tables of space 1, kept while what they name stays.

use std::sync::OnceLock;

use rhizo_rhi::{
    Binding, BindingTable, Buffer, BufferRange, Device, ObjectId, Result, Sampler, TableDesc, TableLayout, TableWrite,
    Texture, TextureReadView, ViewDesc,
};

use super::environment::Environment;
use super::frame::FrameData;

/// A table and the textures it was made for.
type Kept<K> = Option<(K, BindingTable)>;

/// The tables of one frame in flight: its constants live in a buffer of its own.
#[derive(Default)]
pub(super) struct SlotTables {
    pub(super) shading: ShadingTable,
    pub(super) shadow: ShadowTable,
    pub(super) post: PostTable,
}

/// The table of passes that shade.
#[derive(Default)]
pub(super) struct ShadingTable(Kept<(ObjectId, ObjectId)>);

/// The table of the shadow pass.
#[derive(Default)]
pub(super) struct ShadowTable(Option<BindingTable>);

/// The table of the post pass.
#[derive(Default)]
pub(super) struct PostTable(Kept<ObjectId>);

/// What every frame table names besides its constants, environment and shadow map.
pub(super) struct Common {
    pub(super) split_sum: TextureReadView,
    pub(super) clamp_sampler: Sampler,
    pub(super) shadow_sampler: Sampler,
}

/// The tables a frame's passes bind, known once its textures exist.
#[derive(Default)]
pub(super) struct FrameTables {
    pub(super) frame: OnceLock<BindingTable>,
    pub(super) post: OnceLock<BindingTable>,
}

impl ShadingTable {
    /// Constants, environment and shadow map.
    pub(super) fn get(
        &mut self,
        device: &Device,
        layout: &TableLayout,
        constants: &Buffer,
        environment: &Environment,
        shadow_map: &TextureReadView,
        common: &Common,
    ) -> Result<BindingTable> {
        let key = (environment.prefiltered.texture_id(), shadow_map.texture_id());
        if let Some((_, table)) = self.0.as_ref().filter(|(made_for, _)| *made_for == key) {
            return Ok(table.clone());
        }
        let constants = constants.constant_view(FRAME_RANGE)?;
        let writes = [
            TableWrite::new(0, Binding::Constant(&constants)),
            TableWrite::new(1, Binding::Texture(&environment.prefiltered)),
            TableWrite::new(2, Binding::Texture(&environment.irradiance)),
            TableWrite::new(3, Binding::Texture(&common.split_sum)),
            TableWrite::new(4, Binding::Sampler(&common.clamp_sampler)),
            TableWrite::new(5, Binding::Texture(shadow_map)),
            TableWrite::new(6, Binding::Sampler(&common.shadow_sampler)),
        ];
        let table = device.create_table(&TableDesc { label: "frame", layout, writes: &writes })?;
        self.0 = Some((key, table.clone()));
        Ok(table)
    }
}

impl ShadowTable {
    /// Constants only.
    pub(super) fn get(&mut self, device: &Device, layout: &TableLayout, constants: &Buffer) -> Result<BindingTable> {
        if let Some(table) = &self.0 {
            return Ok(table.clone());
        }
        let constants = constants.constant_view(FRAME_RANGE)?;
        let writes = [TableWrite::new(0, Binding::Constant(&constants))];
        let table = device.create_table(&TableDesc { label: "shadow frame", layout, writes: &writes })?;
        self.0 = Some(table.clone());
        Ok(table)
    }
}

impl PostTable {
    /// The light to be shown.
    pub(super) fn get(&mut self, device: &Device, layout: &TableLayout, light: &Texture) -> Result<BindingTable> {
        if let Some((_, table)) = self.0.as_ref().filter(|(made_for, _)| *made_for == light.id()) {
            return Ok(table.clone());
        }
        let view = light.read_view(&ViewDesc::default())?;
        let writes = [TableWrite::new(0, Binding::Texture(&view))];
        let table = device.create_table(&TableDesc { label: "post", layout, writes: &writes })?;
        self.0 = Some((light.id(), table.clone()));
        Ok(table)
    }
}

/// The constants of one frame; where they begin is a dynamic offset.
const FRAME_RANGE: BufferRange = BufferRange::new(0, size_of::<FrameData>() as u64);
