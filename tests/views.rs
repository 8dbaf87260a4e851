//! Each view type in each slot: only the right one compiles.

use crate::compile_fail_driver::{Library, expected};
use std::fmt::Write;

const VIEWS: [&str; 9] = [
    "ConstantBufferView",
    "BufferReadView",
    "BufferWriteView",
    "VertexBufferView",
    "IndexBufferView",
    "TextureReadView",
    "TextureWriteView",
    "ColorTargetView",
    "DepthStencilTargetView",
];

/// A slot as code over `view`, with the one view type that fits.
const SLOTS: [(&str, &str); 10] = [
    ("let _ = Binding::Constant(view);", "ConstantBufferView"),
    ("let _ = Binding::BufferRead(view);", "BufferReadView"),
    ("let _ = Binding::BufferWrite(view);", "BufferWriteView"),
    ("let _ = Binding::Texture(view);", "TextureReadView"),
    ("let _ = Binding::StorageTexture(view);", "TextureWriteView"),
    ("bound.set_vertex_buffer(0, view);", "VertexBufferView"),
    ("bound.set_index_buffer(view);", "IndexBufferView"),
    ("color.view = view;", "ColorTargetView"),
    ("color.resolve = Some(view);", "ColorTargetView"),
    ("depth.view = view;", "DepthStencilTargetView"),
];

/// One function per pair for which `wanted` holds; each line marked that must be refused.
fn program(wanted: impl Fn(&str, &str) -> bool, expect: &str, mark: &str) -> (String, usize) {
    let mut source = format!("// expect: {expect}\nuse rhizo_rhi::*;\n");
    let mut count = 0;
    for (slot, (code, fits)) in SLOTS.iter().enumerate() {
        for view in VIEWS.iter().filter(|view| wanted(view, fits)) {
            count += 1;
            let arguments = "bound: &mut BoundRaster<'_>, color: &mut ColorAttachment<'a>";
            let depth = "depth: &mut DepthStencilAttachment<'a>";
            writeln!(source, "pub fn slot_{slot}_{count}<'a>(view: &'a {view}, {arguments}, {depth}) {{").unwrap();
            writeln!(source, "    let _ = (&bound, &color, &depth);").unwrap();
            writeln!(source, "    {code}{mark}\n}}").unwrap();
        }
    }
    (source, count)
}

fn compile(name: &str, source: &str) {
    let folder = std::env::temp_dir().join(format!("rhizo-views-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join(format!("{name}.rs"));
    std::fs::write(&file, source).unwrap();
    let outcome = Library::build().compile(&file);
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(outcome, expected(source), "\n{source}");
}

#[test]
fn each_view_type_fits_its_slots() {
    let (source, count) = program(|view, fits| view == fits, "nothing", "");
    assert_eq!(count, 10);
    compile("fitting", &source);
}

#[test]
fn each_view_type_is_refused_in_each_wrong_slot() {
    let (source, count) = program(|view, fits| view != fits, "E0308", " //~");
    assert_eq!(count, 80);
    compile("wrong", &source);
}
