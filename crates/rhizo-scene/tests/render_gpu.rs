//! What the renderer draws, against formulas computed here: the features that no reference picture covers. On every test
//! driver, under native validation.

mod quads;

use glam::{Mat4, Vec2, Vec3, Vec4};
use quads::{Quads, SIZE, View, black, brightness, lambert_and_ggx, linear, near, srgb, uniform};
use rhizo_scene::hdr::Equirect;
use rhizo_scene::render::{Background, Lights, PictureOptions, Preset, RenderOptions, SceneRenderer, ToneMapping};
use rhizo_scene::scene::{AlphaMode, LightKind, Material, TextureSlot, UvTransform};
use rhizo_testkit::gpu::each_driver;

fn dielectric(color: Vec3, roughness: f32) -> Material {
    Material { base_color: color.extend(1.0), metallic: 0.0, roughness, ..Material::default() }
}

#[test]
fn unlit_shows_base_colour_times_vertex_colour() {
    each_driver("unlit_shows_base_colour_times_vertex_colour", |gpu| {
        let material = Material { unlit: true, base_color: Vec4::new(0.25, 0.5, 0.75, 1.0), ..Material::default() };
        let mut quads = Quads::new(material);
        quads.colors([1.0, 0.5, 0.2, 1.0]);
        let picture = quads.draw(gpu, &uniform(1.0), &quads::options());
        let expected = [0.25, 0.25, 0.15].map(srgb);
        near(picture.center(), expected, 1, "unlit");
    });
}

#[test]
fn punctual_lights_follow_their_formulas() {
    each_driver("punctual_lights_follow_their_formulas", |gpu| {
        let color = Vec3::new(0.8, 0.4, 0.2);
        let reflectance = lambert_and_ggx(color, 1.0, Vec3::Z, Vec3::Z, Vec3::Z);
        let above = Mat4::from_translation(Vec3::new(0.0, 0.0, 2.0));
        let cone = |outer_cone| LightKind::Spot { range: None, inner_cone: 0.1, outer_cone };
        let cases = [
            ("directional", LightKind::Directional, 2.0, 2.0),
            ("point", LightKind::Point { range: None }, 5.0, 5.0 / 4.0),
            ("point with a range", LightKind::Point { range: Some(4.0) }, 5.0, 5.0 / 4.0 * (1.0 - 1.0 / 16.0)),
            ("spot", cone(0.2), 5.0, 5.0 / 4.0),
        ];
        for (name, kind, intensity, irradiance) in cases {
            let mut quads = Quads::new(dielectric(color, 1.0));
            quads.light(kind, intensity, above);
            let picture = quads.draw(gpu, &black(), &RenderOptions { lights: Lights::Scene, ..quads::options() });
            let expected = (reflectance * irradiance).to_array().map(srgb);
            near(picture.center(), expected, 2, name);
            if let LightKind::Spot { .. } = kind {
                // tan(0.2) * 2 = 0.41 world units is where the cone ends; this texel is at 0.6.
                near(picture.at_world(Vec3::new(0.6, 0.0, 0.0)), [0; 3], 0, "outside the cone");
            }
        }
    });
}

#[test]
fn texture_coordinates_are_transformed_and_chosen() {
    each_driver("texture_coordinates_are_transformed_and_chosen", |gpu| {
        let quarter = std::f32::consts::FRAC_PI_2;
        let transform = |offset, rotation, scale| UvTransform { offset, rotation, scale };
        let cases = [
            (0, UvTransform::IDENTITY),
            (0, transform(Vec2::new(0.5, 0.0), 0.0, Vec2::ONE)),
            (0, transform(Vec2::ZERO, quarter, Vec2::ONE)),
            (0, transform(Vec2::new(0.25, 0.6), 0.3, Vec2::new(2.0, 0.5))),
            (1, transform(Vec2::new(0.0, 0.5), 0.0, Vec2::ONE)),
        ];
        for (uv_set, transform) in cases {
            let mut quads = Quads::new(Material { unlit: true, ..Material::default() });
            let texture = quads.four_colors();
            quads.scene.materials[0].base_color_texture = Some(TextureSlot { texture, uv_set, transform });
            let picture = quads.draw(gpu, &uniform(1.0), &quads::options());
            for point in [Vec2::new(-0.45, 0.55), Vec2::new(0.55, 0.45), Vec2::new(-0.55, -0.45), Vec2::new(0.3, -0.6)]
            {
                let uv = transform.affine().transform_point2(quads::uv_of(point, uv_set));
                let expected = quads::four_colors_at(uv);
                near(picture.at_world(point.extend(0.0)), expected, 1, &format!("{transform:?} at {point}"));
            }
        }
    });
}

#[test]
fn alpha_masks_and_blends() {
    each_driver("alpha_masks_and_blends", |gpu| {
        let material = |mode, color: Vec3, alpha| Material {
            unlit: true,
            alpha_mode: mode,
            base_color: color.extend(alpha),
            ..Material::default()
        };
        let mask = |alpha| material(AlphaMode::Mask { cutoff: 0.5 }, Vec3::X, alpha);
        let background = srgb(quads::BACKGROUND);
        let kept = Quads::new(mask(0.6)).draw(gpu, &black(), &quads::options());
        near(kept.center(), [255, 0, 0], 0, "above the cutoff");
        let dropped = Quads::new(mask(0.4)).draw(gpu, &black(), &quads::options());
        near(dropped.center(), [background; 3], 0, "below the cutoff");
        let opaque = Quads::new(material(AlphaMode::Opaque, Vec3::X, 0.1)).draw(gpu, &black(), &quads::options());
        near(opaque.center(), [255, 0, 0], 0, "alpha of opaque materials is ignored");

        // Red behind green, whichever comes first in the scene.
        let red = material(AlphaMode::Blend, Vec3::X, 0.5);
        let green = material(AlphaMode::Blend, Vec3::Y, 0.25);
        let far = Mat4::from_translation(Vec3::new(0.0, 0.0, -0.5));
        let b = quads::BACKGROUND;
        let (r, g) = (0.75 * (0.5 + 0.5 * b), 0.25 + 0.75 * 0.5 * b);
        let expected = [r, g, 0.75 * 0.5 * b].map(srgb);
        for far_first in [true, false] {
            let mut quads = Quads::empty();
            let mut order = [(red.clone(), far), (green.clone(), Mat4::IDENTITY)];
            if !far_first {
                order.reverse();
            }
            order.into_iter().for_each(|(material, world)| quads.add(material, world));
            let picture = quads.draw(gpu, &black(), &quads::options());
            near(picture.center(), expected, 1, "blended back to front");
            assert_eq!(picture.stats.passes, ["main", "transparent", "post", "readback"]);
        }
    });
}

#[test]
fn mirrored_instances_mirror_their_normal_maps() {
    each_driver("mirrored_instances_mirror_their_normal_maps", |gpu| {
        let toward = Vec3::new(0.6, 0.0, 0.8);
        for (mirror, normal) in [(1.0, Vec3::new(0.6, 0.0, 0.8)), (-1.0, Vec3::new(-0.6, 0.0, 0.8))] {
            let mut quads = Quads::new(dielectric(Vec3::ONE, 1.0));
            let texture = quads.flat_normal(Vec3::new(0.6, 0.0, 0.8));
            let slot = TextureSlot { texture, uv_set: 0, transform: UvTransform::IDENTITY };
            quads.scene.materials[0].normal_texture = Some(slot);
            quads.place_only(0, Mat4::from_scale(Vec3::new(mirror, 1.0, 1.0)));
            let lights = Lights::Directional { direction: toward, irradiance: 2.0 };
            let picture = quads.draw(gpu, &black(), &RenderOptions { lights, ..quads::options() });
            let lit = lambert_and_ggx(Vec3::ONE, 1.0, normal, toward, Vec3::Z) * 2.0;
            near(picture.center(), lit.to_array().map(srgb), 2, &format!("mirrored by {mirror}"));
        }
    });
}

#[test]
fn a_white_dielectric_in_uniform_light_is_white() {
    each_driver("a_white_dielectric_in_uniform_light_is_white", |gpu| {
        for roughness in [0.0, 0.3, 0.6, 1.0] {
            let picture = Quads::new(dielectric(Vec3::ONE, roughness)).draw(gpu, &uniform(0.5), &quads::options());
            // What the specular part reflects the diffuse part does not.
            near(picture.center(), [srgb(0.5); 3], 1, &format!("roughness {roughness}"));
        }
    });
}

#[test]
fn an_occluder_shadows_what_is_behind_it() {
    each_driver("an_occluder_shadows_what_is_behind_it", |gpu| {
        let mut quads = Quads::new(dielectric(Vec3::ONE, 1.0));
        quads.view = View::orbit(50.0, 3.0);
        let occluder = Mat4::from_translation(Vec3::new(0.0, 0.0, 0.5)) * Mat4::from_scale(Vec3::splat(0.3));
        quads.place(0, occluder);
        let lights = Lights::Directional { direction: Vec3::Z, irradiance: 2.0 };
        let options = RenderOptions { lights, shadow_size: 512, ..quads::options() };
        let picture = quads.draw(gpu, &black(), &options);
        near(picture.at_world(Vec3::new(0.1, 0.0, 0.0)), [0; 3], 0, "in the shadow");
        let v = quads.view.toward_eye(Vec3::new(0.7, 0.6, 0.0));
        let lit = lambert_and_ggx(Vec3::ONE, 1.0, Vec3::Z, Vec3::Z, v) * 2.0;
        near(picture.at_world(Vec3::new(0.7, 0.6, 0.0)), lit.to_array().map(srgb), 2, "beside the shadow");
        near(picture.at_world(Vec3::new(-0.7, -0.6, 0.0)), lit.to_array().map(srgb), 4, "no shadow acne");
        let without = quads.draw(gpu, &black(), &RenderOptions { shadow_size: 0, ..options });
        assert!(brightness(without.at_world(Vec3::new(0.1, 0.0, 0.0))) > 300, "without a shadow map it is lit");
    });
}

/// E / pi of the shared environment, exact sums over the file, from the reference pictures' description.
const IRRADIANCE: [(Vec3, [f32; 3]); 7] = [
    (Vec3::X, [1.621, 1.705, 1.612]),
    (Vec3::NEG_X, [0.433, 0.445, 0.548]),
    (Vec3::Y, [0.886, 1.051, 1.211]),
    (Vec3::NEG_Y, [0.577, 0.457, 0.374]),
    (Vec3::Z, [1.306, 1.377, 1.350]),
    (Vec3::NEG_Z, [0.398, 0.402, 0.485]),
    (Vec3::new(0.7288, 0.4248, 0.5371), [2.043, 2.209, 2.137]),
];

#[test]
fn irradiance_matches_the_exact_sums() {
    let test = "irradiance_matches_the_exact_sums";
    let shared = match rhizo_testkit::paths::shared_dir() {
        Ok(shared) => shared,
        Err(reason) => return rhizo_testkit::skips::report_skip(test, &reason),
    };
    let image = rhizo_scene::hdr::load(&shared.join("assets/environment/spiaggia_di_mondello_1k.hdr"));
    let image = image.expect("the shared environment");
    each_driver(test, |gpu| {
        let mut renderer = SceneRenderer::new(&gpu.device).expect("a renderer");
        let environment = renderer.environment(&image).expect("an environment");
        for (normal, expected) in IRRADIANCE {
            // Of a white dielectric of roughness 1 seen along its normal, specular and diffuse add up to E / pi.
            let mut quads = Quads::empty();
            let turn = glam::Quat::from_rotation_arc(Vec3::Z, normal.normalize());
            quads.add(dielectric(Vec3::ONE, 1.0), Mat4::from_quat(turn));
            let yaw = normal.x.atan2(normal.z).to_degrees();
            quads.view = View::orbit_pitched(yaw, normal.normalize().y.asin().to_degrees(), 3.0);
            let exposure = 0.4;
            let options = RenderOptions { exposure, ..quads::options() };
            let pixel = quads.draw_in(&mut renderer, &environment, &options).center();
            for (code, expected) in pixel.into_iter().zip(expected) {
                let found = linear(code) / exposure;
                let error = (found / expected - 1.0).abs();
                assert!(error < 0.015, "towards {normal}: {found} instead of {expected}, {pixel:?}");
            }
        }
    });
}

/// Red towards +X, green towards -X, and blue added above the horizon.
fn marked() -> Equirect {
    let (width, height) = (128, 64);
    let mut image = Equirect { width, height, rgb: Vec::new() };
    for y in 0..height {
        for x in 0..width {
            let d = image.direction(x, y);
            let side = if d.x > 0.0 { [0.9, 0.1] } else { [0.1, 0.9] };
            image.rgb.push([side[0], side[1], if d.y > 0.0 { 0.8 } else { 0.05 }]);
        }
    }
    image
}

#[test]
fn the_environment_is_seen_and_reflected_the_right_way_round() {
    each_driver("the_environment_is_seen_and_reflected_the_right_way_round", |gpu| {
        let sky = RenderOptions { background: Background::Environment, ..quads::options() };
        let picture = Quads::empty().draw(gpu, &marked(), &sky);
        let corner = |right: bool, top: bool| {
            let at = |far: bool| if far { SIZE - 6 } else { 6 };
            picture.pixel(at(right), at(!top))
        };
        let expected = |right: bool, top: bool| {
            let (r, g) = if right { (0.9, 0.1) } else { (0.1, 0.9) };
            [r, g, if top { 0.8 } else { 0.05 }].map(srgb)
        };
        for (right, top) in [(true, true), (true, false), (false, true), (false, false)] {
            near(corner(right, top), expected(right, top), 2, &format!("sky, right {right}, top {top}"));
        }
        // A polished metal mirror turned to face +X and up a little sends the view there.
        let mirror = Material { roughness: 0.0, ..Material::default() };
        let mut quads = Quads::empty();
        quads.add(mirror, Mat4::from_rotation_y(0.6) * Mat4::from_rotation_x(-0.3));
        let picture = quads.draw(gpu, &marked(), &quads::options());
        near(picture.center(), [0.9, 0.1, 0.8].map(srgb), 4, "reflection");
    });
}

#[test]
fn exposure_and_tone_mapping_act_on_linear_light() {
    each_driver("exposure_and_tone_mapping_act_on_linear_light", |gpu| {
        let quads = Quads::new(Material { unlit: true, base_color: Vec4::splat(0.4), ..Material::default() });
        let draw = |exposure, tone_mapping| {
            quads.draw(gpu, &black(), &RenderOptions { exposure, tone_mapping, ..quads::options() }).center()
        };
        near(draw(0.5, ToneMapping::Clamp), [srgb(0.2); 3], 1, "half exposure");
        near(draw(10.0, ToneMapping::Clamp), [255; 3], 0, "clamped");
        // Khronos PBR Neutral: grey 0.4 loses the Fresnel offset of 0.04; 4.0 is compressed below 1.
        near(draw(1.0, ToneMapping::Neutral), [srgb(0.36); 3], 1, "neutral, below the shoulder");
        let peak: f32 = 4.0 - 0.04;
        let compressed = 1.0 - 0.24 * 0.24 / (peak + 0.24 - 0.76);
        near(draw(10.0, ToneMapping::Neutral), [srgb(compressed); 3], 1, "neutral, on the shoulder");
        let x: f32 = 0.4;
        let aces = x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14);
        near(draw(1.0, ToneMapping::Aces), [srgb(aces); 3], 1, "aces");
    });
}

#[test]
fn the_same_picture_comes_out_every_time() {
    each_driver("the_same_picture_comes_out_every_time", |gpu| {
        let mut renderer = SceneRenderer::new(&gpu.device).expect("a renderer");
        let demo = rhizo_scene::procedural::demo();
        let options = PictureOptions { width: 160, height: 90, preset: Preset::Default, ..PictureOptions::default() };
        let first = renderer.picture(&demo, &options).expect("a picture");
        let second = renderer.picture(&demo, &options).expect("a picture");
        assert!(first.rgba8 == second.rgba8, "two pictures of the same scene differ");
        let colors: std::collections::HashSet<&[u8]> = first.rgba8.chunks_exact(4).collect();
        assert!(colors.len() > 1000, "{} colours: an empty picture", colors.len());
        assert!(linear(first.rgba8[2]) > linear(first.rgba8[0]), "the sky at the top is blue");
    });
}
