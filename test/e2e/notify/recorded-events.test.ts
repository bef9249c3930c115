import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { z } from "zod";
import { requestedAtAnnotation } from "../../../lib/api/names.ts";
import { homeNetwork } from "../../../lib/core/network/network-policy.ts";
import { httpClient } from "../../../lib/http/http-client.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { pushArtifact } from "../../../lib/sources/oci/push-artifact.ts";
import { registryClients } from "../../../lib/sources/oci/registry-client.ts";
import { type CliWorld, cliWorld } from "../cli-world.ts";
import { type EventServer, eventServer } from "./event-server.ts";

// The events of Flux's own controllers as a generic Provider got them, against those of Sluice's flows.

const never = new AbortController().signal;
const namespace = "golden-notify-end-to-end";
const folder = join(import.meta.dirname, "../../fixtures/notify/notify-end-to-end");

const Text = z.string();
const Step = z.object({ step: Text, deliveries: z.array(z.object({ path: Text, body: z.unknown() })) });
const Published = z.record(Text, z.record(Text, Text));
const Input = z.looseObject({
  apiVersion: Text,
  kind: Text,
  metadata: z.looseObject({ name: Text, namespace: Text }),
  spec: z.record(Text, z.unknown()),
});

let world: CliWorld;
let server: EventServer;
const http = httpClient({ network: homeNetwork });
beforeAll(async () => {
  server = await eventServer();
  world = await cliWorld();
});
afterAll(async () => {
  await world.close();
  http.close();
  await server[Symbol.asyncDispose]();
});

async function yamlOf(name: string): Promise<string> {
  return readFile(join(folder, name), "utf8");
}

async function publish(files: Readonly<Record<string, string>>): Promise<void> {
  const path = join(world.folder, "artifact");
  await rm(path, { recursive: true, force: true });
  await mkdir(path);
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text);
  const clients = registryClients(http, systemClock);
  const revision = "main@sha1:0000000000000000000000000000000000000000";
  const artifact = {
    url: `oci://${world.registry}/${namespace}:latest`,
    path,
    source: "https://example.test/repo",
    revision,
  };
  await pushArtifact(artifact, ({ host }) => clients({ host, insecure: true }), never);
}

async function applyInput(): Promise<void> {
  const metadata = { name: namespace };
  await world.cluster.apply(
    { apiVersion: "v1", kind: "Namespace", metadata },
    { manager: "bench", force: true },
    never,
  );
  const own = (await yamlOf("input.yaml"))
    .replace("http://127.0.0.1:26200/provider", server.at("/provider"))
    .replace("127.0.0.1:26210", world.registry);
  for (const document of parseAllDocuments(own)) {
    await world.cluster.apply(Input.parse(document.toJS()), { manager: "bench", force: true }, never);
  }
}

async function request(group: string, kind: string): Promise<void> {
  const ref = { group: `${group}.toolkit.fluxcd.io`, version: "v1", kind, namespace, name: "app" };
  const body = { metadata: { annotations: { [requestedAtAnnotation]: "now" } } };
  await world.cluster.patch(ref, { type: "merge", body }, { manager: "bench" }, never);
}

/** The deliveries as text, without what differs from run to run: digests of manifests, durations, hosts, times and identities. */
function shown(deliveries: readonly { readonly path: string; readonly body: unknown }[]): readonly string[] {
  return deliveries.map((one) =>
    JSON.stringify(one, (key, value: unknown) => {
      if (key === "uid" || key === "resourceVersion" || key === "timestamp" || key === "reportingInstance") return "…";
      if (typeof value === "object" && value !== null && !Array.isArray(value)) {
        return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
      }
      return typeof value === "string"
        ? value
            .replaceAll(/sha256:[0-9a-f]{64}/g, "sha256:…")
            .replace(/finished in [0-9.]+(?:ms|s|µs)/, "finished in …")
            .replaceAll(world.registry, "127.0.0.1:26210")
        : value;
    }),
  );
}

test("Sluice's flows send a generic Provider the same events as Flux's controllers (recorded: notify-end-to-end)", async () => {
  const files = (await readdir(folder)).filter((name) => /^\d/.test(name)).toSorted();
  const steps = await Promise.all(files.map(async (name) => Step.parse(parse(await yamlOf(name)))));
  const published = Object.values(Published.parse(parse(await yamlOf("source.yaml"))));
  const acts: Readonly<Record<string, () => Promise<void>>> = {
    first: applyInput,
    // The push itself asks for a run of the source.
    changed: async () => undefined,
    "nothing-changed": async () => {
      await request("source", "OCIRepository");
      await request("kustomize", "Kustomization");
    },
  };
  const found: { step: string; deliveries: readonly string[] }[] = [];
  let seen = 0;
  for (const { step, deliveries } of steps) {
    const next = published.shift();
    if (next !== undefined) await publish(next);
    await acts[step]?.();
    await expect.poll(() => server.arrived.length - seen).toBeGreaterThanOrEqual(deliveries.length);
    const arrived = server.arrived.slice(seen).map(({ path, event }) => ({ path, body: event }));
    seen += arrived.length;
    found.push({ step, deliveries: shown(arrived) });
  }
  expect(found).toEqual(steps.map(({ step, deliveries }) => ({ step, deliveries: shown(deliveries) })));
});
