//! The rights and limits of an attempt, from what was admitted.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use host_functions::assets::AssetName;
use host_functions::digest::Digest;
use host_functions::effects::Effect;
use host_functions::rights::{Module, Rights, Sensitivity};

use crate::engine::AttemptLimits;
use crate::model::asset::AssetRef;
use crate::model::catalog::{OptionsSemantics, Resource, Semantics};
use crate::model::ids::ResourceId;
use crate::receipt::{AdmittedModule, AdmittedProvider};

/// Memory of an attempt where policy does not say otherwise, in bytes.
const MEMORY_BYTES: usize = 64 << 20;

/// What the host calls of `resource` are held against.
pub(super) fn of(admitted: &AdmittedModule, resource: &Resource, semantics: &Semantics) -> Rights {
    for_effects(admitted, &resource.id, &resource.effects, semantics)
}

/// The rights of a resource with these effects and semantics.
pub(crate) fn for_effects(
    admitted: &AdmittedModule,
    id: &ResourceId,
    effects: &[crate::model::catalog::Effect],
    semantics: &Semantics,
) -> Rights {
    let sensitivity = if semantics.sensitive { Sensitivity::Sensitive } else { Sensitivity::Plain };
    Rights {
        resource: id.to_string(),
        module: Module { name: id.type_name.to_string(), digest: admitted.module.digest().to_string() },
        asks: Arc::clone(&admitted.asks),
        grant: Arc::clone(&admitted.grant),
        effects: effects.iter().map(host_effect).collect(),
        assets: semantics.assets.iter().map(|asset| asset_right(asset, sensitivity)).collect(),
        had_secrets: false,
        provider: None,
    }
}

/// What the host calls of a provider are held against: the effects of the resource as a whole, and the assets of both.
pub(super) fn of_provider(
    admitted: &AdmittedProvider,
    id: &ResourceId,
    effects: &[crate::model::catalog::Effect],
    semantics: &Semantics,
    options: &OptionsSemantics,
) -> Rights {
    let own = if options.sensitive { Sensitivity::Sensitive } else { Sensitivity::Plain };
    let of_type = if semantics.sensitive { Sensitivity::Sensitive } else { Sensitivity::Plain };
    let assets = options.assets.iter().map(|asset| asset_right(asset, own));
    // What is sensitive for the type is so for its provider, though its options name the same bytes.
    let assets = assets.chain(semantics.assets.iter().map(|asset| asset_right(asset, of_type)));
    let mut named = BTreeMap::new();
    for (asset, sensitivity) in assets {
        let kept = named.entry(asset).or_insert(sensitivity);
        if sensitivity == Sensitivity::Sensitive {
            *kept = sensitivity;
        }
    }
    Rights {
        resource: id.to_string(),
        module: Module { name: admitted.provider.module_name().to_string(), digest: admitted.provider.digest().to_string() },
        asks: Arc::clone(&admitted.asks),
        grant: Arc::clone(&admitted.grant),
        effects: effects.iter().map(host_effect).collect(),
        assets: named,
        had_secrets: false,
        provider: None,
    }
}

/// What a provider may use in an attempt that itself may use `limits`.
pub(super) fn limits_of_provider(admitted: &AdmittedProvider, limits: AttemptLimits) -> AttemptLimits {
    let granted = admitted.grant.limits;
    let deadline = granted.deadline.map_or(limits.deadline, |granted| limits.deadline.min(granted));
    AttemptLimits { memory_bytes: memory(granted.memory), deadline }
}

fn memory(granted: Option<u64>) -> usize {
    granted.map_or(MEMORY_BYTES, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX))
}

fn host_effect(effect: &crate::model::catalog::Effect) -> Effect {
    Effect {
        domain: effect.domain.clone(),
        key: effect.key.0.clone(),
        actions: effect.actions.clone(),
        qualifier: effect.qualifier.clone(),
    }
}

fn asset_right(asset: &AssetRef, sensitivity: Sensitivity) -> (AssetName, Sensitivity) {
    match asset {
        AssetRef::Plain(digest) => (AssetName::Plain(Digest(*digest.bytes())), sensitivity),
        AssetRef::Secret(slot) => (AssetName::Secret(slot.to_string()), Sensitivity::Sensitive),
    }
}

/// What an attempt at `resource` may use: the manifest's deadline, else the type's.
pub(super) fn limits(admitted: &AdmittedModule, resource: &Resource, semantics: &Semantics) -> AttemptLimits {
    limits_for(admitted, resource.timeout_ms.unwrap_or(semantics.timeout_ms))
}

/// The limits of an attempt with this deadline in milliseconds, which policy may shorten.
pub(crate) fn limits_for(admitted: &AdmittedModule, timeout_ms: u64) -> AttemptLimits {
    let own = Duration::from_millis(timeout_ms);
    let granted = admitted.grant.limits;
    AttemptLimits { memory_bytes: memory(granted.memory), deadline: granted.deadline.map_or(own, |granted| own.min(granted)) }
}
