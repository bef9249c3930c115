import { findCondition } from "../lib/api/condition.ts";
import { parseKustomization } from "../lib/api/kustomization.ts";
import type { LiveObject } from "../lib/core/manifest.ts";
import { systemClock } from "../lib/process/system-clock.ts";
import { type Figure, figure } from "./figure.ts";
import { apply, applyingControllers, besideBoth, namespace, type Peer, push, request, timed, until } from "./peers.ts";

const count = 100;
const rounds = 1;
/** A whole list each time: seldom enough not to load the API server. */
const lookAgainMs = 100;
const patienceMs = 180_000;
const atMostOfFlux = 40;

const moments = ["first apply", "push to Ready", "unchanged"] as const;
type Times = Readonly<Record<(typeof moments)[number], readonly number[]>>;

/**
 * 100 Kustomizations that build one folder of one artifact, each with variables of its own, by real Flux and by Sluice: wall time from
 * the first of them, from a push, or from the first request, until all of them are Ready as a client of the API server sees it.
 */
export async function hundredKustomizations(): Promise<readonly Figure[]> {
  const measured = await besideBoth({ bench: "hundredKustomizations", flux: applyingControllers }, measure);
  if (measured === undefined) return [];
  const { flux, sluice } = measured;
  return moments.flatMap((moment) => {
    const title = `${count} Kustomizations of one folder, ${moment}`;
    const shares = sluice[moment].map((ms, round) => (100 * ms) / (flux[moment][round] ?? Number.NaN));
    return [
      figure(`${title}, Flux on a control plane`, "ms", flux[moment]),
      figure(`${title}, Sluice on a control plane`, "ms", sluice[moment]),
      figure(`${title}, Sluice's time`, "percent of Flux's", shares, { of: "median", atMost: atMostOfFlux }),
    ];
  });
}

async function measure(peer: Peer): Promise<Times> {
  const times: Record<keyof Times, number[]> = { "first apply": [], "push to Ready": [], unchanged: [] };
  for (let round = 0; round < rounds; round++) {
    const source = `units-${round}`;
    const units = Array.from({ length: count }, (_, index) => `${source}-${index}`);
    const first = await push(peer, source, filesOf("1"));
    const url = `oci://${peer.registry}/${source}`;
    await apply(peer, "OCIRepository", source, { interval: "1h", url, insecure: true, ref: { tag: "v1" } });
    await until(peer, "OCIRepository", source, (live) => JSON.stringify(live["status"]).includes(first));
    times["first apply"].push(
      await timed(async () => {
        await Promise.all(units.map((unit, index) => follow(peer, source, unit, index)));
        await untilAll(peer, source, (live) => isReady(live, first));
      }),
    );
    times["push to Ready"].push(
      await timed(async () => {
        const second = await push(peer, source, filesOf("2"));
        if (!peer.hearsPushes) await request(peer, "OCIRepository", source);
        await untilAll(peer, source, (live) => isReady(live, second));
      }),
    );
    times.unchanged.push(
      await timed(async () => {
        const asked = new Map<string, string>();
        await Promise.all(units.map(async (unit) => asked.set(unit, await request(peer, "Kustomization", unit))));
        await untilAll(peer, source, (live) => {
          const { lastHandledReconcileAt } = parseKustomization(live).status;
          return lastHandledReconcileAt === asked.get(live.metadata.name);
        });
      }),
    );
  }
  return times;
}

function follow(peer: Peer, source: string, unit: string, index: number): Promise<void> {
  const substitute = { unit, zone: `zone-${index % 3}`, size: String(index) };
  const sourceRef = { kind: "OCIRepository", name: source };
  const spec = { interval: "1h", prune: true, path: "./app", targetNamespace: namespace, sourceRef };
  return apply(peer, "Kustomization", unit, { ...spec, postBuild: { substitute } });
}

function isReady(live: LiveObject, digest: string): boolean {
  const condition = findCondition(parseKustomization(live).status.conditions ?? [], "Ready");
  return condition?.status === "True" && condition.message.endsWith(digest);
}

/** Until this holds for every Kustomization of the source. */
async function untilAll({ cluster }: Peer, source: string, holds: (live: LiveObject) => boolean): Promise<void> {
  const signal = AbortSignal.timeout(patienceMs);
  const query = { group: "kustomize.toolkit.fluxcd.io", version: "v1", kind: "Kustomization", namespace };
  for (;;) {
    const live = await cluster.list(query, signal);
    const held = live.filter(({ metadata }) => metadata.name.startsWith(`${source}-`)).filter((one) => holds(one));
    if (held.length === count) return;
    await systemClock.sleep(lookAgainMs, signal);
  }
}

/** A small application: every object holds variables, and every value changes in the next revision. */
function filesOf(revision: string): Readonly<Record<string, string>> {
  const metadata = (part: string) => ({ name: `\${unit}-${part}`, labels: { zone: "${zone:=none}" } });
  const configMap = (part: string) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: metadata(part),
    data: { revision, size: "size-${size}", host: `\${unit}.\${zone}.example.com` },
  });
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: metadata("account") };
  const service = {
    apiVersion: "v1",
    kind: "Service",
    metadata: { ...metadata("web"), annotations: { revision } },
    spec: { selector: { app: "${unit}" }, ports: [{ port: 80 }] },
  };
  const objects = { account, service, settings: configMap("settings"), hosts: configMap("hosts") };
  return Object.fromEntries(
    Object.entries(objects).map(([name, object]) => [`app/${name}.yaml`, JSON.stringify(object)]),
  );
}
