import { createServer, type IncomingHttpHeaders } from "node:http";
import { afterEach, beforeEach } from "vitest";
import { Conditions } from "../../../../lib/api/condition.ts";
import { HelmChartStatus } from "../../../../lib/api/helm-chart.ts";
import { declaredKinds } from "../../../../lib/api/kinds/declared-kinds.ts";
import { type Digest, digestOf } from "../../../../lib/core/digest.ts";
import { isJsonObject, type JsonObject } from "../../../../lib/core/json.ts";
import type { LiveObject, Manifest } from "../../../../lib/core/manifest.ts";
import type { FlowResult } from "../../../../lib/core/ports/run.ts";
import type { WorkKey } from "../../../../lib/core/work-key.ts";
import { helmChartFlow } from "../../../../lib/flows/helm-chart/helm-chart-flow.ts";
import { sourcesAmong } from "../../../../lib/flows/source/read-source.ts";
import { archiveTree } from "../../../../lib/sources/archive/archive-tree.ts";
import { readIndex } from "../../../../lib/sources/helm/chart-index.ts";
import { defaultIndexLimits } from "../../../../lib/sources/helm/index-limits.ts";
import { mediaTypes } from "../../../../lib/sources/oci/media-types.ts";
import { untilDeadline } from "../../../deadline.ts";
import { closeServer } from "../../../doubles/close-server.ts";
import { portOnLoopback } from "../../../doubles/port-on-loopback.ts";
import { type Files, packed } from "../../sources/helm/charts.ts";
import { sourceWorld } from "../source-world.ts";

export type HelmChartWorld = Awaited<ReturnType<typeof open>>;

/** A world for each test of the file. */
export function helmChartWorld(): () => HelmChartWorld {
  let world: HelmChartWorld;
  beforeEach(async () => {
    world = await open();
  });
  afterEach(() => world.close());
  return () => world;
}

/** An answer that asks for a login. */
interface Refusal {
  readonly status: number;
  readonly challenge: string;
  readonly body: string;
}

/** Requests for a file of the server, with what they say of a login. */
interface Asked {
  readonly url: string;
  readonly authorization: IncomingHttpHeaders["authorization"];
}

async function open() {
  const world = await sourceWorld(undefined, "HelmChart");
  const asked: Asked[] = [];
  const files = new Map<string, Uint8Array | number | Refusal>();
  const server = createServer((request, response) => {
    const { url = "", headers } = request;
    asked.push({ url, authorization: headers.authorization });
    const found = files.get(url.replace(/\?.*$/, "")) ?? 404;
    if (typeof found === "number") response.writeHead(found).end();
    else if (found instanceof Uint8Array) response.writeHead(200).end(found);
    else response.writeHead(found.status, { "www-authenticate": found.challenge }).end(found.body);
  });
  const address = `http://127.0.0.1:${await portOnLoopback(server)}`;
  const known: LiveObject[] = [];
  const status = async (manifest: Manifest, fields: JsonObject): Promise<void> => {
    world.apply(manifest);
    const { name, namespace = "" } = manifest.metadata;
    const ref = { group: "source.toolkit.fluxcd.io", version: "v1", kind: manifest.kind, namespace, name };
    const live = await world.deps.home.patch(
      ref,
      { type: "merge", body: { status: fields } },
      { manager: "test" },
      untilDeadline(),
    );
    known.splice(
      0,
      known.length,
      ...known.filter((one) => one.metadata.name !== name || one.kind !== manifest.kind),
      live,
    );
  };
  /** Stores an artifact as the flow of its source does, under a revision. */
  const stored = async (manifest: Manifest, bytes: Uint8Array, revision: string): Promise<void> => {
    const digest = digestOf(bytes);
    await world.deps.artifacts.put(digest, bytes);
    const url = "http://example.test/artifact";
    const artifact = { digest, revision, path: "x", url, lastUpdateTime: "2026-11-21T12:00:00Z" };
    await status(manifest, { artifact });
  };
  return {
    ...world,
    address,
    asked,
    files,
    /** A GitRepository, or another source, whose artifact has these files. */
    async source(
      content: Files,
      revision = "main@sha1:b587224c4adfa96f0a4d3031a6587969f2746c1b",
      kind = "GitRepository",
    ) {
      const entries = Object.entries(content).map(([path, text]) => ({
        type: "file" as const,
        path,
        mode: 0o600,
        bytes: Buffer.from(text),
      }));
      await stored(sourceOf(kind, "repo", {}), await archiveTree(entries, undefined, untilDeadline()), revision);
    },
    bare: (kind: string, name: string, spec: JsonObject) => status(sourceOf(kind, name, spec), {}),
    /** A HelmRepository of the server with these charts, each packed, and its index as it is stored. */
    async repository(
      charts: Readonly<Record<string, Files>>,
      spec: JsonObject = {},
      change = (entry: JsonObject) => entry,
    ) {
      const entries: Record<string, JsonObject[]> = {};
      for (const [file, content] of Object.entries(charts)) {
        const [, name = "", version = ""] = /^(.+?)-(\d.*)\.tgz$/.exec(file) ?? [];
        const archive = await packed(content, name);
        files.set(`/charts/${file}`, archive);
        const digest = digestOf(archive).slice("sha256:".length);
        entries[name] = [...(entries[name] ?? []), change({ apiVersion: "v2", name, version, digest, urls: [file] })];
      }
      const text = Buffer.from(JSON.stringify({ apiVersion: "v1", entries }));
      const { json } = await readIndex(text, defaultIndexLimits, untilDeadline());
      const of = sourceOf("HelmRepository", "charts", { url: `${address}/charts`, ...spec });
      await stored(of, json, digestOf(text));
    },
    /** Pushes a chart to the registry, below `charts/`. */
    async pushChart(tag: string, content: Files, name = "app") {
      const layer = await packed(content, name);
      const layers = [{ mediaType: mediaTypes.helmChart, size: layer.length, digest: digestOf(layer) }];
      await world.pushLayer(tag, layer, { layers }, `charts/${name}`);
    },
    chart(spec: JsonObject): void {
      const metadata = { name: "app", namespace: "apps" };
      const defaults = { interval: "60m", chart: "app", sourceRef: { kind: "GitRepository", name: "repo" } };
      world.apply({
        apiVersion: "source.toolkit.fluxcd.io/v1",
        kind: "HelmChart",
        metadata,
        spec: { ...defaults, ...spec },
      });
    },
    runChart: (): Promise<FlowResult> =>
      world.run("app", untilDeadline(), (deps) =>
        helmChartFlow({
          ...deps,
          home: { ...deps.home, list: async () => known.filter(({ kind }) => kind === "HelmRepository") },
          // Those of the sources are recorded by their own flows.
          records: {
            ...deps.records,
            recorded: async (of: WorkKey, uid: string, digest: Digest, signal: AbortSignal) =>
              of.kind !== "HelmChart" || deps.records.recorded(of, uid, digest, signal),
          },
          sources: sourcesAmong(declaredKinds),
        }),
      ),
    status: (): JsonObject => {
      const found = world.get("app")["status"];
      return isJsonObject(found) ? found : {};
    },
    /** `Ready=True ChartPullSucceeded: …`, of each condition. */
    conditions: (): readonly string[] => {
      const found = world.get("app")["status"];
      const conditions = Conditions.parse(isJsonObject(found) ? found["conditions"] : []);
      return conditions.map(({ type, status: is, reason, message }) => `${type}=${is} ${reason}: ${message}`);
    },
    told: (): readonly string[] =>
      world.events.map(({ type, reason, message }) => `${String(type)} ${String(reason)}: ${String(message)}`),
    artifact(): Uint8Array {
      const { artifact } = HelmChartStatus.parse(world.get("app")["status"]);
      return world.stored.get(artifact?.digest ?? "") ?? new Uint8Array();
    },
    async close() {
      await closeServer(server);
      await world.close();
    },
  };
}

function sourceOf(kind: string, name: string, spec: JsonObject): Manifest {
  const metadata = { name, namespace: "apps" };
  return { apiVersion: "source.toolkit.fluxcd.io/v1", kind, metadata, spec: { interval: "60m", ...spec } };
}

export function secret(name: string, values: Readonly<Record<string, string>>): Manifest {
  const data = Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString("base64")]),
  );
  return { apiVersion: "v1", kind: "Secret", metadata: { name, namespace: "apps" }, data };
}
