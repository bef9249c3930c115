import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { findCondition } from "../lib/api/condition.ts";
import { parseKustomization } from "../lib/api/kustomization.ts";
import { type Figure, figure } from "./figure.ts";
import { apply, applyingControllers, besideBoth, namespace, type Peer, push, request, timed, until } from "./peers.ts";

const example = join(import.meta.dirname, "../examples/oddy-test/manifests");
const manyObjects = 500;
const sizes = [
  { title: "four objects", source: "few", rounds: 5 },
  { title: "500 objects", source: "many", rounds: 3 },
] as const;

/**
 * Real Flux and Sluice on the same kind of control plane, one after the other, each on a fresh one: wall time from a push, or from
 * the request, to Ready as a client of the API server sees it.
 */
export async function fluxPeer(): Promise<readonly Figure[]> {
  const measured = await besideBoth({ bench: "fluxPeer", flux: applyingControllers }, measure);
  return measured === undefined ? [] : [...measured.flux, ...measured.sluice];
}

async function measure(peer: Peer): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const { title, source, rounds } of sizes) {
    const times = { "first apply": [], "push to Ready": [], unchanged: [] } satisfies Record<string, number[]>;
    const seen: Record<keyof typeof times, number[]> = times;
    for (let round = 0; round < rounds; round++) {
      const name = `${source}-${round}`;
      const first = await push(peer, name, await filesOf(source, "1"));
      await apply(peer, "OCIRepository", name, {
        interval: "1h",
        url: `oci://${peer.registry}/${name}`,
        insecure: true,
        ref: { tag: "v1" },
      });
      await until(peer, "OCIRepository", name, (live) => JSON.stringify(live["status"]).includes(first));
      seen["first apply"].push(
        await timed(async () => {
          const spec = { interval: "1h", prune: true, path: "./", sourceRef: { kind: "OCIRepository", name } };
          await apply(peer, "Kustomization", name, { ...spec, namePrefix: `${name}-` });
          await ready(peer, name, first);
        }),
      );
      seen["push to Ready"].push(
        await timed(async () => {
          const second = await push(peer, name, await filesOf(source, "2"));
          if (!peer.hearsPushes) await request(peer, "OCIRepository", name);
          await ready(peer, name, second);
        }),
      );
      seen.unchanged.push(
        await timed(async () => {
          const value = await request(peer, "Kustomization", name);
          await until(peer, "Kustomization", name, (live) =>
            JSON.stringify(live["status"]).includes(`"lastHandledReconcileAt":"${value}"`),
          );
        }),
      );
    }
    for (const [moment, samples] of Object.entries(seen)) {
      figures.push(figure(`${title}, ${moment}, ${peer.name} on a control plane`, "ms", samples));
    }
  }
  return figures;
}

function ready(peer: Peer, name: string, digest: string): Promise<void> {
  return until(peer, "Kustomization", name, (live) => {
    const condition = findCondition(parseKustomization(live).status.conditions ?? [], "Ready");
    return condition?.status === "True" && condition.message.endsWith(digest);
  });
}

/** The four objects of examples/oddy-test, or many small objects; every value changes in the next revision. */
async function filesOf(source: "few" | "many", revision: string): Promise<Readonly<Record<string, string>>> {
  if (source === "few") {
    const texts = await Promise.all((await readdir(example)).map((file) => readFile(join(example, file), "utf8")));
    const changed = (text: string) =>
      text.replaceAll(/^( {2}namespace: .*)$/gm, `$1\n  annotations: {bench: "${revision}"}`);
    return Object.fromEntries(texts.map((text, index) => [`${index}.yaml`, changed(text)]));
  }
  const names = Array.from({ length: manyObjects }, (_, index) => `many-${index}`);
  return Object.fromEntries(
    names.map((name) => [
      `${name}.yaml`,
      JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace }, data: { revision } }),
    ]),
  );
}
