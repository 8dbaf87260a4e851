//! Captures through RenderDoc's in-application API, if the tool is attached to the process.
//!
//! Source of the declarations: `renderdoc_app.h`, API 1.1.2 (RenderDoc 1.0 and later), "In-application API" of its
//! documentation. Only a library that is already loaded is asked; none is ever loaded from here.

use libloading::Symbol;
use rhizo_rhi::{Error, ErrorKind, Result};
use std::ffi::c_void;

const API_1_1_2: i32 = 1_01_02;

/// `RENDERDOC_API_1_1_2`: the functions before the first one used here, then those used.
#[repr(C)]
struct Api {
    unused: [*const c_void; 19],
    start_frame_capture: unsafe extern "C" fn(device: *mut c_void, window: *mut c_void),
    is_frame_capturing: unsafe extern "C" fn() -> u32,
    end_frame_capture: unsafe extern "C" fn(device: *mut c_void, window: *mut c_void) -> u32,
}

type GetApi = unsafe extern "C" fn(version: i32, api: *mut *const Api) -> i32;

/// RenderDoc's library, if it is in the process.
#[cfg(unix)]
pub(crate) fn attached() -> Option<libloading::Library> {
    use libloading::os::unix::{Library, RTLD_NOW};
    /// `RTLD_NOLOAD`: give the library only if it is loaded already. Linux and Android 0x4, Apple 0x10, BSDs 0x2000.
    const RTLD_NOLOAD: i32 = if cfg!(target_vendor = "apple") {
        0x10
    } else if cfg!(any(target_os = "linux", target_os = "android")) {
        0x4
    } else {
        0x2000
    };
    // SAFETY: no library is loaded by this call, so no initialiser runs.
    unsafe { Library::open(Some("librenderdoc.so"), RTLD_NOW | RTLD_NOLOAD) }.ok().map(Into::into)
}

#[cfg(windows)]
pub(crate) fn attached() -> Option<libloading::Library> {
    libloading::os::windows::Library::open_already_loaded("renderdoc.dll").ok().map(Into::into)
}

#[cfg(not(any(unix, windows)))]
pub(crate) fn attached() -> Option<libloading::Library> {
    None
}

/// Starts or ends a capture of all devices of the process.
pub(super) fn toggle(start: bool) -> Result<()> {
    let unavailable = |detail: &str| Err(Error::new(ErrorKind::Unavailable, detail));
    let Some(library) = attached() else {
        return unavailable("no capture tool is attached: start the program from RenderDoc (`renderdoccmd capture`)");
    };
    let mut api: *const Api = std::ptr::null();
    // SAFETY: the symbol has this signature in every version of RenderDoc; it writes a table that lives as long as the
    // tool, which stays loaded for the life of the process.
    let found = unsafe {
        let get: std::result::Result<Symbol<'_, GetApi>, _> = library.get(b"RENDERDOC_GetAPI\0");
        get.is_ok_and(|get| get(API_1_1_2, &raw mut api) == 1)
    };
    if !found || api.is_null() {
        return unavailable("the attached RenderDoc does not have API 1.1.2");
    }
    let any = std::ptr::null_mut();
    // SAFETY: the table was filled by the tool for the version asked for; null means any device and window.
    unsafe {
        let api = &*api;
        match (start, (api.is_frame_capturing)() == 1) {
            (true, true) => return Err(Error::new(ErrorKind::InvalidState, "a capture is already being made")),
            (false, false) => return Err(Error::new(ErrorKind::InvalidState, "no capture is being made")),
            (true, false) => (api.start_frame_capture)(any, any),
            (false, true) if (api.end_frame_capture)(any, any) != 1 => {
                return Err(Error::new(ErrorKind::Native, "RenderDoc could not write the capture"));
            }
            (false, true) => {}
        }
    }
    Ok(())
}
