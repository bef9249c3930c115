import { subject } from "../../lib/core/object-ref.ts";
import type { Cluster } from "../../lib/core/ports/cluster.ts";
import { handmade } from "./own-objects.ts";
import { until } from "./stage.ts";

/**
 * Deletes what the people in the story made and waits until it is gone, and with it what Sluice made of it: Sluice has to run.
 *
 * @throws NotAsTold that names what is left
 */
export async function tidyUp(cluster: Cluster, signal: AbortSignal): Promise<void> {
  const left = async (): Promise<readonly string[]> => {
    const found = await Promise.all(handmade.map(async (ref) => ((await cluster.get(ref, signal)) ? [ref] : [])));
    return found.flat().map(subject);
  };
  for (const ref of handmade) await cluster.delete(ref, { propagation: "Background" }, signal);
  const isClean = async () => (await left()).length === 0 || undefined;
  await until("nothing of the demo is left", isClean, async () => `still there: ${(await left()).join(", ")}`, signal);
}
