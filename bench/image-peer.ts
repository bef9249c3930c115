import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { mapLimit } from "../lib/core/concurrency.ts";
import { isJsonObject } from "../lib/core/json.ts";
import type { LiveObject } from "../lib/core/manifest.ts";
import { systemClock } from "../lib/process/system-clock.ts";
import { gitRepository, gitServer } from "../test/doubles/git-server.ts";
import { type ImageClient, imageClient } from "../test/e2e/recorded-images/image-registry.ts";
import { type Figure, figure, type Limit } from "./figure.ts";
import { apply, besideBoth, type Cost, costOf, namespace, type Peer, request, until } from "./peers.ts";

const { signal } = new AbortController();
const patienceMs = 180_000;
const manyTags = 5_000;
const manyFiles = 500;
const lookAgainMs = 5;
/** What a commit leaves to do, such as the status, is not counted for the next round. */
const settleMs = 500;

const controllers = {
  "source-controller": [],
  "image-reflector-controller": [],
  "image-automation-controller": [],
} as const;

/** What is measured, how often, and the goal for Sluice in milliseconds. */
const moments = {
  "tag pushed to commit on the branch": { rounds: 10, goalMs: 300 },
  "nothing new": { rounds: 10, goalMs: 20 },
  [`scan of unchanged ${manyTags} tags`]: { rounds: 10, goalMs: 120 },
  [`policy over ${manyTags} tags`]: { rounds: 5, goalMs: 100 },
  [`tag pushed to a commit of ${manyFiles} files`]: { rounds: 2, goalMs: 1_000 },
} as const;

/**
 * Image automation by Flux's controllers and by Sluice, each on a fresh control plane, with one registry and git over HTTP: wall time as
 * a client of the API server or of the branch sees it, and what the processes use for it. Flux scans on request, as `flux reconcile`
 * asks; Sluice by the event of its registry, which is in its own process.
 */
export async function imagePeer(): Promise<readonly Figure[]> {
  const measured = await besideBoth({ bench: "imagePeer", flux: controllers }, measure);
  if (measured === undefined) return [];
  return [...figuresOf("Flux", measured.flux), ...figuresOf("Sluice", measured.sluice)];
}

type Costs = Readonly<Record<string, readonly Cost[]>>;

function figuresOf(name: "Flux" | "Sluice", costs: Costs): readonly Figure[] {
  return Object.entries(costs).flatMap(([moment, taken]) => {
    const goal = Object.entries(moments).find(([key]) => key === moment)?.[1].goalMs;
    const limit: Limit | undefined =
      name === "Sluice" && goal !== undefined ? { of: "median", atMost: goal } : undefined;
    const sumOf = (what: "cpu" | "peakMb") =>
      taken.map(({ used }) => Object.values(used).reduce((sum, one) => sum + one[what], 0));
    const title = `${moment}, ${name}`;
    return [
      figure(
        title,
        "ms",
        taken.map(({ ms }) => ms),
        limit,
      ),
      figure(
        `${title}, processor time`,
        "ms",
        sumOf("cpu").map((seconds) => 1_000 * seconds),
      ),
      figure(`${title}, memory of all its processes`, "MB", sumOf("peakMb")),
    ];
  });
}

async function measure(peer: Peer): Promise<Costs> {
  await using open = new AsyncDisposableStack();
  const images = imageClient(peer.registry, peer.http, signal);
  const costs: Record<string, Cost[]> = {};
  const measured = async (moment: keyof typeof moments, work: (round: number) => Promise<void>): Promise<void> => {
    const { rounds } = moments[moment];
    const taken: Cost[] = [];
    // One round more, which warms up and does not count; if there are few long rounds, all count.
    for (let round = 0; round <= rounds; round++) {
      taken.push(await costOf(peer, () => work(round)));
      await systemClock.sleep(settleMs, signal);
    }
    costs[moment] = taken.slice(rounds === 2 ? 0 : 1);
  };
  await images.push("one", "1.0.0", "1.0.0");
  const one = await automation("one", 1, peer, open);
  await measured("tag pushed to commit on the branch", (round) =>
    pushedToCommit("one", `1.1.${round}`, one, images, peer),
  );
  await measured("nothing new", () => requested("ImageUpdateAutomation", "one", peer));
  await manyTagged(images);
  await scanned("many", peer);
  await measured(`scan of unchanged ${manyTags} tags`, () => requested("ImageRepository", "many", peer));
  await measured(`policy over ${manyTags} tags`, async (round) => {
    await policy(`many-${round}`, "many", peer);
    await until(peer, "ImagePolicy", `many-${round}`, (live) =>
      JSON.stringify(live["status"] ?? {}).includes(`1.0.${manyTags - 1}`),
    );
  });
  await images.push("wide", "1.0.0", "1.0.0");
  const wide = await automation("wide", manyFiles, peer, open);
  await measured(`tag pushed to a commit of ${manyFiles} files`, (round) =>
    pushedToCommit("wide", `1.1.${round}`, wide, images, peer),
  );
  return costs;
}

/** A repository of files with a marker each, its automation, and the images that it follows: at rest once this returns. */
async function automation(name: string, files: number, peer: Peer, open: AsyncDisposableStack) {
  const git = open.use(await gitRepository());
  await git.git("config", "http.receivepack", "true");
  const { url } = open.use(await gitServer(git));
  const image = `${peer.registry}/${name}:1.0.0`;
  const fileOf = (at: number): readonly [string, string] => [
    `deploy/${at}.yaml`,
    deployment(`${name}-${at}`, image, name),
  ];
  await git.commit(Object.fromEntries(Array.from({ length: files }, (_, at) => fileOf(at))));
  await scanned(name, peer);
  await policy(name, name, peer);
  await until(peer, "ImagePolicy", name, isReady);
  await apply(peer, "GitRepository", name, { interval: "1h", url, ref: { branch: "main" } });
  const author = { name: "Bench", email: "bench@example.com" };
  await apply(peer, "ImageUpdateAutomation", name, {
    interval: "1h",
    sourceRef: { kind: "GitRepository", name },
    git: { commit: { author } },
    update: { path: "./deploy", strategy: "Setters" },
    policySelector: { matchLabels: { bench: name } },
  });
  await until(peer, "ImageUpdateAutomation", name, isReady);
  return async (): Promise<string> => (await readFile(join(git.root, "repository.git/refs/heads/main"), "utf8")).trim();
}

async function scanned(name: string, peer: Peer): Promise<void> {
  await apply(peer, "ImageRepository", name, { interval: "1h", image: `${peer.registry}/${name}`, insecure: true });
  await until(peer, "ImageRepository", name, isReady);
}

async function policy(name: string, repository: string, { cluster }: Peer): Promise<void> {
  const metadata = { name, namespace, labels: { bench: name } };
  const spec = { imageRepositoryRef: { name: repository }, policy: { semver: { range: ">=1.0.0" } } };
  const manifest = { apiVersion: "image.toolkit.fluxcd.io/v1", kind: "ImagePolicy", metadata, spec };
  await cluster.apply(manifest, { manager: "bench", force: true }, signal);
}

async function pushedToCommit(
  name: string,
  tag: string,
  head: () => Promise<string>,
  images: ImageClient,
  peer: Peer,
): Promise<void> {
  const before = await head();
  await images.push(name, tag, tag);
  if (!peer.hearsPushes) await request(peer, "ImageRepository", name);
  const deadline = Date.now() + patienceMs;
  while ((await head()) === before) {
    if (Date.now() > deadline) throw new Error(`${peer.name} has made no commit for ${name}:${tag}`);
    await systemClock.sleep(lookAgainMs, signal);
  }
}

async function requested(kind: "ImageRepository" | "ImageUpdateAutomation", name: string, peer: Peer): Promise<void> {
  const value = await request(peer, kind, name);
  await until(peer, kind, name, ({ status }) => isJsonObject(status) && status["lastHandledReconcileAt"] === value);
}

async function manyTagged(images: ImageClient): Promise<void> {
  const tags = Array.from({ length: manyTags }, (_, at) => `1.0.${at}`);
  await mapLimit(tags, 8, (tag) => images.push("many", tag, "the same"), signal);
}

function isReady({ status }: LiveObject): boolean {
  return /"type":"Ready"/.test(JSON.stringify(status)) && /"status":"True"/.test(JSON.stringify(status));
}

/** A Deployment as a team writes it. */
function deployment(name: string, image: string, policyName: string): string {
  return [
    "apiVersion: apps/v1",
    "kind: Deployment",
    `metadata: { name: ${name}, labels: { app: ${name} } }`,
    "spec:",
    "  replicas: 2",
    `  selector: { matchLabels: { app: ${name} } }`,
    "  template:",
    `    metadata: { labels: { app: ${name} } }`,
    "    spec:",
    "      containers:",
    "        - name: app",
    `          image: ${image} # {"$imagepolicy": "${namespace}:${policyName}"}`,
    "          ports: [{ containerPort: 8080 }]",
    "",
  ].join("\n");
}
