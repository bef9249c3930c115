import { expect, test } from "vitest";
import { flowsOfClusters, makeFlows } from "../../../functions/make-flows.ts";
import type { KindDeclaration } from "../../../lib/api/kinds/declaration.ts";
import { declaredKinds } from "../../../lib/api/kinds/declared-kinds.ts";
import { usualRules } from "../../../lib/apply/set/apply-rules.ts";
import { defaultCanarySettings } from "../../../lib/canary/settings.ts";
import { defaultGates } from "../../../lib/core/feature-gates.ts";
import { Secret } from "../../../lib/core/secret.ts";
import { defaultTiming } from "../../../lib/flows/interval.ts";
import { kinds } from "../../../lib/flows/kinds/kinds.ts";
import { servedClusters } from "../../../lib/gate/served-clusters.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { keyOf, never } from "../../contract/state-back-end.ts";
import { noCanaryHttp } from "../../doubles/no-canary-http.ts";
import { noCel } from "../../doubles/no-cel.ts";
import { noHome, noTarget } from "../../doubles/no-cluster.ts";
import { noHelm } from "../../doubles/no-helm.ts";
import { noKeyServices } from "../../doubles/no-key-services.ts";
import { noRemoteClusters } from "../../doubles/no-remote-clusters.ts";
import { openGate } from "../../doubles/open-gate.ts";
import { recordedMetrics } from "../../doubles/recorded-metrics.ts";
import { silentLog } from "../../doubles/silent-log.ts";

const away = (): Promise<never> => Promise.reject(new Error("AWS throttles it"));

const flows = makeFlows(kinds, {
  artifactUrl: (path) => path,
  canaryHttp: noCanaryHttp,
  metricServers: {},
  artifacts: { get: away, has: away, put: away },
  clock: systemClock,
  home: { ...noHome, get: async () => undefined },
  concurrency: 1,
  subscriptions: { subscribe: away, subscribers: away, followers: away },
  engine: { build: away },
  history: { append: away, latest: away },
  http: { send: away, open: away, dial: away },
  installationKey: new Secret("test"),
  inventories: { load: away, savedUnder: away, clusters: away, save: away, remove: away },
  ledger: { claim: away, release: away, claims: away },
  log: silentLog,
  metrics: recordedMetrics(),
  noCrossNamespaceRefs: false,
  sopsIgnoreMac: false,
  explainHealthFailures: true,
  sopsKeys: noKeyServices,
  skipLinks: false,
  sshAlgorithms: {},
  defaultServiceAccount: "",
  defaultKubeconfigAccount: "",
  gates: defaultGates,
  timing: defaultTiming,
  applyRules: usualRules,
  canarySettings: defaultCanarySettings,
  targetAs: () => noTarget,
  gated: () => noTarget,
  remoteClusters: noRemoteClusters,
  records: { record: away, retain: away, recorded: away },
  cel: noCel,
  helm: noHelm,
  receivers: { save: away, remove: away, find: away },
  imageTags: { put: away, get: away, describe: away, remove: away },
  requests: { request: away },
});

// An Alert and a Provider have nothing in the state.
test.each(kinds.filter(({ isStatusless }) => isStatusless !== true))(
  "the flow of a $kind waits while the state store does not answer, and this does not count as an attempt",
  async ({ group, kind }) => {
    const key = { ...keyOf("web"), group, kind };
    const fence = { key, token: 1 };
    const run = {
      key,
      fence,
      signal: never,
      assertLease: () => {},
      carried: undefined,
      isRequested: true,
      superseded: async () => false,
    };
    expect(await flows(key)?.(run)).toMatchObject({ outcome: "unreachable", dueInMs: 750 });
  },
);

test("each declared kind has its own flow", () => {
  const named = ({ group, kind }: KindDeclaration) => `${kind}.${group}`;
  expect(kinds.map(named)).toEqual(declaredKinds.map(named));
  expect(new Set(kinds.map(({ flow }) => flow)).size).toBe(declaredKinds.length);
});

test("a flow is selected by the group and name of its kind", () => {
  const key = keyOf("web");
  expect(flows(key)).toBeDefined();
  expect(flows({ ...key, kind: "Kustomize" })).toBeUndefined();
  expect(flows({ ...key, group: "kustomize.config.k8s.io" })).toBeUndefined();
});

test("objects of another cluster have no flow here, those of a served one always get the same", () => {
  const key = keyOf("web");
  const clusters = servedClusters([
    {
      id: key.cluster,
      open: () => ({ home: noHome, targetAs: () => noTarget, gated: () => noTarget, gate: openGate }),
    },
  ]);
  const made: string[] = [];
  const flowOf = flowsOfClusters(clusters, ({ id }) => {
    made.push(id);
    return flows;
  });
  expect(flowOf({ ...key, cluster: "other" })).toBeUndefined();
  expect(flowOf(key)).toBe(flows(key));
  expect(flowOf(keyOf("db"))).toBe(flows(key));
  expect(made).toEqual([key.cluster]);
});
