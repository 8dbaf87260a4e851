//! What drivers are, by name; and what is done about it. Each entry: hardware, symptom, how to test again.

use rhizo_rhi::AdapterKind;

/// Kind of adapter by the name of the renderer: OpenGL ES has no query for it.
///
/// Only software is told apart, because it must never be picked silently. *Test again*: `GL_RENDERER` of Mesa's llvmpipe
/// and softpipe, and of ANGLE over SwiftShader.
pub(crate) fn adapter_kind(renderer: &str) -> AdapterKind {
    let renderer = renderer.to_ascii_lowercase();
    let software = ["llvmpipe", "softpipe", "swiftshader", "software"];
    if software.iter().any(|name| renderer.contains(name)) { AdapterKind::Software } else { AdapterKind::Other }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn software_is_told_apart() {
        assert_eq!(adapter_kind("llvmpipe (LLVM 15.0.6, 256 bits)"), AdapterKind::Software);
        assert_eq!(
            adapter_kind("ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device), SwiftShader)"),
            AdapterKind::Software
        );
        assert_eq!(adapter_kind("Mali-G78"), AdapterKind::Other);
    }
}
