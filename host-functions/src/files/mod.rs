//! Files, directories and symbolic links of the node.

pub mod policy;
