//! Which native queue serves which queue of the contract. Pure.

use crate::adapter::Family;
use ash::vk;
use rhizo_rhi::{QueueKind, QueueRequest};

/// One queue to be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Planned {
    pub(crate) kind: QueueKind,
    /// Among the queues of this kind.
    pub(crate) index: u32,
    pub(crate) family: u32,
    /// Among the queues of the family.
    pub(crate) slot: u32,
    /// Position of the earlier queue that has the same native one.
    pub(crate) shared_with: Option<u32>,
}

/// The queues granted for a request: each on a native queue of its own, first in families that do nothing more general
/// than its kind; the first queue of a kind shares a native queue when none is left, further ones are not granted.
pub(crate) fn plan(families: &[Family], request: QueueRequest) -> Vec<Planned> {
    let mut used = vec![0; families.len()];
    let mut out: Vec<Planned> = Vec::new();
    let wanted = [
        (QueueKind::Graphics, request.graphics),
        (QueueKind::Compute, request.compute),
        (QueueKind::Transfer, request.transfer),
    ];
    for (kind, count) in wanted {
        for index in 0..count {
            if let Some(at) = free_family(families, &used, kind) {
                out.push(Planned { kind, index, family: families[at].index, slot: used[at], shared_with: None });
                used[at] += 1;
            } else if index == 0
                && let Some(shared) = sharable(families, &out, kind)
            {
                out.push(shared);
            } else {
                break;
            }
        }
    }
    out
}

fn serves(family: &Family, kind: QueueKind) -> bool {
    let f = family.flags;
    match kind {
        QueueKind::Graphics => f.contains(vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE),
        QueueKind::Compute => f.contains(vk::QueueFlags::COMPUTE),
        // Graphics and compute families can copy whether they say so or not.
        QueueKind::Transfer => {
            family.fine_copies
                && f.intersects(vk::QueueFlags::TRANSFER | vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE)
        }
    }
}

/// The family with a free queue that serves the kind and does the least else.
fn free_family(families: &[Family], used: &[u32], kind: QueueKind) -> Option<usize> {
    (0..families.len())
        .filter(|&i| used[i] < families[i].count && serves(&families[i], kind))
        .min_by_key(|&i| (families[i].kind() != Some(kind), families[i].flags.as_raw().count_ones(), i))
}

fn sharable(families: &[Family], out: &[Planned], kind: QueueKind) -> Option<Planned> {
    let can = |p: &Planned| families.iter().any(|f| f.index == p.family && serves(f, kind));
    let at = out.iter().rposition(can)?;
    let first = out[at].shared_with.map_or(at as u32, |first| first);
    Some(Planned { kind, index: 0, shared_with: Some(first), ..out[at] })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn family(index: u32, flags: vk::QueueFlags, count: u32) -> Family {
        Family { index, flags, count, timestamp_bits: 64, fine_copies: true }
    }

    const ALL: vk::QueueFlags = vk::QueueFlags::from_raw(
        vk::QueueFlags::GRAPHICS.as_raw() | vk::QueueFlags::COMPUTE.as_raw() | vk::QueueFlags::TRANSFER.as_raw(),
    );

    #[test]
    fn one_native_queue_serves_every_kind_and_says_so() {
        let plan = plan(&[family(0, ALL, 1)], QueueRequest { graphics: 2, compute: 1, transfer: 3 });
        let seen: Vec<_> = plan.iter().map(|p| (p.kind, p.index, p.family, p.slot, p.shared_with)).collect();
        let expected = [
            (QueueKind::Graphics, 0, 0, 0, None),
            (QueueKind::Compute, 0, 0, 0, Some(0)),
            (QueueKind::Transfer, 0, 0, 0, Some(0)),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn specialised_families_come_first() {
        let families = [
            family(0, ALL, 16),
            family(1, vk::QueueFlags::TRANSFER | vk::QueueFlags::VIDEO_DECODE_KHR, 1),
            family(2, vk::QueueFlags::TRANSFER, 2),
            family(3, vk::QueueFlags::COMPUTE | vk::QueueFlags::TRANSFER, 8),
        ];
        let plan = plan(&families, QueueRequest { graphics: 1, compute: 9, transfer: 3 });
        let of = |kind| plan.iter().filter(move |p| p.kind == kind).map(|p| (p.family, p.slot)).collect::<Vec<_>>();
        assert_eq!(of(QueueKind::Graphics), [(0, 0)]);
        let mut compute: Vec<_> = (0..8).map(|slot| (3, slot)).collect();
        compute.push((0, 1));
        assert_eq!(of(QueueKind::Compute), compute);
        assert_eq!(of(QueueKind::Transfer), [(2, 0), (2, 1), (1, 0)]);
        assert!(plan.iter().all(|p| p.shared_with.is_none()));
    }
}
