import { AlertSpec } from "../api/alert.ts";
import { declaredAlert } from "../api/kinds/alert.ts";
import { servedKind } from "../api/kinds/declaration.ts";
import type { LiveObject } from "../core/manifest.ts";
import type { Clock } from "../core/ports/clock.ts";
import { ApiError, type Cluster } from "../core/ports/cluster.ts";
import type { MatchedAlert } from "./match-alert.ts";

/** An Alert as the cluster has it. */
export interface ListedAlert extends MatchedAlert {
  readonly name: string;
  readonly live: LiveObject;
}

/** The Alerts of each cluster, as a list of not long ago. */
export interface ListedAlerts {
  /** None where the cluster does not serve the kind, or one whose spec cannot be read. Throws an `ApiError` as the cluster does. */
  of(cluster: string, home: Pick<Cluster, "list">, signal: AbortSignal): Promise<readonly ListedAlert[]>;
  /** Makes the next event look again: an Alert has changed. */
  forget(cluster: string): void;
}

/** So late does a process hear of a change whose run was in another process. */
const listedMs = 10_000;

interface Listed {
  readonly at: number;
  readonly alerts: Promise<readonly ListedAlert[]>;
}

/** Lists the Alerts of a cluster when its events ask for them, at most once in ten seconds unless one has changed. */
export function listedAlerts(clock: Pick<Clock, "monotonic">): ListedAlerts {
  const lists = new Map<string, Listed>();
  return {
    async of(cluster, home, signal) {
      const known = lists.get(cluster);
      if (known !== undefined && clock.monotonic() - known.at < listedMs) return known.alerts;
      const listed = { at: clock.monotonic(), alerts: listAlerts(home, signal) };
      lists.set(cluster, listed);
      try {
        return await listed.alerts;
      } catch (error) {
        if (lists.get(cluster) === listed) lists.delete(cluster);
        throw error;
      }
    },
    forget: (cluster) => void lists.delete(cluster),
  };
}

async function listAlerts(home: Pick<Cluster, "list">, signal: AbortSignal): Promise<readonly ListedAlert[]> {
  try {
    const found = await home.list(servedKind(declaredAlert), signal);
    return found.flatMap((live) => {
      const { success, data: spec } = AlertSpec.safeParse(live["spec"]);
      const { name, namespace = "" } = live.metadata;
      return success ? [{ live, name, namespace, spec }] : [];
    });
  } catch (error) {
    if (error instanceof ApiError && error.reason === "NoMatch") return [];
    throw error;
  }
}
