//! The numbered clauses that always-on checks enforce: one table.

use crate::error::{Clause, ErrorKind as K};

macro_rules! clauses {
    ($($name:ident = $id:literal, $kind:ident, $rule:literal;)*) => {
        $(#[doc = $rule] pub const $name: &Clause = &Clause { id: $id, kind: K::$kind, rule: $rule };)*
        /// Every clause, in the order of the table.
        pub const ALL: &[&Clause] = &[$($name),*];
    };
}

clauses! {
    DEVICE_OWNERSHIP = "RHZ-DEVICE-1", DeviceMismatch, "objects are used only with the device that made them";
    DEVICE_GENERATION = "RHZ-DEVICE-2", StaleGeneration, "values never survive the device generation that made them";
    DEVICE_LOST = "RHZ-DEVICE-3", DeviceLost, "a lost device accepts no work";
    DEVICE_MATCH = "RHZ-DEVICE-4", Mismatch, "adapters that must be the same device are";
    QUEUE_EXISTS = "RHZ-DEVICE-5", InvalidArgument, "queues are named by kind and index below their count";

    CAPABILITY = "RHZ-CAPS-1", Unsupported, "a required fact is available";

    BUFFER_SIZE = "RHZ-BUFFER-1", InvalidArgument, "a buffer has at least one byte and at most the device's limit";
    BUFFER_USAGE = "RHZ-BUFFER-2", InvalidUsage, "a buffer is used as it was created to be";
    BUFFER_RANGE = "RHZ-BUFFER-3", InvalidArgument, "buffer ranges are inside the buffer and aligned as stated";
    BUFFER_HOST = "RHZ-BUFFER-4", InvalidUsage, "only upload and device-upload buffers are written, and only readback buffers read, by the CPU";
    BUFFER_HOST_USAGE = "RHZ-BUFFER-5", InvalidUsage, "upload and readback buffers take part in copies only";

    TEXTURE_DESC = "RHZ-TEXTURE-1", InvalidArgument, "extent, mips, layers and samples fit the dimension and the limits";
    TEXTURE_FORMAT = "RHZ-TEXTURE-2", Unsupported, "the device supports the format for every usage asked for";
    TEXTURE_USAGE = "RHZ-TEXTURE-3", InvalidUsage, "a texture is used as it was created to be";
    TEXTURE_RANGE = "RHZ-TEXTURE-4", InvalidArgument, "sub-resource ranges are inside the texture";
    TEXTURE_VIEW = "RHZ-TEXTURE-5", InvalidArgument, "a view's dimension and format fit the texture";

    SAMPLER_DESC = "RHZ-SAMPLER-1", InvalidArgument, "sampler values are inside the device's limits";

    TABLE_LAYOUT = "RHZ-BINDING-1", InvalidArgument, "slots of a table layout are unique and inside the limits";
    TABLE_WRITE = "RHZ-BINDING-2", Mismatch, "each write fits the kind, index and size of its slot";
    TABLE_COMPLETE = "RHZ-BINDING-3", InvalidState, "every slot of a table is written when it is created";
    TABLE_COMPATIBLE = "RHZ-BINDING-4", Mismatch, "a table set at an index has the layout the pipeline has there";
    DYNAMIC_OFFSETS = "RHZ-BINDING-5", InvalidArgument, "one aligned dynamic offset inside the buffer is given per dynamic slot";
    PIPELINE_LAYOUT = "RHZ-BINDING-6", InvalidArgument, "a pipeline layout is inside the limits and local only for ray tracing";
    PUSH_RANGE = "RHZ-BINDING-7", InvalidArgument, "push constants are written inside the layout's range, in multiples of four bytes";

    FUNCTION_TARGET = "RHZ-PIPELINE-1", Mismatch, "a function's payload is in the language of the device";
    FUNCTION_STAGE = "RHZ-PIPELINE-2", Mismatch, "functions are used for the stage they were made for";
    PIPELINE_BINDING = "RHZ-PIPELINE-3", Mismatch, "the layout has every binding the functions use, of the same kind";
    PIPELINE_VERTEX = "RHZ-PIPELINE-4", Mismatch, "vertex layouts provide every input of the vertex function";
    PIPELINE_TARGETS = "RHZ-PIPELINE-5", Mismatch, "fragment outputs and attachment formats agree";
    PIPELINE_STATE = "RHZ-PIPELINE-6", InvalidArgument, "fixed-function state is inside the device's limits";
    GROUP_SIZE = "RHZ-PIPELINE-7", Mismatch, "the stated thread-group size is the shader's and inside the limits";

    RECORDING = "RHZ-COMMAND-1", InvalidState, "a recorder records until it is finished";
    PASS_OPEN = "RHZ-COMMAND-2", InvalidState, "a pass is ended before the next command of the recorder";
    POOL_QUEUE = "RHZ-COMMAND-3", InvalidUsage, "the queue of a command pool can execute the command";
    GROUP_BALANCE = "RHZ-COMMAND-4", InvalidState, "debug groups are balanced inside a command buffer";

    PASS_ATTACHMENT = "RHZ-PASS-1", Mismatch, "attachments of a pass agree in samples, cover the render area and are not repeated";
    PASS_ABI = "RHZ-PASS-2", Mismatch, "a pipeline bound in a pass was made for its attachments";
    PASS_READ_ONLY = "RHZ-PASS-3", InvalidState, "a pipeline does not write a read-only aspect";
    DRAW_BOUND = "RHZ-PASS-4", InvalidState, "a draw or dispatch finds every table, vertex buffer and index buffer its pipeline needs";
    DRAW_RANGE = "RHZ-PASS-5", InvalidArgument, "draw, dispatch and indirect arguments are inside limits and buffers";
    VIEWPORT = "RHZ-PASS-6", InvalidArgument, "viewports and scissors are inside the limits";

    COPY_RANGE = "RHZ-TRANSFER-1", InvalidArgument, "copies stay inside source and destination and keep block and row alignment";
    COPY_FORMAT = "RHZ-TRANSFER-2", Mismatch, "copies are between compatible formats and aspects";
    COPY_OVERLAP = "RHZ-TRANSFER-3", InvalidArgument, "source and destination of a copy do not overlap";
    BLIT_FORMAT = "RHZ-TRANSFER-4", Unsupported, "blits and mip generation use formats that can be filtered and written";

    BARRIER_SCOPE = "RHZ-BARRIER-1", InvalidArgument, "accesses of a barrier are made by its stages";
    BARRIER_LAYOUT = "RHZ-BARRIER-2", InvalidArgument, "no transition ends in the undefined layout";
    BARRIER_QUEUES = "RHZ-BARRIER-3", InvalidArgument, "a hand-over names two different queues, one of them the recording one";

    SUBMIT_EMPTY = "RHZ-QUEUE-1", InvalidArgument, "a queue submission must contain work or a synchronization operation";
    SUBMIT_STATE = "RHZ-QUEUE-2", InvalidState, "only executable command buffers are submitted, each once";
    SUBMIT_QUEUE = "RHZ-QUEUE-3", Mismatch, "a command buffer is submitted to a queue of the family it was recorded for";
    SUBMIT_DUPLICATE = "RHZ-QUEUE-4", InvalidArgument, "a submission names each object once";
    SUBMIT_STAGES = "RHZ-QUEUE-5", InvalidArgument, "a wait names the stages that wait";
    SUBMIT_INDEX = "RHZ-QUEUE-6", InvalidArgument, "a wait names a submission that was made";
    DEADLOCK = "RHZ-QUEUE-7", InvalidState, "what is waited for is reached by what was submitted";

    FENCE_STATE = "RHZ-FENCE-1", InvalidState, "a fence goes ready, pending, signaled, resetting, ready";
    SEMAPHORE_STATE = "RHZ-SEMAPHORE-1", InvalidState, "signals and waits of a binary semaphore alternate";
    SEMAPHORE_RESERVED = "RHZ-SEMAPHORE-2", InvalidState, "a semaphore is reserved by one holder at a time";
    TIMELINE_VALUE = "RHZ-SEMAPHORE-3", InvalidArgument, "timeline values only grow";
    SEMAPHORE_KIND = "RHZ-SEMAPHORE-4", InvalidUsage, "binary and timeline semaphores are used as what they are";

    QUERY_RANGE = "RHZ-QUERY-1", InvalidArgument, "query indices are inside the set";
    QUERY_KIND = "RHZ-QUERY-2", InvalidUsage, "a query set is used for the kind it was made for";
    QUERY_NESTING = "RHZ-QUERY-3", InvalidState, "queries are begun and ended in pairs, one at a time";
}

#[cfg(test)]
mod tests {
    #[test]
    fn identifiers_are_unique_and_well_formed() {
        let mut seen = std::collections::HashSet::new();
        for clause in super::ALL {
            assert!(seen.insert(clause.id), "{} twice", clause.id);
            let mut parts = clause.id.split('-');
            assert_eq!(parts.next(), Some("RHZ"));
            assert!(parts.next().is_some_and(|area| area.chars().all(|c| c.is_ascii_uppercase())));
            assert!(parts.next().is_some_and(|n| n.parse::<u32>().is_ok()));
        }
    }
}
