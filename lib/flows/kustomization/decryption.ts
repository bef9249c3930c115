import type { Kustomization } from "../../api/kustomization.ts";
import { Failure } from "../../core/failure.ts";
import type { HomeCluster } from "../../core/ports/home-and-target.ts";
import type { Run } from "../../core/ports/run.ts";
import type { BuildInput } from "../../manifests/build/build-input.ts";
import { encryptedSecret } from "../../manifests/decrypt/guard.ts";
import type { DataKeys } from "../../sops/data-key.ts";
import type { importKeys } from "../../sops/keys/import-keys.ts";
import type { KeyParts } from "../../sops/keys/key-parts.ts";
import { SopsFault } from "../../sops/sops-fault.ts";
import { type Reached, step } from "./attempt.ts";
import type { Blocked, KustomizationDeps } from "./context.ts";

/** The sources of a run's decryption keys. */
interface KeyPlace {
  readonly home: Pick<HomeCluster, "get">;
  readonly deps: Pick<KustomizationDeps, "sopsIgnoreMac" | "sopsKeys">;
  readonly run: Pick<Run, "key" | "signal">;
}

/**
 * What `spec.decryption` adds to the build; undefined if it is unset. The keys are read when the build asks for them, with our own
 * rights and from the namespace of the Kustomization, and are forgotten with the run.
 *
 * @param namesOnly the build is another Kustomization's, which wants to know the names of its objects
 */
export function decryptionOf(
  { metadata: { namespace = "" }, spec: { decryption } }: Pick<Kustomization, "metadata" | "spec">,
  { home, deps, run }: KeyPlace,
  { namesOnly }: { readonly namesOnly: boolean },
): BuildInput["decryption"] {
  if (decryption === undefined) return undefined;
  let keys: Promise<DataKeys> | undefined;
  const read = () =>
    readKeys({ decryption, cluster: run.key.cluster, namespace }, { ...deps.sopsKeys, home }, run.signal);
  return {
    keys: () => {
      keys ??= read();
      return keys;
    },
    ignoreMac: deps.sopsIgnoreMac,
    namesOnly,
  };
}

async function readKeys(
  request: Parameters<typeof importKeys>[0],
  parts: KeyParts,
  signal: AbortSignal,
): Promise<DataKeys> {
  try {
    // Loaded only where something is to be decrypted, since a cold start has no time for it.
    const [{ importKeys: imported }, { dataKeys }] = await Promise.all([
      import("../../sops/keys/import-keys.ts"),
      import("../../sops/data-key.ts"),
    ]);
    return dataKeys(await imported(request, parts, signal));
  } catch (error) {
    if (!(error instanceof SopsFault)) throw error;
    throw new Failure("BuildFailed", error.message, { cause: error });
  }
}

/** Flux's text for a Kustomization with a service account for decryption while the gate `ObjectLevelWorkloadIdentity` is off (69). */
const accountNameGateMessage =
  "to use spec.decryption.serviceAccountName for decryption authentication please enable the ObjectLevelWorkloadIdentity feature gate in the controller";

/** Why a Kustomization may not decrypt as it asks to (reference 3.1, step 6); undefined if it may. */
export function decryptionRefusal(
  { decryption }: Kustomization["spec"],
  { gates }: Pick<KustomizationDeps, "gates">,
): Blocked | undefined {
  const { serviceAccountName = "" } = decryption ?? {};
  if (serviceAccountName === "" || gates.ObjectLevelWorkloadIdentity) return undefined;
  const message = accountNameGateMessage;
  return {
    kind: "blocked",
    reason: "FeatureGateDisabled",
    message,
    retry: "never",
    stalled: true,
    isUnobserved: true,
    event: { type: "Warning", message },
  };
}

/**
 * Lets no Secret through that is encrypted still (reference 3.10). Before the plan, so that nothing of the revision is applied; after
 * the build, so that the history counts the attempt, as Flux's does.
 */
export const refuseEncrypted = step(async (reached: Reached): Promise<Reached> => {
  const refusal = encryptedSecret(reached.built.manifests);
  if (refusal !== undefined) throw new Failure("ReconciliationFailed", refusal);
  return reached;
});
