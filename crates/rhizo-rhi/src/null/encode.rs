//! Clear values as texels.

use crate::format::{Format, FormatClass};
use crate::vocab::Aspects;
use smallvec::SmallVec;

/// The bytes of one texel.
pub(super) type Texel = SmallVec<[u8; 16]>;

/// A colour in an uncompressed colour format: clamped and rounded as attachments are cleared.
pub(super) fn color(format: Format, value: [f32; 4]) -> Texel {
    match format {
        Format::Rgb10a2Unorm => {
            let n = |v: f32, max: f32| (v.clamp(0.0, 1.0) * max).round() as u32;
            let [r, g, b, a] = value;
            words(n(r, 1023.0) | n(g, 1023.0) << 10 | n(b, 1023.0) << 20 | n(a, 3.0) << 30)
        }
        Format::Rgb10a2Uint => {
            let [r, g, b, a] = value.map(|v| v as u32);
            words(r.min(1023) | g.min(1023) << 10 | b.min(1023) << 20 | a.min(3) << 30)
        }
        Format::Rg11b10Float => {
            // Unsigned floats with the half's exponent: sign dropped, mantissa cut to 6, 6 and 5 bits.
            let [r, g, b] = [value[0], value[1], value[2]].map(|v| u32::from(half(v.max(0.0))));
            words(r >> 4 | (g >> 4) << 11 | (b >> 5) << 22)
        }
        Format::Rgb9e5Float => words(shared_exponent([value[0], value[1], value[2]])),
        _ => components(format, value),
    }
}

fn components(format: Format, value: [f32; 4]) -> Texel {
    let info = format.info();
    let size = usize::from(info.block_bytes / info.components.max(1));
    let swapped = matches!(format, Format::Bgra8Unorm | Format::Bgra8UnormSrgb);
    let order = if swapped { [2, 1, 0, 3] } else { [0, 1, 2, 3] };
    let mut out = Texel::new();
    for component in order.into_iter().take(usize::from(info.components)) {
        let v = value[component];
        let v = if info.srgb && component < 3 { srgb(v) } else { v };
        out.extend_from_slice(&scalar(info.class, size, v).to_le_bytes()[..size]);
    }
    out
}

/// One component of `size` bytes in the low bits.
fn scalar(class: FormatClass, size: usize, v: f32) -> u32 {
    let bits = size as u32 * 8;
    let most = (u64::MAX >> (64 - bits)) as f64;
    let signed = ((1_u64 << (bits - 1)) - 1) as f64;
    let v64 = f64::from(v);
    match (class, size) {
        (FormatClass::Unorm, _) => (v64.clamp(0.0, 1.0) * most).round() as u32,
        (FormatClass::Snorm, _) => (v64.clamp(-1.0, 1.0) * signed).round() as i32 as u32,
        (FormatClass::Float | FormatClass::Depth, 2) => u32::from(half(v)),
        (FormatClass::Float | FormatClass::Depth, _) => v.to_bits(),
        (FormatClass::Uint, _) => v64.clamp(0.0, most) as u32,
        (FormatClass::Sint, _) => v64.clamp(-signed - 1.0, signed) as i32 as u32,
    }
}

/// Depth or stencil as it lies in a buffer copy of that aspect.
pub(super) fn depth_stencil(format: Format, aspect: Aspects, value: f32) -> Texel {
    if aspect == Aspects::STENCIL {
        return Texel::from_slice(&[value as u8]);
    }
    let v = f64::from(value.clamp(0.0, 1.0));
    match format {
        Format::Depth16 => Texel::from_slice(&((v * 65_535.0).round() as u16).to_le_bytes()),
        Format::Depth24Stencil8 => words((v * 16_777_215.0).round() as u32),
        _ => words(value.to_bits()),
    }
}

fn words(word: u32) -> Texel {
    Texel::from_slice(&word.to_le_bytes())
}

/// Linear to sRGB, IEC 61966-2-1.
fn srgb(v: f32) -> f32 {
    let v = v.clamp(0.0, 1.0);
    if v <= 0.003_130_8 { 12.92 * v } else { 1.055 * v.powf(1.0 / 2.4) - 0.055 }
}

/// To half precision, rounding to nearest even; too large becomes infinity.
fn half(v: f32) -> u16 {
    let bits = v.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    let magnitude = bits & 0x7fff_ffff;
    if magnitude > 0x7f80_0000 {
        return sign | 0x7e00;
    }
    if magnitude >= 0x4780_0000 {
        return sign | 0x7c00;
    }
    if magnitude < 0x3880_0000 {
        // Subnormal: units of 2^-24.
        return sign | (f32::from_bits(magnitude) * 16_777_216.0).round_ties_even() as u16;
    }
    let rebased = magnitude - 0x3800_0000;
    let odd = rebased >> 13 & 1;
    sign | ((rebased + 0xfff + odd) >> 13) as u16
}

/// RGB9E5 as in EXT_texture_shared_exponent.
fn shared_exponent(rgb: [f32; 3]) -> u32 {
    let largest = 511.0 / 512.0 * 65_536.0;
    let rgb = rgb.map(|v| if v > 0.0 { v.min(largest) } else { 0.0 });
    let max = rgb.into_iter().fold(0.0_f32, f32::max);
    let mut exponent = (max.log2().floor().max(-16.0) as i32) + 16;
    let scale = |exponent: i32| 2.0_f32.powi(exponent - 24);
    if (max / scale(exponent)).round() >= 512.0 {
        exponent += 1;
    }
    let [r, g, b] = rgb.map(|v| (v / scale(exponent)).round() as u32);
    r | g << 9 | b << 18 | (exponent as u32) << 27
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_round_to_nearest_even() {
        for (value, bits) in [(0.0, 0), (1.0, 0x3c00), (-2.0, 0xc000), (65_504.0, 0x7bff), (65_520.0, 0x7c00)] {
            assert_eq!(half(value), bits, "{value}");
        }
        assert_eq!(half(2.0_f32.powi(-24)), 1);
        assert_eq!(half(1.0 + 1.0 / 2048.0), 0x3c00, "a tie goes to the even mantissa");
        assert_eq!(half(1.0 + 3.0 / 2048.0), 0x3c02);
    }

    #[test]
    fn colours_become_texels() {
        assert_eq!(color(Format::Rgba8Unorm, [1.0, 0.5, 0.0, 2.0]).as_slice(), [255, 128, 0, 255]);
        assert_eq!(color(Format::Bgra8Unorm, [1.0, 0.5, 0.0, 1.0]).as_slice(), [0, 128, 255, 255]);
        assert_eq!(color(Format::Rgba8UnormSrgb, [0.5, 0.0, 0.0, 0.5]).as_slice(), [188, 0, 0, 128]);
        assert_eq!(color(Format::Rg8Snorm, [-1.0, 1.0, 0.0, 0.0]).as_slice(), [0x81, 0x7f]);
        assert_eq!(color(Format::R16Float, [1.0, 0.0, 0.0, 0.0]).as_slice(), [0, 0x3c]);
        assert_eq!(color(Format::R32Uint, [7.0, 0.0, 0.0, 0.0]).as_slice(), [7, 0, 0, 0]);
        assert_eq!(color(Format::Rgb10a2Unorm, [1.0, 0.0, 0.0, 1.0]).as_slice(), (0x3ff_u32 | 3 << 30).to_le_bytes());
        assert_eq!(color(Format::Rg11b10Float, [1.0, 0.0, 0.0, 0.0]).as_slice(), 0x3c0_u32.to_le_bytes());
        let one = shared_exponent([1.0, 0.0, 0.0]);
        assert_eq!((one & 511) as f32 * 2.0_f32.powi((one >> 27) as i32 - 24), 1.0);
    }
}
