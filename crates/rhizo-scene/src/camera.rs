//! Where a picture is taken from: the file's own cameras, or an orbit around what the scene shows.
//!
//! View space: right-handed, +X right, +Y up, looking along -Z. Clip space: NDC x right, y up, z from 1 at the near
//! plane to 0 at the far plane (reversed depth: clear to 0, compare greater).

use std::str::FromStr;

use glam::{Mat3, Mat4, Vec3, Vec4};

use crate::scene::{Aabb, Projection, Scene};

/// Orbit distance of the reference pictures, in radii of the box.
pub const DEFAULT_DISTANCE_RADII: f32 = 2.6;
/// Yaw of the reference pictures, degrees from +Z towards +X.
pub const DEFAULT_YAW_DEGREES: f32 = 30.0;
/// Pitch of the reference pictures, degrees upwards.
pub const DEFAULT_PITCH_DEGREES: f32 = 20.0;
/// Vertical field of view of the reference pictures, degrees.
pub const DEFAULT_YFOV_DEGREES: f32 = 45.0;
/// Near plane of an orbit, as a share of its distance.
const NEAR_SHARE: f32 = 0.01;

/// A placed camera.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    /// View space to world space: a rotation and a translation.
    pub world_from_view: Mat4,
    /// The projection.
    pub projection: Projection,
}

impl View {
    /// Where the camera stands, world space.
    #[must_use]
    pub fn eye(&self) -> Vec3 {
        self.world_from_view.w_axis.truncate()
    }

    /// World space to view space.
    #[must_use]
    pub fn view_from_world(&self) -> Mat4 {
        // The inverse of a rotation is its transpose.
        let rotation = Mat3::from_mat4(self.world_from_view).transpose();
        Mat4::from_mat3(rotation) * Mat4::from_translation(-self.eye())
    }

    /// View space to clip space for a picture of `aspect` = width / height.
    #[must_use]
    pub fn clip_from_view(&self, aspect: f32) -> Mat4 {
        projection_matrix(&self.projection, aspect)
    }

    /// World space to clip space for a picture of `aspect` = width / height.
    #[must_use]
    pub fn clip_from_world(&self, aspect: f32) -> Mat4 {
        self.clip_from_view(aspect) * self.view_from_world()
    }
}

/// View space to clip space with reversed depth. The vertical extent is the camera's, the horizontal one follows from
/// the picture's `aspect` = width / height.
#[must_use]
pub fn projection_matrix(projection: &Projection, aspect: f32) -> Mat4 {
    match *projection {
        Projection::Perspective { yfov, znear, zfar, .. } => {
            let f = (yfov * 0.5).tan().recip();
            // depth = (zz * z + zw) / -z is 1 at z = -near and 0 at z = -far; its limit for far -> infinity is
            // near / -z.
            let (zz, zw) = match zfar {
                Some(zfar) => (znear / (zfar - znear), znear * zfar / (zfar - znear)),
                None => (0.0, znear),
            };
            Mat4::from_cols(
                Vec4::new(f / aspect, 0.0, 0.0, 0.0),
                Vec4::new(0.0, f, 0.0, 0.0),
                Vec4::new(0.0, 0.0, zz, -1.0),
                Vec4::new(0.0, 0.0, zw, 0.0),
            )
        }
        Projection::Orthographic { xmag, ymag, znear, zfar } => {
            // A negative magnitude mirrors.
            let x = (ymag.abs() * aspect).copysign(xmag).recip();
            let depth = (zfar - znear).recip();
            Mat4::from_cols(
                Vec4::new(x, 0.0, 0.0, 0.0),
                Vec4::new(0.0, ymag.recip(), 0.0, 0.0),
                Vec4::new(0.0, 0.0, depth, 0.0),
                Vec4::new(0.0, 0.0, zfar * depth, 1.0),
            )
        }
    }
}

/// A camera on a sphere around a point, looking at it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Orbit {
    /// What it looks at, world space.
    pub target: Vec3,
    /// From +Z towards +X.
    pub yaw_degrees: f32,
    /// Upwards; straight up and down are fine.
    pub pitch_degrees: f32,
    /// From the target, world units.
    pub distance: f32,
    /// Vertical field of view.
    pub yfov_degrees: f32,
}

impl Orbit {
    /// The orbit of the reference pictures around a box: yaw 30, pitch 20, distance 2.6 radii, field of view 45.
    /// Nothing, or a single point, is framed like a sphere of radius 1.
    #[must_use]
    pub fn around(bounds: Option<Aabb>) -> Self {
        let radius = bounds.map_or(0.0, |b| b.radius());
        let radius = if radius > 0.0 && radius.is_finite() { radius } else { 1.0 };
        Self {
            target: bounds.map_or(Vec3::ZERO, |b| b.center()),
            yaw_degrees: DEFAULT_YAW_DEGREES,
            pitch_degrees: DEFAULT_PITCH_DEGREES,
            distance: DEFAULT_DISTANCE_RADII * radius,
            yfov_degrees: DEFAULT_YFOV_DEGREES,
        }
    }

    /// The view from there: near plane at 0.01 of the distance, far plane at infinity.
    #[must_use]
    pub fn view(&self) -> View {
        let rotation = Mat3::from_rotation_y(self.yaw_degrees.to_radians())
            * Mat3::from_rotation_x(-self.pitch_degrees.to_radians());
        let eye = self.target + rotation.z_axis * self.distance;
        let projection = Projection::Perspective {
            yfov: self.yfov_degrees.to_radians(),
            aspect: None,
            znear: self.distance * NEAR_SHARE,
            zfar: None,
        };
        View { world_from_view: Mat4::from_translation(eye) * Mat4::from_mat3(rotation), projection }
    }
}

/// Which camera to use.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum CameraChoice {
    /// The first camera of the scene, else the orbit of [`Orbit::around`].
    #[default]
    Auto,
    /// The orbit of [`Orbit::around`], whatever cameras the scene has.
    Framed,
    /// An orbit around the scene.
    Orbit {
        /// From +Z towards +X.
        yaw_degrees: f32,
        /// Upwards.
        pitch_degrees: f32,
        /// From the centre, in radii of the scene's box.
        distance_radii: f32,
    },
    /// A camera of the scene by its name, its node's name, or its number in walking order.
    Named(String),
}

/// A text that names no camera.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CameraError {
    /// The orbit's numbers are out of range.
    #[error("{0:?} is no orbit: yaw, pitch in -90..=90 (degrees) and a distance > 0 (radii of the scene) are wanted")]
    Orbit(String),
    /// No camera of that name or number.
    #[error("the scene has no camera {wanted:?}; it has {available}")]
    NotFound {
        /// What was asked for.
        wanted: String,
        /// The names there are, for people.
        available: String,
    },
}

impl FromStr for CameraChoice {
    type Err = CameraError;

    /// `auto`, `framed`, `YAW,PITCH,DISTANCE`, else a name.
    fn from_str(text: &str) -> Result<Self, CameraError> {
        match text {
            "auto" => return Ok(Self::Auto),
            "framed" => return Ok(Self::Framed),
            _ => {}
        }
        let numbers: Option<Vec<f32>> = text.split(',').map(|part| part.trim().parse().ok()).collect();
        match numbers.as_deref() {
            Some(&[yaw_degrees, pitch_degrees, distance_radii]) => {
                let fits = (-90.0..=90.0).contains(&pitch_degrees) && yaw_degrees.is_finite();
                if fits && distance_radii > 0.0 && distance_radii.is_finite() {
                    Ok(Self::Orbit { yaw_degrees, pitch_degrees, distance_radii })
                } else {
                    Err(CameraError::Orbit(text.to_owned()))
                }
            }
            _ => Ok(Self::Named(text.to_owned())),
        }
    }
}

impl Scene {
    /// Nodes with a camera that belong to the scene, in walking order.
    #[must_use]
    pub fn camera_nodes(&self) -> Vec<usize> {
        let mut found = Vec::new();
        let mut seen = vec![false; self.nodes.len()];
        let mut stack: Vec<usize> = self.roots.iter().rev().copied().collect();
        while let Some(i) = stack.pop() {
            if std::mem::replace(&mut seen[i], true) {
                continue;
            }
            if self.nodes[i].camera.is_some() {
                found.push(i);
            }
            stack.extend(self.nodes[i].children.iter().rev());
        }
        found
    }

    /// The view of a choice of camera.
    ///
    /// # Errors
    /// [`CameraError::NotFound`] when a named camera does not exist; it lists those that do.
    pub fn view(&self, choice: &CameraChoice) -> Result<View, CameraError> {
        let framed = || Orbit::around(self.bounds());
        match choice {
            CameraChoice::Framed => Ok(framed().view()),
            CameraChoice::Auto => {
                let first = self.camera_nodes().first().and_then(|node| self.view_of_node(*node));
                Ok(first.unwrap_or_else(|| framed().view()))
            }
            CameraChoice::Orbit { yaw_degrees, pitch_degrees, distance_radii } => {
                let orbit = framed();
                let distance = orbit.distance / DEFAULT_DISTANCE_RADII * distance_radii;
                Ok(Orbit { yaw_degrees: *yaw_degrees, pitch_degrees: *pitch_degrees, distance, ..orbit }.view())
            }
            CameraChoice::Named(name) => self.named_view(name),
        }
    }

    fn named_view(&self, wanted: &str) -> Result<View, CameraError> {
        let nodes = self.camera_nodes();
        let camera_name = |node: usize| self.nodes[node].camera.map_or("", |c| self.cameras[c].name.as_str());
        let by_name = nodes.iter().find(|n| camera_name(**n) == wanted || self.nodes[**n].name == wanted);
        let by_number = || wanted.parse::<usize>().ok().and_then(|i| nodes.get(i));
        let found = by_name.or_else(by_number).and_then(|node| self.view_of_node(*node));
        found.ok_or_else(|| {
            let label = |(i, node): (usize, &usize)| match (camera_name(*node), self.nodes[*node].name.as_str()) {
                ("", "") => i.to_string(),
                ("", name) | (name, _) => format!("{i} ({name})"),
            };
            let labels: Vec<String> = nodes.iter().enumerate().map(label).collect();
            let available = if labels.is_empty() { "none".to_owned() } else { labels.join(", ") };
            CameraError::NotFound { wanted: wanted.to_owned(), available }
        })
    }

    /// The view of a node's camera, `None` if it has none or its axes are degenerate. Scale has no effect.
    fn view_of_node(&self, node: usize) -> Option<View> {
        let node = self.nodes.get(node)?;
        let projection = self.cameras.get(node.camera?)?.projection;
        let back = node.world.z_axis.truncate().try_normalize()?;
        let right = node.world.y_axis.truncate().cross(back).try_normalize()?;
        let eye = node.world.w_axis.truncate();
        let rotation = Mat3::from_cols(right, back.cross(right), back);
        Some(View { world_from_view: Mat4::from_translation(eye) * Mat4::from_mat3(rotation), projection })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn depth(matrix: Mat4, z: f32) -> f32 {
        matrix.project_point3(Vec3::new(0.0, 0.0, z)).z
    }

    #[test]
    fn depth_is_reversed() {
        let perspective = |zfar| Projection::Perspective { yfov: 1.0, aspect: None, znear: 0.5, zfar };
        let infinite = projection_matrix(&perspective(None), 2.0);
        assert_eq!(depth(infinite, -0.5), 1.0);
        assert!(depth(infinite, -1e9) < 1e-8 && depth(infinite, -1e9) > 0.0);
        let finite = projection_matrix(&perspective(Some(8.0)), 2.0);
        assert!((depth(finite, -0.5) - 1.0).abs() < 1e-6 && depth(finite, -8.0).abs() < 1e-6);
        let flat = Projection::Orthographic { xmag: 1.0, ymag: 2.0, znear: 1.0, zfar: 5.0 };
        let flat = projection_matrix(&flat, 1.0);
        assert_eq!((depth(flat, -1.0), depth(flat, -5.0)), (1.0, 0.0));
    }

    #[test]
    fn edges_of_the_view_land_on_the_edges_of_the_picture() {
        let yfov = 1.0f32;
        let m = projection_matrix(&Projection::Perspective { yfov, aspect: None, znear: 0.1, zfar: None }, 2.0);
        let top = m.project_point3(Vec3::new(0.0, (yfov * 0.5).tan() * 3.0, -3.0));
        let right = m.project_point3(Vec3::new((yfov * 0.5).tan() * 6.0, 0.0, -3.0));
        assert!((top.y - 1.0).abs() < 1e-6 && (right.x - 1.0).abs() < 1e-6);
    }

    #[test]
    fn orbit_stands_where_the_reference_says() {
        let bounds = Aabb { min: Vec3::ZERO, max: Vec3::ONE };
        let view = Orbit::around(Some(bounds)).view();
        let distance = 2.6 * 0.75f32.sqrt();
        let eye = Vec3::splat(0.5) + distance * Vec3::new(0.469_846, 0.342_020, 0.813_798);
        assert!(view.eye().abs_diff_eq(eye, 1e-5), "{}", view.eye());
        let centre = view.clip_from_world(1.0).project_point3(Vec3::splat(0.5));
        assert!(centre.x.abs() < 1e-6 && centre.y.abs() < 1e-6);
        let above = view.clip_from_world(1.0).project_point3(Vec3::new(0.5, 0.9, 0.5));
        assert!(above.y > 0.1 && above.x.abs() < 1e-6, "up is up");
    }

    #[test]
    fn straight_down_is_no_special_case() {
        let view = Orbit { pitch_degrees: 90.0, ..Orbit::around(None) }.view();
        assert!(view.world_from_view.is_finite());
        assert!(view.eye().abs_diff_eq(Vec3::Y * 2.6, 1e-5));
    }

    #[test]
    fn choices_parse() {
        let orbit = CameraChoice::Orbit { yaw_degrees: 10.0, pitch_degrees: -5.0, distance_radii: 3.0 };
        assert_eq!("10, -5,3".parse(), Ok(orbit));
        assert_eq!("front".parse(), Ok(CameraChoice::Named("front".into())));
        assert!("10,95,3".parse::<CameraChoice>().is_err());
        assert!("10,5,0".parse::<CameraChoice>().is_err());
        assert!("NaN,5,1".parse::<CameraChoice>().is_err());
    }

    #[test]
    fn a_missing_camera_is_named() {
        let error = Scene::default().view(&CameraChoice::Named("left".into())).unwrap_err();
        assert_eq!(error.to_string(), "the scene has no camera \"left\"; it has none");
    }
}
