//! EGL: library, display, context; and the instance over them.

use crate::adapter::Facts;
use crate::device::{self, Thread};
use glow::HasContext;
use khronos_egl as egl;
use rhizo_rhi::backend::{InstanceBackend, OpenedDevice};
use rhizo_rhi::{
    AdapterInfo, Backend, Capabilities, DeviceDesc, Error, ErrorKind, InstanceDesc, NativeMessage, NativeValidation,
    Result,
};
use std::sync::{Arc, Mutex, OnceLock};

type Egl = egl::DynamicInstance<egl::EGL1_5>;

/// `EGL_PLATFORM_SURFACELESS_MESA`, from EGL_MESA_platform_surfaceless.
const PLATFORM_SURFACELESS: egl::Enum = 0x31DD;
/// What to install on Debian and Ubuntu.
const INSTALL: &str = "install EGL and an OpenGL ES 3 driver (Debian, Ubuntu: libegl1 libegl-mesa0 libgl1-mesa-dri)";

fn unavailable(what: &str, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    let cause = cause.into();
    Error::new(ErrorKind::Unavailable, format!("{what}: {cause}; {INSTALL}")).because(cause)
}

fn load(file: &str) -> Result<Egl> {
    // SAFETY: loading runs the library's initialisers; the system's EGL keeps EGL's contract, and the library stays
    // loaded until the process ends (`RTLD_NODELETE`).
    unsafe { Egl::load_required_from_filename(file) }.map_err(|e| unavailable(&format!("{file} with EGL 1.5"), e))
}

/// The process's EGL, loaded once.
fn library() -> Result<&'static Egl> {
    static LIBRARY: OnceLock<Egl> = OnceLock::new();
    if let Some(library) = LIBRARY.get() {
        return Ok(library);
    }
    let loaded = load("libEGL.so.1")?;
    Ok(LIBRARY.get_or_init(|| loaded))
}

/// A context that is current on the thread that made it, until dropped there.
pub(crate) struct Context {
    pub(crate) gl: glow::Context,
    library: &'static Egl,
    display: egl::Display,
    context: egl::Context,
    /// The raw pointers in `glow` and EGL belong to one thread.
    not_send: std::marker::PhantomData<*const ()>,
}

impl Context {
    /// Makes a robust context of at least OpenGL ES 3.0 and makes it current here.
    pub(crate) fn new(messages: Option<Messages>) -> Result<Self> {
        let library = library()?;
        let display = display(library)?;
        library.bind_api(egl::OPENGL_ES_API).map_err(|e| unavailable("OpenGL ES through EGL", e))?;
        let attributes = [egl::SURFACE_TYPE, 0, egl::RENDERABLE_TYPE, egl::OPENGL_ES3_BIT, egl::NONE];
        let config = library.choose_first_config(display, &attributes);
        let config = config.map_err(|e| unavailable("an EGL configuration for OpenGL ES 3", e))?;
        let config = config.ok_or_else(|| unavailable("an EGL configuration for OpenGL ES 3", "none is offered"))?;
        let context = create_context(library, display, config, messages.is_some())?;
        if let Err(e) = library.make_current(display, None, None, Some(context)) {
            let _ = library.destroy_context(display, context); // the first failure is the one to report
            return Err(unavailable("making the context current", e));
        }
        // SAFETY: the context is current on this thread, and EGL's functions stay valid while the library is loaded.
        let gl = unsafe {
            glow::Context::from_loader_function(|name| {
                library.get_proc_address(name).map_or(std::ptr::null(), |f| f as *const _)
            })
        };
        let mut own = Self { gl, library, display, context, not_send: std::marker::PhantomData };
        if let Some(messages) = messages {
            own.listen(messages);
        }
        Ok(own)
    }

    fn listen(&mut self, messages: Messages) {
        if !self.gl.supports_debug() {
            return;
        }
        // SAFETY: the context is current on this thread; the callback owns what it uses.
        unsafe {
            self.gl.debug_message_callback(move |_, kind, id, _, text| {
                let worth =
                    [glow::DEBUG_TYPE_ERROR, glow::DEBUG_TYPE_UNDEFINED_BEHAVIOR, glow::DEBUG_TYPE_DEPRECATED_BEHAVIOR];
                if worth.contains(&kind) {
                    let error = kind != glow::DEBUG_TYPE_DEPRECATED_BEHAVIOR;
                    let message = NativeMessage { error, id: format!("KHR_debug-{id}"), text: text.to_owned() };
                    device::lock(&messages).push(message);
                }
            });
            self.gl.enable(glow::DEBUG_OUTPUT);
            self.gl.enable(glow::DEBUG_OUTPUT_SYNCHRONOUS);
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // The display is shared by all contexts of the process and never terminated. Failures leave nothing to do.
        let _ = self.library.make_current(self.display, None, None, None);
        let _ = self.library.destroy_context(self.display, self.context);
        let _ = self.library.release_thread();
    }
}

fn display(library: &Egl) -> Result<egl::Display> {
    let client = library.query_string(None, egl::EXTENSIONS).map_or_else(
        |_| String::new(), // EGL without client extensions answers with an error
        |text| text.to_string_lossy().into_owned(),
    );
    let display = if client.split(' ').any(|name| name == "EGL_MESA_platform_surfaceless") {
        // SAFETY: this platform takes the default display.
        unsafe { library.get_platform_display(PLATFORM_SURFACELESS, egl::DEFAULT_DISPLAY, &[egl::ATTRIB_NONE]) }
            .map_err(|e| unavailable("a display without a surface", e))?
    } else {
        // SAFETY: the default display is always a valid argument.
        unsafe { library.get_display(egl::DEFAULT_DISPLAY) }
            .ok_or_else(|| unavailable("the default EGL display", "there is none"))?
    };
    library.initialize(display).map_err(|e| unavailable("initialising EGL", e))?;
    let extensions = library.query_string(Some(display), egl::EXTENSIONS);
    let extensions = extensions.map_err(|e| unavailable("EGL's extensions", e))?.to_string_lossy();
    if !extensions.split(' ').any(|name| name == "EGL_KHR_surfaceless_context") {
        return Err(unavailable("contexts without a surface", "EGL_KHR_surfaceless_context is not offered"));
    }
    Ok(display)
}

fn create_context(library: &Egl, display: egl::Display, config: egl::Config, debug: bool) -> Result<egl::Context> {
    let mut attributes = vec![egl::CONTEXT_MAJOR_VERSION, 3, egl::CONTEXT_MINOR_VERSION, 0];
    // The safety of validated shaders rests on robust access: a context without it is of no use.
    attributes.extend([egl::CONTEXT_OPENGL_ROBUST_ACCESS, egl::TRUE as egl::Int]);
    if debug {
        attributes.extend([egl::CONTEXT_OPENGL_DEBUG, egl::TRUE as egl::Int]);
    }
    attributes.push(egl::NONE);
    library
        .create_context(display, config, None, &attributes)
        .map_err(|e| unavailable("an OpenGL ES 3.0 context with robust buffer access", e))
}

/// Messages of KHR_debug, filled from the devices' threads.
pub(crate) type Messages = Arc<Mutex<Vec<NativeMessage>>>;

/// One EGL display: one adapter.
pub(crate) struct GlesInstance {
    facts: Facts,
    messages: Option<Messages>,
}

impl GlesInstance {
    pub(crate) fn new(desc: &InstanceDesc<'_>) -> Result<Self> {
        let messages = (desc.native_validation != NativeValidation::Off).then(Messages::default);
        // Asked of a context of its own, which goes at once: devices make theirs when they are opened.
        let (_thread, facts) = Thread::start(messages.clone())?;
        if desc.native_validation == NativeValidation::Required && !facts.debug {
            return Err(unavailable("native validation", "the driver has no KHR_debug"));
        }
        Ok(Self { facts, messages })
    }
}

impl InstanceBackend for GlesInstance {
    fn backend(&self) -> Backend {
        Backend::Gles
    }

    fn adapters(&self) -> Vec<AdapterInfo> {
        vec![self.facts.info.clone()]
    }

    fn capabilities(&self, _adapter: usize) -> Result<Capabilities> {
        Ok(crate::adapter::capabilities(&self.facts))
    }

    fn open(&self, _adapter: usize, desc: &DeviceDesc<'_>) -> Result<OpenedDevice> {
        let (thread, facts) = Thread::start(self.messages.clone())?;
        device::open(thread, facts, desc)
    }

    fn take_messages(&self) -> Vec<NativeMessage> {
        self.messages.as_ref().map_or_else(Vec::new, |messages| std::mem::take(&mut *device::lock(messages)))
    }
}

/// Reads what the context says about itself; it is current on this thread.
pub(crate) fn facts(context: &Context) -> Result<Facts> {
    Facts::read(&context.gl)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_library_is_unavailable_and_says_what_to_install() {
        let Err(error) = load("libEGL-that-is-not-installed.so.1") else { panic!("no such library is there") };
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(error.detail().contains("libegl1"), "{error}");
        assert!(error.detail().contains("libEGL-that-is-not-installed.so.1"), "{error}");
    }
}
