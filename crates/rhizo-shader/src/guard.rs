//! Limits, and the thread that naga runs on.

use crate::error::ShaderError;

/// What input is accepted at most. Larger input is refused with [`crate::ShaderErrorKind::TooLarge`] before anything is
/// allocated for it. The numbers are far above real shaders and far below what would exhaust the compiler's stack.
pub mod limits {
    /// Bytes of WGSL or GLSL.
    pub const SOURCE_BYTES: usize = 1 << 20;
    /// Words of SPIR-V.
    pub const SPIRV_WORDS: usize = 1 << 20;
    /// Nested brackets of any kind, after GLSL macros.
    pub const NESTING: usize = 120;
    /// Operators, member accesses and keywords in one expression or statement without a separator.
    pub const CHAIN: usize = 2048;
    /// Declarations outside of functions.
    pub const DECLARATIONS: usize = 1 << 14;
    /// `else` branches of one `if`.
    pub const ELSE_BRANCHES: usize = 256;
    /// Tokens of GLSL after all macros are expanded.
    pub const EXPANDED_TOKENS: usize = 1 << 20;
    /// GLSL macros being expanded inside one another.
    pub const MACRO_DEPTH: usize = 64;
    /// Structured branches and loops in one SPIR-V function.
    pub const SPIRV_MERGES: usize = 4096;
    /// Nested blocks in a function after parsing.
    pub const BLOCK_DEPTH: usize = 512;
    /// Arrays and structures inside one another.
    pub const TYPE_DEPTH: usize = 256;
    /// Expressions in one function after parsing.
    pub const EXPRESSIONS: usize = 1 << 17;
    /// Expressions hanging below one another after parsing.
    pub const EXPRESSION_DEPTH: usize = 4096;
    /// Bytes of push constants. D3D12's root signature has 64 words in all; no API here goes beyond 256.
    pub const PUSH_CONSTANT_BYTES: u32 = 256;
    /// Bytes of written WGSL or GLSL. Zero values of large arrays are spelt out element by element there.
    pub const WRITTEN_BYTES: usize = 16 << 20;
}

/// Stack of the compiler thread. Measured with the deepest accepted inputs (`tests/shader/hostile.rs`): they need less
/// than 32 MiB with naga optimised and less than 128 MiB without. Only touched pages are ever committed.
#[cfg(not(target_family = "wasm"))]
const STACK_BYTES: usize = 256 << 20;

/// Runs `work` where deep recursion is safe, and turns a panic in it into an error.
///
/// naga is a third-party compiler. It promises not to panic on validated modules, but its parsers and writers contain
/// assertions that hostile input has reached in the past; a program that loads shaders from its users must survive
/// them. Nothing of ours is shared mutably with `work`, so an unwound call leaves no broken state behind. The process's
/// panic hook still runs, so the panic is also reported wherever that reports to.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn run<T: Send>(
    label: &str,
    work: impl FnOnce() -> Result<T, ShaderError> + Send,
) -> Result<T, ShaderError> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name("rhizo-shader".into())
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, work)
            .map_err(|e| ShaderError::unsupported(label, "starting a compiler thread", &e.to_string()))?;
        thread.join().unwrap_or_else(|panic| Err(ShaderError::bug(label, panic_text(panic.as_ref()))))
    })
}

/// The web has no threads to spare; its stack is the engine's.
#[cfg(target_family = "wasm")]
pub(crate) fn run<T>(label: &str, work: impl FnOnce() -> Result<T, ShaderError>) -> Result<T, ShaderError> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work))
        .unwrap_or_else(|panic| Err(ShaderError::bug(label, panic_text(panic.as_ref()))))
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text =
        panic.downcast_ref::<&str>().map(|s| (*s).to_owned()).or_else(|| panic.downcast_ref::<String>().cloned());
    format!("the compiler library panicked: {}", text.as_deref().unwrap_or("without a message"))
}

/// Refuses parsed modules nested so deeply that writing them would need an unreasonable stack.
pub(crate) fn check_module(label: &str, module: &naga::Module) -> Result<(), ShaderError> {
    check_type_depth(label, module)?;
    check_push_constants(label, module)?;
    let entries = module.entry_points.iter().map(|e| &e.function);
    for function in module.functions.iter().map(|(_, f)| f).chain(entries) {
        let expressions = function.expressions.len();
        if expressions > limits::EXPRESSIONS {
            let limit = limits::EXPRESSIONS as u64;
            return Err(ShaderError::too_large(label, "expressions in one function", expressions as u64, limit));
        }
        check_expression_depth(label, &function.expressions)?;
        check_block_depth(label, &function.body)?;
    }
    check_expression_depth(label, &module.global_expressions)
}

/// The writers for text follow expressions recursively down to what is stored in a variable.
fn check_expression_depth(label: &str, expressions: &naga::Arena<naga::Expression>) -> Result<(), ShaderError> {
    let mut depths: Vec<usize> = Vec::with_capacity(expressions.len());
    for (_, expression) in expressions.iter() {
        let mut depth = 0;
        // Operands come before what uses them; if not, validation says so.
        for_operands(expression, &mut |operand| {
            depth = depth.max(depths.get(operand.index()).copied().unwrap_or(0) + 1);
        });
        if depth > limits::EXPRESSION_DEPTH {
            let limit = limits::EXPRESSION_DEPTH as u64;
            return Err(ShaderError::too_large(label, "nested expressions", depth as u64, limit));
        }
        depths.push(depth);
    }
    Ok(())
}

fn for_operands(expression: &naga::Expression, f: &mut dyn FnMut(naga::Handle<naga::Expression>)) {
    use naga::Expression as E;
    match *expression {
        E::Literal(_)
        | E::Constant(_)
        | E::Override(_)
        | E::ZeroValue(_)
        | E::FunctionArgument(_)
        | E::GlobalVariable(_)
        | E::LocalVariable(_)
        | E::CallResult(_)
        | E::AtomicResult { .. }
        | E::WorkGroupUniformLoadResult { .. }
        | E::RayQueryProceedResult
        | E::SubgroupBallotResult
        | E::SubgroupOperationResult { .. }
        | E::CooperativeLoad { .. } => {}
        E::Compose { ref components, .. } => components.iter().copied().for_each(f),
        E::Access { base: a, index: b } | E::Binary { left: a, right: b, .. } => [a, b].into_iter().for_each(f),
        E::Load { pointer: a }
        | E::AccessIndex { base: a, .. }
        | E::Splat { value: a, .. }
        | E::Swizzle { vector: a, .. }
        | E::Unary { expr: a, .. }
        | E::Derivative { expr: a, .. }
        | E::Relational { argument: a, .. }
        | E::As { expr: a, .. }
        | E::ArrayLength(a)
        | E::RayQueryVertexPositions { query: a, .. }
        | E::RayQueryGetIntersection { query: a, .. } => f(a),
        E::Select { condition: a, accept: b, reject: c } | E::CooperativeMultiplyAdd { a, b, c } => {
            [a, b, c].into_iter().for_each(f);
        }
        E::Math { arg, arg1, arg2, arg3, .. } => [Some(arg), arg1, arg2, arg3].into_iter().flatten().for_each(f),
        E::ImageQuery { image, query } => {
            f(image);
            if let naga::ImageQuery::Size { level: Some(level) } = query {
                f(level);
            }
        }
        E::ImageLoad { image, coordinate, array_index, sample, level } => {
            [Some(image), Some(coordinate), array_index, sample, level].into_iter().flatten().for_each(f);
        }
        E::ImageSample { image, sampler, coordinate, array_index, offset, level, depth_ref, .. } => {
            let (x, y) = match level {
                naga::SampleLevel::Auto | naga::SampleLevel::Zero => (None, None),
                naga::SampleLevel::Exact(x) | naga::SampleLevel::Bias(x) => (Some(x), None),
                naga::SampleLevel::Gradient { x, y } => (Some(x), Some(y)),
            };
            let list = [Some(image), Some(sampler), Some(coordinate), array_index, offset, depth_ref, x, y];
            list.into_iter().flatten().for_each(f);
        }
    }
}

/// naga's validator counts push constants in 64 slots of four bytes and overflows beyond them, so they are measured
/// before it runs. Types that cannot be laid out are left to the validator.
fn check_push_constants(label: &str, module: &naga::Module) -> Result<(), ShaderError> {
    let mut layouter = naga::proc::Layouter::default();
    if layouter.update(module.to_ctx()).is_err() {
        return Ok(());
    }
    for (_, variable) in module.global_variables.iter().filter(|(_, v)| v.space == naga::AddressSpace::Immediate) {
        let size = layouter[variable.ty].size;
        if size > limits::PUSH_CONSTANT_BYTES {
            let limit = u64::from(limits::PUSH_CONSTANT_BYTES);
            return Err(ShaderError::too_large(label, "bytes of push constants", u64::from(size), limit));
        }
    }
    Ok(())
}

fn check_type_depth(label: &str, module: &naga::Module) -> Result<(), ShaderError> {
    let mut depths: Vec<usize> = Vec::with_capacity(module.types.len());
    for (_, ty) in module.types.iter() {
        // Parts come before wholes in the arena; a part that does not is a broken module and is left to validation.
        let of = |part: naga::Handle<naga::Type>| depths.get(part.index()).copied().unwrap_or(0) + 1;
        let depth = match &ty.inner {
            naga::TypeInner::Array { base, .. }
            | naga::TypeInner::BindingArray { base, .. }
            | naga::TypeInner::Pointer { base, .. } => of(*base),
            naga::TypeInner::Struct { members, .. } => members.iter().map(|m| of(m.ty)).max().unwrap_or(0),
            _ => 0,
        };
        if depth > limits::TYPE_DEPTH {
            return Err(ShaderError::too_large(label, "nested types", depth as u64, limits::TYPE_DEPTH as u64));
        }
        depths.push(depth);
    }
    Ok(())
}

fn check_block_depth(label: &str, body: &naga::Block) -> Result<(), ShaderError> {
    use naga::Statement as S;
    let mut open = vec![(body, 1_usize)];
    while let Some((block, depth)) = open.pop() {
        if depth > limits::BLOCK_DEPTH {
            return Err(ShaderError::too_large(label, "nested blocks", depth as u64, limits::BLOCK_DEPTH as u64));
        }
        for statement in block.iter() {
            match statement {
                S::Block(inner) => open.push((inner, depth + 1)),
                S::If { accept, reject, .. } => open.extend([(accept, depth + 1), (reject, depth + 1)]),
                S::Loop { body, continuing, .. } => open.extend([(body, depth + 1), (continuing, depth + 1)]),
                S::Switch { cases, .. } => open.extend(cases.iter().map(|c| (&c.body, depth + 1))),
                _ => {}
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ShaderErrorKind;

    #[test]
    fn a_panic_becomes_a_compiler_bug() {
        let result: Result<(), _> = run("x", || panic!("assertion {} failed", 7));
        let error = result.expect_err("panicked");
        assert_eq!(error.kind(), &ShaderErrorKind::CompilerBug);
        assert!(error.to_string().contains("assertion 7 failed"), "{error}");
    }

    #[test]
    fn the_thread_has_the_stack_it_promises() {
        fn deep(n: usize) -> usize {
            let block = std::hint::black_box([n; 64]);
            if n == 0 { block[0] } else { deep(n - 1) + block[63] - n + 1 }
        }
        assert_eq!(run("x", || Ok(deep(200_000))).expect("enough stack"), 200_000);
    }
}
