import type { Layer } from "./check-layers.ts";
import { adapterLayers } from "./layers/adapters.ts";
import { canaryFlowLayers } from "./layers/flows-of-canaries.ts";
import { ownerFlowLayers } from "./layers/flows-of-owners.ts";
import { sourceFlowLayers } from "./layers/flows-of-sources.ts";
import { objectLayers } from "./layers/objects.ts";
import { programLayers } from "./layers/programs.ts";
import { sourceLayers } from "./layers/sources.ts";
import { termLayers } from "./layers/terms.ts";

/**
 * Sluice, above the layers of its Kubernetes API (layers/embedded-kubernetes.ts). A folder imports only folders that stand above it, so the
 * parts have an order. docs/maintainers/architecture.md shows this list. A new import between folders is a new word here, with a reason to
 * know the other.
 */
export const layers: readonly Layer[] = [
  ...termLayers,
  ...sourceLayers,
  ...objectLayers,
  ...sourceFlowLayers,
  ...ownerFlowLayers,
  ...canaryFlowLayers,
  ...adapterLayers,
  ...programLayers,
];
