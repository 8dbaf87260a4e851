//! Joins neighbouring cells with equal values into blocks.

use super::super::cells::{Grid, Rect};

/// Appends the blocks of cells of `rect` for which `value` gives equal results; cells with `None` are left out.
///
/// Runs of layers first, then equal runs of neighbouring mips, then of aspects: each cell is in exactly one block.
pub(super) fn collect<T: Copy + PartialEq>(
    grid: &Grid,
    rect: &Rect,
    blocks: &mut Vec<(Rect, T)>,
    mut value: impl FnMut(usize) -> Option<T>,
) {
    let start = blocks.len();
    for aspect in rect.aspects[0]..rect.aspects[1] {
        let aspect_start = blocks.len();
        for mip in rect.mips[0]..rect.mips[1] {
            let row_start = blocks.len();
            for layer in rect.layers[0]..rect.layers[1] {
                let Some(new) = value(grid.index(aspect, mip, layer)) else { continue };
                match blocks[row_start..].last_mut() {
                    Some((block, old)) if *old == new && block.layers[1] == layer => block.layers[1] += 1,
                    _ => blocks.push((
                        Rect { aspects: [aspect, aspect + 1], mips: [mip, mip + 1], layers: [layer, layer + 1] },
                        new,
                    )),
                }
            }
            join_rows(blocks, aspect_start, row_start, |a, b| {
                (a.layers == b.layers && a.mips[1] == b.mips[0]).then_some(Rect { mips: [a.mips[0], b.mips[1]], ..*a })
            });
        }
        join_rows(blocks, start, aspect_start, |a, b| {
            let same = a.layers == b.layers && a.mips == b.mips && a.aspects[1] == b.aspects[0];
            same.then_some(Rect { aspects: [a.aspects[0], b.aspects[1]], ..*a })
        });
    }
}

/// How far back a partner is looked for: bounds the cost where neighbouring rows have nothing in common.
const WINDOW: usize = 16;

/// Joins the blocks from `row` on with partners in `first..row` where `join` allows.
fn join_rows<T: Copy + PartialEq>(
    blocks: &mut Vec<(Rect, T)>,
    first: usize,
    row: usize,
    join: impl Fn(&Rect, &Rect) -> Option<Rect>,
) {
    let mut kept = row;
    for index in row..blocks.len() {
        let (rect, value) = blocks[index];
        let nearest = first.max(row.saturating_sub(WINDOW));
        let partner = (nearest..row).find_map(|other| {
            let (old, same) = blocks[other];
            (same == value).then(|| join(&old, &rect)).flatten().map(|joined| (other, joined))
        });
        if let Some((other, joined)) = partner {
            blocks[other].0 = joined;
        } else {
            blocks[kept] = (rect, value);
            kept += 1;
        }
    }
    blocks.truncate(kept);
}
