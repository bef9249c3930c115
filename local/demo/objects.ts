import { homedir } from "node:os";
import { refOf } from "../../lib/core/manifest.ts";
import { subject, type VersionedRef } from "../../lib/core/object-ref.ts";
import { ApiError, type Cluster } from "../../lib/core/ports/cluster.ts";
import { connect } from "../../lib/kube/connect.ts";
import { readKubeconfig } from "../../lib/kube/kubeconfig.ts";
import { systemClock } from "../../lib/process/system-clock.ts";
import { appName, namespace, until } from "./stage.ts";

/** The objects of the example's artifact. */
export const managed = [
  { apiVersion: "v1", kind: "Service", name: "oddy-test-service" },
  { apiVersion: "apps/v1", kind: "Deployment", name: "oddy-test-deployment" },
  { apiVersion: "policy/v1", kind: "PodDisruptionBudget", name: "oddy-test-pdb" },
  { apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler", name: "oddy-test-hpa" },
] as const;

/** The objects that users in the story create: once these are deleted, everything is gone. */
export const handmade: readonly VersionedRef[] = [
  { group: "kustomize.toolkit.fluxcd.io", version: "v1", kind: "Kustomization", namespace, name: appName },
  { group: "source.toolkit.fluxcd.io", version: "v1", kind: "OCIRepository", namespace, name: appName },
  { group: "", version: "v1", kind: "ConfigMap", namespace, name: "not-ours" },
];

/**
 * The story overwrites and deletes objects of these names: on a cluster of the user's they may be in use.
 *
 * @throws Error that names the objects that exist
 */
export async function refuseLeftovers(
  { file, context }: { readonly file: string; readonly context?: string },
  signal: AbortSignal,
): Promise<void> {
  const { env } = process;
  const config = await readKubeconfig({ file, ...(context === undefined ? {} : { context }), env, homeDir: homedir() });
  const cluster = connect(config, { clock: systemClock, env });
  try {
    const names = [
      ...handmade,
      ...managed.map(({ name, ...kind }) => refOf({ ...kind, metadata: { name, namespace } })),
    ];
    const there = await Promise.all(names.map((ref) => isThere(cluster, ref, signal)));
    const found = names.filter((_, index) => there[index]).map(subject);
    if (found.length === 0) return;
    throw new Error(
      `${found.join(", ")}: the cluster already has these objects, and the demo would overwrite and delete them. ` +
        `If they are left from an earlier demo, delete them while \`sluice local --kubeconfig ${file}\` runs, which removes their finalizers; otherwise choose another cluster`,
    );
  } finally {
    cluster.close();
  }
}

async function isThere(cluster: Cluster, ref: VersionedRef, signal: AbortSignal): Promise<boolean> {
  try {
    return (await cluster.get(ref, signal)) !== undefined;
  } catch (error) {
    // A kind that is not served yet has no objects.
    if (error instanceof ApiError && error.reason === "NoMatch") return false;
    throw error;
  }
}

/**
 * Deletes the objects that users in the story created, and waits until Sluice, which has to run, has deleted its own.
 *
 * @throws UnexpectedOutcome that names what is left
 */
export async function tidyUp(cluster: Cluster, signal: AbortSignal): Promise<void> {
  const left = async (): Promise<readonly string[]> => {
    const found = await Promise.all(handmade.map(async (ref) => ((await cluster.get(ref, signal)) ? [ref] : [])));
    return found.flat().map(subject);
  };
  for (const ref of handmade) await cluster.delete(ref, { propagation: "Background" }, signal);
  const isClean = async () => (await left()).length === 0 || undefined;
  await until("nothing of the demo is left", isClean, async () => `${(await left()).join(", ")}`, signal);
}
