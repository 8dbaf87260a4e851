//! Broken and hostile files through the whole of what a program does with them.

mod gltf;
