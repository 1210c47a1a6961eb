//! Rust types generated from the WIT of `runtime:host`, for the whole program: others refer to these with `with:`.
#![allow(missing_docs, reason = "generated from the WIT, which has the documentation")]
#![allow(unused_qualifications, reason = "generated")]

wasmtime::component::bindgen!({
    inline: "
        package runtime:host-functions@0.1.0;

        world host {
            import runtime:host/types@0.1.0;
            import runtime:host/files@0.1.0;
            import runtime:host/assets@0.1.0;
            import runtime:host/accounts@0.1.0;
            import runtime:host/processes@0.1.0;
            import runtime:host/facts@0.1.0;
            import runtime:host/systemd@0.1.0;
            import runtime:host/openrc@0.1.0;
            import runtime:host/packages@0.1.0;
            import runtime:host/log@0.1.0;
            import runtime:host/backends@0.1.0;
        }
    ",
    path: "../wit/deps/host",
    world: "runtime:host-functions/host",
    // Calls run on the attempt's own thread, so they may block it; a refusal that the WIT has no error for is a trap.
    // A provider is a guest of its own, whose calls are awaited.
    imports: { "runtime:host/backends": async | trappable, default: trappable },
    trappable_error_type: { "runtime:host/types.host-error" => crate::error::CallError },
    with: {
        "runtime:host/files.object": crate::files::Object,
        "runtime:host/files.staged": crate::files::Staged,
    },
});
