import { homedir } from "node:os";
import { refOf } from "../../lib/core/manifest.ts";
import { subject, type VersionedRef } from "../../lib/core/object-ref.ts";
import { ApiError, type Cluster } from "../../lib/core/ports/cluster.ts";
import { systemClock } from "../../lib/core/system-clock.ts";
import { connect } from "../../lib/kube/connect.ts";
import { readKubeconfig } from "../../lib/kube/kubeconfig.ts";
import { handmade, managed } from "./own-objects.ts";
import { namespace } from "./stage.ts";

/**
 * The story writes over objects of these names and deletes them: on a cluster that lives on they may be somebody's own.
 *
 * @throws Error that names what is there
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
      `${found.join(", ")}: there already, of an earlier demo or somebody's own, and the demo would write over it and delete it. ` +
        `Delete it yourself if nobody needs it (while \`npx sluice local --kubeconfig ${file}\` runs, which takes its finalizers off), or name another cluster`,
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
