import { z } from "zod";
import { ApiError } from "../lib/core/ports/cluster.ts";
import { textAt, valueAt } from "./objects/read-object.ts";
import type { Session } from "./session.ts";

/** A Deployment of Flagger that runs in the cluster. */
export interface CheckedFlagger {
  readonly namespace: string;
  readonly name: string;
  readonly replicas: number;
}

interface Asking extends Pick<Session, "cluster" | "signal"> {
  readonly terminal: Pick<Session["terminal"], "action" | "warning">;
}

/** The chart and the manifests of Flagger have it, with the value `flagger`. */
const label = "app.kubernetes.io/name";

const Containers = z.array(z.object({ image: z.string().default("") }));

/**
 * Whether Flagger runs beside Sluice: both would take the steps of the same Canaries. Its lease says nothing, since it has one only with
 * leader election. Says nothing where there is none. Undefined where that cannot be told.
 */
export async function checkFlagger({
  cluster,
  terminal,
  signal,
}: Asking): Promise<readonly CheckedFlagger[] | undefined> {
  try {
    const deployments = await cluster.list({ group: "apps", version: "v1", kind: "Deployment" }, signal);
    const found = deployments.flatMap((one): readonly CheckedFlagger[] => {
      const replicas = Number(valueAt(one, "spec", "replicas") ?? 1);
      if (replicas === 0 || !isFlagger(one)) return [];
      return [{ namespace: one.metadata.namespace ?? "", name: one.metadata.name, replicas }];
    });
    if (found.length > 0) terminal.action("checking for Flagger");
    for (const { name, namespace, replicas } of found) {
      terminal.warning(
        `Deployment ${namespace}/${name} runs Flagger with ${replicas} ${replicas === 1 ? "replica" : "replicas"}: it and Sluice take steps of the same Canaries; stop it with kubectl -n ${namespace} scale deployment ${name} --replicas=0`,
      );
    }
    return found;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ApiError)) throw error;
    terminal.warning(`not known whether Flagger runs: ${error.message}`);
    return undefined;
  }
}

function isFlagger(deployment: Parameters<typeof textAt>[0]): boolean {
  if (textAt(deployment, "metadata", "labels", label) === "flagger") return true;
  const containers = Containers.safeParse(valueAt(deployment, "spec", "template", "spec", "containers")).data ?? [];
  // The load tester and others have names that go on: `flagger-loadtester`.
  return containers.some(({ image }) => /(?:^|\/)flagger(?:[:@]|$)/.test(image));
}
