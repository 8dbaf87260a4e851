//! What we work around: filtered validation messages, each with the layer's version, what it misjudges and how to test
//! again; and versions that a capture tool hides.

use ash::vk;
use std::ffi::CStr;

/// A message of the validation layer that is not passed on.
pub(crate) struct Filtered {
    /// The layer's name for the rule.
    pub(crate) id: &'static str,
    /// A part of the text that must occur as well; empty for any.
    pub(crate) text: &'static str,
    /// Why.
    #[allow(dead_code, reason = "read by people; a test checks that none is empty")]
    pub(crate) reason: &'static str,
}

/// The filtered messages. To re-test one: remove its row and run this crate's tests on every driver.
pub(crate) const FILTERED: &[Filtered] = &[
    Filtered {
        id: "VUID-VkPhysicalDeviceProperties2-pNext-pNext",
        text: "unknown VkStructureType (1000572001)",
        reason: "layer 1.3.239 predates VK_EXT_device_generated_commands, whose property structure the registry lists as \
                 extending VkPhysicalDeviceProperties2; asked for only where the driver lists the extension",
    },
    Filtered {
        id: "VUID_Undefined",
        text: "is not supported by this layer",
        reason: "a remark about extensions newer than layer 1.3.239, which the capability report enables on a device of \
                 its own to look for entry points; no command of theirs is called",
    },
];

/// Whether RenderDoc hides that an adapter has Vulkan 1.3.
///
/// Vulkan 1.3 demands buffer device addresses, which RenderDoc can replay only with `bufferDeviceAddressCaptureReplay`;
/// where a driver lacks that, RenderDoc reports Vulkan 1.2. Seen with RenderDoc 1.24 on lavapipe (Mesa 25.0) and
/// SwiftShader. The driver still answers for the features of 1.3, and RenderDoc passes on their commands when the
/// extensions they come from are enabled ([`UNHIDE`]). We use no buffer device addresses, so nothing is missing from the
/// capture. To test again: `renderdoccmd capture -w rhizo info --backend vulkan`.
pub(crate) fn version_is_hidden(reported: u32, capture_tool_attached: bool) -> bool {
    capture_tool_attached && (vk::API_VERSION_1_2..vk::API_VERSION_1_3).contains(&reported)
}

/// Extensions whose commands and features the backend uses under their names in Vulkan 1.3.
pub(crate) const UNHIDE: [&CStr; 2] = [ash::khr::dynamic_rendering::NAME, ash::khr::synchronization2::NAME];

/// Whether a message is filtered.
pub(crate) fn is_filtered(id: &str, text: &str) -> bool {
    FILTERED.iter().any(|f| f.id == id && text.contains(f.text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_capture_tool_can_hide_a_version() {
        let (old, hidden, new) = (vk::API_VERSION_1_1, vk::API_VERSION_1_2 | 7, vk::API_VERSION_1_3);
        assert!(version_is_hidden(hidden, true) && !version_is_hidden(hidden, false));
        assert!(!version_is_hidden(old, true) && !version_is_hidden(new, true));
    }

    #[test]
    fn every_filter_has_a_reason() {
        for filter in FILTERED {
            assert!(filter.reason.len() > 20, "{}", filter.id);
        }
        assert!(!is_filtered("VUID-vkCmdDraw-None-02859", "some text"));
    }
}
