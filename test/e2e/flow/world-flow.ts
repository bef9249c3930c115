import { declaredOciRepository } from "../../../lib/api/kinds/oci-repository.ts";
import type { Clock } from "../../../lib/core/ports/clock.ts";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import { asHome, asTarget } from "../../../lib/core/ports/home-and-target.ts";
import { HttpError } from "../../../lib/core/ports/http.ts";
import type { Log } from "../../../lib/core/ports/log.ts";
import type { Metrics } from "../../../lib/core/ports/metrics.ts";
import type { Flow } from "../../../lib/core/ports/run.ts";
import { Secret } from "../../../lib/core/secret.ts";
import { kinds } from "../../../lib/flows/kinds/kinds.ts";
import { reportOutage, retryOutages, stateErrorsAsOutages } from "../../../lib/flows/kinds/outages.ts";
import type { KustomizationDeps } from "../../../lib/flows/kustomization/context.ts";
import { kustomizationFlow } from "../../../lib/flows/kustomization/kustomization-flow.ts";
import { openRemoteTarget } from "../../../lib/flows/owner/remote-target.ts";
import { accountUser } from "../../../lib/flows/owner/service-account.ts";
import { sourcesAmong } from "../../../lib/flows/source/read-source.ts";
import { unhurriedCel } from "../../doubles/unhurried-cel.ts";
import { type Fault, faultyPort } from "./faulty-port.ts";
import type { MemoryPorts } from "./memory-state.ts";
import type { WorldSettings } from "./world-settings.ts";

interface FlowDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly ports: MemoryPorts;
  readonly build: KustomizationDeps["build"];
  /** What servers of artifacts answer, by URL: the file, a status or no answer; 404 for others. */
  readonly served: ReadonlyMap<string, Uint8Array | number | HttpError>;
  readonly settings: WorldSettings;
  /** The cluster with the rights of another user. */
  readonly as: (user: string) => Cluster;
}

/** Makes the flow of one run, whose writes both clusters take only under its lease. */
export type MakeFlow = (home: Cluster, target: Cluster, checked: (cluster: Cluster) => Cluster) => Flow;

/** Of all worlds of a process. It starts with the first expression. */
const cel = unhurriedCel();

/** What a run has of the world as it is when the run begins. */
type OfRun = "home" | "remoteTargetOf" | "targetOf" | (keyof WorldSettings & keyof KustomizationDeps);

/** `once`: a run as the flow has it; `patient`: with what an installation makes of outages. */
export function flowsOf(deps: FlowDeps): { readonly once: MakeFlow; readonly patient: MakeFlow } {
  const { clock, log, metrics, ports, build, served, settings, as } = deps;
  const fault: Fault = (call) => settings.fault(call);
  const memory: Omit<KustomizationDeps, OfRun> = {
    clock,
    log,
    metrics,
    installationKey: new Secret("test"),
    concurrency: 4,
    reconciled: kinds,
    sources: sourcesAmong([declaredOciRepository]),
    http: {
      async send({ url }) {
        const found = served.get(url) ?? 404;
        if (found instanceof HttpError) throw found;
        const [status, body] = typeof found === "number" ? [found, new Uint8Array()] : [200, found];
        return { url, status, headers: {}, body };
      },
    },
    jitter: () => 0.5,
    cel,
    ...ports,
    build,
  };
  const flowOf = (with_: Omit<KustomizationDeps, OfRun>, ...[reached, target, checked]: Parameters<MakeFlow>): Flow =>
    kustomizationFlow({
      ...with_,
      home: asHome(reached),
      targetOf: async (live) => {
        const user = accountUser(live, settings.defaultServiceAccount);
        return asTarget(user === undefined ? target : faultyPort("cluster", as(user), fault));
      },
      remoteTargetOf: (live, place, stop) => {
        const gated = (remote: Cluster) => asTarget(checked(faultyPort("cluster", remote, fault)));
        const { sopsKeys, defaultKubeconfigAccount, defaultServiceAccount, gates, remoteClusters } = settings;
        const accounts = { accountTokens: sopsKeys.accountTokens, defaultKubeconfigAccount, gates };
        return openRemoteTarget(live, place, { ...accounts, remoteClusters, gated, defaultServiceAccount }, stop);
      },
      objects: settings.objects,
      noCrossNamespaceRefs: settings.noCrossNamespaceRefs,
      explainHealthFailures: settings.explainHealthFailures,
      defaultServiceAccount: settings.defaultServiceAccount,
      sopsKeys: settings.sopsKeys,
      gates: settings.gates,
      sopsIgnoreMac: settings.sopsIgnoreMac,
      timing: settings.timing,
      applyRules: settings.applyRules,
    });
  return {
    once: (...clusters) => flowOf(memory, ...clusters),
    patient: (reached, ...others) =>
      retryOutages(flowOf({ ...memory, ...stateErrorsAsOutages({ ...ports, ...memory }) }, reached, ...others), {
        ...{ clock, log, timing: settings.timing },
        report: (run, failure, wasReported) =>
          reportOutage(run, failure, wasReported, { home: asHome(reached), clock, kinds }),
      }),
  };
}
