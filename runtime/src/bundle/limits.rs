//! Sizes that a bundle may have. Each is checked before anything of that size is allocated or read.

/// The largest catalog: some hundred thousand resources, and still parsed in seconds.
pub const MAX_CATALOG: u64 = 128 << 20;

/// The largest component. Ours are below 200 KB; a language runtime inside a component stays below this, and compiling more
/// than this would let a bundle hold the node's processor for minutes.
pub const MAX_COMPONENT: u64 = 16 << 20;

/// The largest asset: what the 11 octal digits of a ustar header can say, one byte short of 8 GiB.
pub const MAX_ASSET: u64 = (8 << 30) - 1;

/// The largest layer of secrets, which is held in memory: far more than passwords and keys have.
pub const MAX_SECRETS: u64 = 16 << 20;

/// The largest file: bounds the time that hashing a bundle nobody has vouched for may take.
pub const MAX_BUNDLE: u64 = 64 << 30;

/// How many components a bundle may hold: one a resource type.
pub const MAX_COMPONENTS: usize = 1 << 10;

/// How many assets a bundle may hold: one a resource.
pub const MAX_ASSETS: usize = 1 << 17;

/// How many members the archive may have: every component and asset, manifest, catalog, secrets, `index.json` and `oci-layout`.
pub const MAX_MEMBERS: usize = MAX_COMPONENTS + MAX_ASSETS + 5;

/// The largest OCI manifest: [`MAX_MEMBERS`] descriptors of at most 180 bytes.
pub const MAX_MANIFEST: u64 = 180 * MAX_MEMBERS as u64;

/// The largest `index.json`: one descriptor, with room for a signature.
pub const MAX_INDEX: u64 = 16 << 10;

/// How deep the catalog's JSON may nest. Checked by a scan without recursion; below the JSON parser's own limit of 128.
pub const MAX_JSON_DEPTH: usize = 120;

/// How many resources a catalog may declare.
pub const MAX_RESOURCES: usize = 1 << 17;

/// How many edges a catalog may hold.
pub const MAX_EDGES: usize = 1 << 20;
