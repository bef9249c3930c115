import { z } from "zod";
import { findCondition, type Condition } from "../../../lib/api/condition.ts";
import type { KindDeclaration } from "../../../lib/api/kinds/declaration.ts";
import { declaredKinds } from "../../../lib/api/kinds/declared-kinds.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";

const Conditions = z.object({ conditions: z.array(z.custom<Condition>()).optional() });

/** Flagger's, and that of source-watcher: the example has none of them, and Flux may be installed without. */
const others: ReadonlySet<string> = new Set(["flagger.app", "source.extensions.fluxcd.io"]);

/** Every object of Flux's kinds in the cluster that is reconciled: Alerts, Providers and HelmRepositories of type oci never are. */
export async function fluxsObjects(
  cluster: Pick<Cluster, "list">,
  signal: AbortSignal,
): Promise<readonly LiveObject[]> {
  const declared: readonly KindDeclaration[] = declaredKinds;
  const kinds = declared.filter(({ group, isStatusless }) => !others.has(group) && isStatusless !== true);
  const lists = kinds.map(async ({ group, kind, versions: [version], isStatic = () => false }) =>
    (await cluster.list({ group, version, kind }, signal)).filter(({ spec }) => !isStatic(spec)),
  );
  return (await Promise.all(lists)).flat();
}

/** By `Kind/name`, `status reason: message` of the Ready condition. */
export async function readyTexts(cluster: Pick<Cluster, "list">, signal: AbortSignal): Promise<Record<string, string>> {
  const all = await fluxsObjects(cluster, signal);
  return Object.fromEntries(
    all.map((live) => {
      const ready = findCondition(Conditions.parse(live["status"] ?? {}).conditions ?? [], "Ready");
      const text = ready === undefined ? "" : `${ready.status} ${ready.reason}: ${ready.message}`;
      return [`${live.kind}/${live.metadata.name}`, text];
    }),
  );
}
