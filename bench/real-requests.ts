import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { JsonObject } from "../lib/core/json.ts";
import { systemClock } from "../lib/process/system-clock.ts";
import { mayHaveOwnControlPlane, ownControlPlane } from "../test/real/own-control-plane.ts";
import { type AuditLog, auditLog, type Requests } from "./audit-log.ts";
import { type Figure, figure } from "./figure.ts";
import { configMap, type SluiceUnderTest, sluiceUnderTest } from "./sluice-under-test.ts";

const example = join(import.meta.dirname, "../examples/oddy-test/manifests");
const manyObjects = 2_000;
/** Time until the effects of the first runs have ended. */
const restMs = 1_000;
const namespace = "default";
/** The client that acts as the user. */
const users = ["bench", "flux"];

interface Story {
  readonly title: string;
  readonly source: string;
  readonly rounds: number;
  /** The kind and name of the object that the small change changes. */
  readonly target: { readonly apiVersion: string; readonly kind: string; readonly name: string };
}
const stories: readonly Story[] = [
  {
    title: "four objects",
    source: "few",
    rounds: 5,
    target: { apiVersion: "apps/v1", kind: "Deployment", name: "oddy-test-deployment" },
  },
  {
    title: "2,000 objects",
    source: "many",
    rounds: 1,
    target: { apiVersion: "v1", kind: "ConfigMap", name: "many-7" },
  },
];

/**
 * On a control plane of its own, the requests of one run of a Kustomization, from the audit log of the API server, and
 * how fast a first apply of 2,000 objects is. Needs the real parts to be installed (`npm run real -- up`).
 */
export async function realRequests(): Promise<readonly Figure[]> {
  if (!mayHaveOwnControlPlane()) {
    process.stderr.write(
      "realRequests is left out: SLUICE_REAL_KUBECONFIG names no control plane (npm run real -- up)\n",
    );
    return [];
  }
  await using plane = await ownControlPlane();
  await using sluice = await sluiceUnderTest(["--kubeconfig", plane.kubeconfig]);
  const audit = auditLog(plane.audit);
  const names = Array.from({ length: manyObjects }, (_, index) => `many-${index}`);
  await publish(sluice, "few", await exampleFiles());
  await publish(sluice, "many", Object.fromEntries(names.map((name) => [`${name}.yaml`, configMap(name, "1")])));
  const figures: Figure[] = [];
  for (const story of stories) figures.push(...(await play(story, sluice, audit)));
  return figures;
}

async function exampleFiles(): Promise<Readonly<Record<string, string>>> {
  const files = (await readdir(example)).filter((file) => file !== "kustomization.yaml");
  return Object.fromEntries(
    await Promise.all(files.map(async (file) => [file, await readFile(join(example, file), "utf8")] as const)),
  );
}

/** Pushes an artifact and waits until its source has it. Nothing of it is applied yet. */
async function publish(sluice: SluiceUnderTest, name: string, files: Readonly<Record<string, string>>): Promise<void> {
  await sluice.follow(name, { path: "./", suspend: true });
  const { revision } = await sluice.push(name, files);
  const ref = { group: "source.toolkit.fluxcd.io", version: "v1", kind: "OCIRepository", namespace, name };
  const signal = AbortSignal.timeout(60_000);
  while (!JSON.stringify((await sluice.cluster.get(ref, signal))?.["status"]).includes(`"revision":"${revision}"`)) {
    await systemClock.sleep(100, signal);
  }
}

async function play({ title, source, rounds, target }: Story, sluice: SluiceUnderTest, audit: AuditLog) {
  const seen = { "first apply": [], "one changed": [], "all changed": [], unchanged: [] } satisfies Record<
    string,
    Requests[]
  >;
  const counted: Record<keyof typeof seen, Requests[]> = seen;
  const first: number[] = [];
  const count = async (moment: keyof typeof seen, work: () => Promise<unknown>): Promise<void> => {
    const start = await audit.end();
    await work();
    await systemClock.sleep(restMs, AbortSignal.timeout(2 * restMs));
    counted[moment].push(await audit.since(start, "sluice", users));
  };
  for (let round = 0; round < rounds; round++) {
    const name = `${source}-${round}`;
    const spec = {
      interval: "1h",
      prune: true,
      sourceRef: { kind: "OCIRepository", name: source },
      namePrefix: `r${round}-`,
    };
    const { apiVersion, kind } = target;
    const patch = JSON.stringify({ apiVersion, kind, metadata: { name: "any", annotations: { bench: "1" } } });
    const patches = [{ target: { kind, name: target.name }, patch }];
    await count("first apply", async () => {
      await apply(sluice, name, spec);
      first.push(await sluice.applied(name));
    });
    await count("unchanged", () => sluice.reconcile(name));
    await count("one changed", () => nextRun(sluice, name, { ...spec, patches }));
    await count("all changed", () =>
      nextRun(sluice, name, { ...spec, patches, commonMetadata: { labels: { bench: "1" } } }),
    );
  }
  const rate = first.map((ms) => manyObjects / (ms / 1_000));
  return [
    ...Object.entries(counted).flatMap(([moment, samples]) => requestFigures(`${title}, ${moment}`, samples)),
    ...(source === "many"
      ? [figure("2,000 objects, first apply on a control plane", "objects a second", rate, { of: "min", atLeast: 100 })]
      : []),
  ];
}

async function apply({ cluster }: SluiceUnderTest, name: string, spec: JsonObject): Promise<void> {
  const manifest = {
    apiVersion: "kustomize.toolkit.fluxcd.io/v1",
    kind: "Kustomization",
    metadata: { name, namespace },
    spec,
  };
  await cluster.apply(manifest, { manager: "bench", force: true }, AbortSignal.timeout(10_000));
}

async function nextRun(sluice: SluiceUnderTest, name: string, spec: JsonObject): Promise<void> {
  const ends = sluice.process.ends.filter(({ key }) => key.kind === "Kustomization" && key.name === name).length;
  await apply(sluice, name, spec);
  await sluice.end(name, ends + 1);
}

function requestFigures(title: string, samples: readonly Requests[]): readonly Figure[] {
  const verbs = [...new Set(samples.flatMap((requests) => Object.keys(requests)))].toSorted();
  const numbersOf = (verb: string): readonly number[] => samples.map((requests) => requests[verb] ?? 0);
  const all = samples.map((requests) => Object.values(requests).reduce((sum, number) => sum + number, 0));
  return [
    ...verbs.map((verb) => figure(`${title}, API server: ${verb}`, "requests", numbersOf(verb))),
    figure(`${title}, API server: all`, "requests", all),
  ];
}
