//! What `describe` says: the attributes and the rights that the module asks for.

use runtime_sdk::{Attribute, Capability, Type};

use crate::desired::Ensure;

pub fn all() -> Vec<Attribute> {
    vec![
        Attribute::string("path").required().exported().identity().doc(
            "The absolute path on the node, without `.`, `..`, double or trailing slashes. A link at the path itself is not followed.",
        ),
        Attribute::ensure::<Ensure>().exported().identity().doc("What is to be at the path."),
        Attribute::boolean("force").nullable().identity().default_value(false).doc(
            "Whether an object of another kind may be replaced, and a directory removed with all that it holds.",
        ),
        Attribute::string("content").nullable().doc("The file's content as text. Not with `source`."),
        Attribute::string("source")
            .nullable()
            .source()
            .doc("A file beneath the manifest's folder that has the content. Not with `content`."),
        principal("owner").doc("The owner: a user name or a numeric id. Names are looked up on the node."),
        principal("group").doc("The group: a name or a numeric id. Names are looked up on the node."),
        Attribute::string("mode").nullable().exported().doc(
            "The permissions: octal as `0644` or `644`, or symbolic for all three classes as `u=rw,go=r`. Others read it as four octal digits.",
        ),
        Attribute::string("target").nullable().exported().doc("Where a symbolic link points, kept as it is written."),
    ]
}

fn principal(name: &str) -> Attribute {
    Attribute::new(name, Type::Union(vec![Type::String, Type::Integer])).nullable().exported()
}

pub fn capabilities() -> Vec<Capability> {
    vec![
        Capability::new("files", "read", "/**", "to compare what is at a declared path"),
        Capability::new("files", "write", "/**", "to bring about what is declared for a path"),
        Capability::new("accounts", "read", "*", "to look up the numeric ids of owners and groups"),
    ]
}

#[cfg(test)]
mod tests {
    use crate::File;

    #[test]
    fn the_description_keeps_the_contract() {
        runtime_sdk::testing::check_description::<File>();
    }
}
