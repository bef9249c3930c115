import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "vitest";
import { z } from "zod";
import { Condition, findCondition } from "../../../lib/api/condition.ts";
import { digestOf } from "../../../lib/core/digest.ts";
import { isJsonObject, type JsonObject } from "../../../lib/core/json.ts";
import type { Manifest } from "../../../lib/core/manifest.ts";
import { homeNetwork } from "../../../lib/core/network/network-policy.ts";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import { httpClient } from "../../../lib/http/http-client.ts";
import { connect } from "../../../lib/kube/connect.ts";
import { readKubeconfig } from "../../../lib/kube/kubeconfig.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { mediaTypes } from "../../../lib/sources/oci/media-types.ts";
import { registryClients } from "../../../lib/sources/oci/registry-client.ts";
import { type SpawnedLocal, spawnLocal } from "../../../local/sluice-process.ts";
import { deadlineMs } from "../../deadline.ts";
import { artifactOf, type Files } from "../../unit/manifests/build-files.ts";
import { leaks, toldByObjects } from "../canary.ts";

const { signal } = new AbortController();
/** Bad input has its answer, and meanwhile the others go on. */
const answerWithin = { timeout: deadlineMs, interval: 50 };
const options = { manager: "test", force: true };

const groups = {
  OCIRepository: "source.toolkit.fluxcd.io",
  Kustomization: "kustomize.toolkit.fluxcd.io",
} as const;
type Kind = keyof typeof groups;

/** `sluice local` as a process, a user's ways to it, and a bystander: a Kustomization that has nothing to do with it. */
export interface BadInputWorld extends AsyncDisposable {
  readonly local: SpawnedLocal;
  readonly cluster: Cluster;
  /** Every line that it logged, requests too. */
  readonly log: readonly string[];
  /** What the log says at the level error of the failed runs of an object. */
  failedRuns(kind: Kind, name: string): readonly string[];
  /** Pushes these files, or a layer as it is, as `REPOSITORY:v1` to the embedded registry. */
  push(repository: string, content: Files | Uint8Array): Promise<void>;
  /** Applies an OCIRepository of the embedded registry's repository of that name. */
  source(name: string, spec?: JsonObject): Promise<void>;
  /** Applies a Kustomization of the source of that name. */
  kustomization(name: string, spec?: JsonObject): Promise<void>;
  /** The Ready condition as `status reason: message`, or an empty text without one. */
  ready(kind: Kind, name: string): Promise<string>;
  /** What Ready says as soon as it has this in it. Meanwhile a push to the bystander is applied. */
  answer(kind: Kind, name: string, part: string): Promise<string>;
  has(name: string): Promise<boolean>;
  /** Where the canary is shown: in statuses, events, its log or its state. Also checked when the world ends. */
  leaks(): Promise<readonly string[]>;
}

/**
 * @param env what the process inherits beside the environment of the tests
 * @param settings those of the installation
 */
export async function badInputWorld(
  env: Readonly<Record<string, string>> = {},
  settings: JsonObject = {},
): Promise<BadInputWorld> {
  await using making = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "sluice-bad-input-"));
  making.defer(() => rm(folder, { recursive: true, force: true }));
  const log: string[] = [];
  const config = join(folder, "settings.json");
  await writeFile(config, JSON.stringify(settings));
  const args = ["--state", join(folder, "state"), "--config", config, "--verbose"];
  const start = (): Promise<SpawnedLocal> => spawnLocal(args, signal, (line) => log.push(line));
  const local = await withEnvironment(env, start);
  making.defer(async () => void (await local.end("SIGKILL")));
  const http = httpClient({ network: homeNetwork });
  making.defer(() => http.close());
  const kubeconfig = await readKubeconfig({ file: local.kubeconfig, env: {}, homeDir: homedir() });
  const cluster = connect(kubeconfig, { clock: systemClock, env: {} });
  making.defer(() => cluster.close());
  const client = registryClients(http, systemClock)({ host: local.registry, insecure: true });

  const push: BadInputWorld["push"] = async (repository, content) => {
    const layer = content instanceof Uint8Array ? content : await artifactOf(content);
    const configuration = Buffer.from("{}");
    const described = (mediaType: string, bytes: Uint8Array): JsonObject => ({
      mediaType,
      digest: digestOf(bytes),
      size: bytes.length,
    });
    const manifest = {
      schemaVersion: 2,
      mediaType: mediaTypes.manifest,
      config: described(mediaTypes.fluxConfig, configuration),
      layers: [described(mediaTypes.fluxContent, layer)],
    };
    await client.pushBlob(repository, configuration, signal);
    await client.pushBlob(repository, layer, signal);
    const bytes = Buffer.from(JSON.stringify(manifest));
    await client.pushManifest(repository, "v1", mediaTypes.manifest, bytes, signal);
  };

  const apply = async (kind: Kind, name: string, spec: JsonObject): Promise<void> => {
    const metadata = { name, namespace: "default" };
    await cluster.apply({ apiVersion: `${groups[kind]}/v1`, kind, metadata, spec }, options, signal);
  };
  const source: BadInputWorld["source"] = (name, spec = {}) =>
    apply("OCIRepository", name, {
      interval: "1h",
      url: `oci://${local.registry}/${name}`,
      ref: { tag: "v1" },
      insecure: true,
      ...spec,
    });
  const kustomization: BadInputWorld["kustomization"] = (name, spec = {}) =>
    apply("Kustomization", name, {
      interval: "1h",
      path: ".",
      prune: true,
      sourceRef: { kind: "OCIRepository", name },
      ...spec,
    });

  const ready: BadInputWorld["ready"] = async (kind, name) => {
    const ref = { group: groups[kind], version: "v1", kind, namespace: "default", name };
    const status = (await cluster.get(ref, signal))?.["status"];
    const conditions = isJsonObject(status) ? Condition.array().safeParse(status["conditions"]).data : undefined;
    const condition = findCondition(conditions ?? [], "Ready");
    return condition === undefined ? "" : `${condition.status} ${condition.reason}: ${condition.message}`;
  };
  const readyOnce: BadInputWorld["answer"] = async (kind, name, part) => {
    const deadline = Date.now() + deadlineMs;
    for (;;) {
      const said = await ready(kind, name);
      if (said.includes(part) || Date.now() > deadline) return said;
      await systemClock.sleep(answerWithin.interval, signal);
    }
  };
  const configMap = async (name: string): Promise<Manifest | undefined> =>
    cluster.get({ group: "", version: "v1", kind: "ConfigMap", namespace: "default", name }, signal);

  let pushes = 0;
  const bystanderGoesOn = async (): Promise<void> => {
    const data = { pushed: String(++pushes) };
    await push("bystander", { "a.yaml": configMapYaml("bystander", data) });
    await expect.poll(async () => (await configMap("bystander"))?.["data"], answerWithin).toEqual(data);
  };
  await source("bystander");
  await kustomization("bystander");

  const told = async (): Promise<readonly string[]> => {
    const queries = [...Object.entries(groups).map(([kind, group]) => ({ group, kind })), { group: "", kind: "Event" }];
    const objects = await Promise.all(queries.map((query) => cluster.list({ ...query, version: "v1" }, signal)));
    const state = { where: "the state", text: rowsOf(join(local.state, "state.db")) };
    return leaks([...toldByObjects(objects.flat()), { where: "the log", text: log.join("\n") }, state]);
  };

  const made = making.move();
  return {
    local,
    cluster,
    log,
    push,
    source,
    kustomization,
    ready,
    async answer(kind, name, part) {
      const [said] = await Promise.all([readyOnce(kind, name, part), bystanderGoesOn()]);
      return said;
    },
    failedRuns: (kind, name) => failedRuns(log, kind, name),
    has: async (name) => (await configMap(name)) !== undefined,
    leaks: told,
    async [Symbol.asyncDispose]() {
      await using _world = made;
      expect(await told(), "where a value of a Secret is told").toEqual([]);
    },
  };
}

const FailedRun = z.object({
  level: z.literal("error"),
  message: z.literal("reconcile failed"),
  key: z.object({ kind: z.string(), name: z.string() }),
  reason: z.string(),
  error: z.string(),
});

function failedRuns(log: readonly string[], kind: Kind, name: string): readonly string[] {
  return log.flatMap((line) => {
    if (!line.startsWith("{")) return [];
    const { data } = FailedRun.safeParse(JSON.parse(line));
    return data?.key.kind === kind && data.key.name === name ? `${data.reason}: ${data.error}` : [];
  });
}

/** All rows of all tables. */
function rowsOf(file: string): string {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    return JSON.stringify(tables.map(({ name }) => database.prepare(`SELECT * FROM "${String(name)}"`).all()));
  } finally {
    database.close();
  }
}

export function configMapYaml(name: string, data: Readonly<Record<string, string>> = { a: "b" }): string {
  const metadata = { name, namespace: "default" };
  return `${JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata, data })}\n`;
}

/** Processes that are started meanwhile inherit these variables. */
async function withEnvironment<Result>(
  env: Readonly<Record<string, string>>,
  work: () => Promise<Result>,
): Promise<Result> {
  Object.assign(process.env, env);
  try {
    return await work();
  } finally {
    for (const name of Object.keys(env)) Reflect.deleteProperty(process.env, name);
  }
}
