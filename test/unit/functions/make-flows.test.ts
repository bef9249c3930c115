import { expect, test } from "vitest";
import { makeFlows } from "../../../functions/make-flows.ts";
import { Secret } from "../../../lib/core/secret.ts";
import { systemClock } from "../../../lib/core/system-clock.ts";
import { keyOf, never } from "../../contract/state-back-end.ts";
import { noCluster } from "../../doubles/no-cluster.ts";
import { recordedMetrics } from "../../doubles/recorded-metrics.ts";
import { silentLog } from "../../doubles/silent-log.ts";

const away = (): Promise<never> => Promise.reject(new Error("AWS throttles it"));

test.each(["OCIRepository", "Kustomization"] as const)(
  "a state that does not answer is waited out by the flow of a %s, and counts as no attempt",
  async (kind) => {
    const flows = makeFlows({
      artifactUrl: (path) => path,
      artifacts: { get: away, put: away },
      clock: systemClock,
      cluster: { ...noCluster, get: async () => undefined },
      concurrency: 1,
      edges: { listen: away, listeners: away },
      engine: { build: away },
      history: { append: away, latest: away },
      http: { send: away },
      installationKey: new Secret("test"),
      inventories: { load: away, savedUnder: away, save: away, remove: away },
      ledger: { claim: away, release: away, claims: away },
      log: silentLog,
      metrics: recordedMetrics(),
      noCrossNamespaceRefs: false,
      records: { record: away, retain: away, recorded: away },
      requests: { request: away },
    });
    const key = { ...keyOf("web"), kind };
    const fence = { key, token: 1 };
    const run = { key, fence, signal: never, assertLease: () => {}, memo: undefined, superseded: async () => false };
    expect(await flows[kind](run)).toMatchObject({ outcome: "unreachable", dueInMs: 750 });
  },
);
