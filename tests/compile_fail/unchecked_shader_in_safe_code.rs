// expect: E0133
use rhizo_rhi::*;

pub fn case(interface: ShaderInterface) -> ShaderArtifact {
    let payload = ShaderPayload::Spirv(Vec::new());
    ShaderArtifact::from_validated("label", "main", ShaderStage::Vertex, payload, interface) //~
}
