//! What we work around: filtered validation messages, each with the layer's version, what it misjudges and how to test
//! again.

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

/// Whether a message is filtered.
pub(crate) fn is_filtered(id: &str, text: &str) -> bool {
    FILTERED.iter().any(|f| f.id == id && text.contains(f.text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_filter_has_a_reason() {
        for filter in FILTERED {
            assert!(filter.reason.len() > 20, "{}", filter.id);
        }
        assert!(!is_filtered("VUID-vkCmdDraw-None-02859", "some text"));
    }
}
