import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { deadlineMs } from "../../deadline.ts";
import { closeServer } from "../../doubles/close-server.ts";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";
import { type BadInputWorld, badInputWorld } from "../bad-input/bad-input-world.ts";
import { escapeTries } from "./escape-tries.ts";

const canary = "canary-4b1d9e7c";
const patient = { timeout: deadlineMs, interval: 100 };
let world: BadInputWorld;
let folder: string;
let server: Server;
let url: string;
/** What was asked of the server that listens where only this machine can reach it. */
const asked: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-escape-"));
  await writeFile(join(folder, "canary.yaml"), resource(canary));
  server = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.end(resource(canary));
  });
  url = `http://127.0.0.1:${await portOnLoopback(server)}`;
  world = await badInputWorld({ SLUICE_CANARY: canary });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await closeServer(server);
  await rm(folder, { recursive: true });
});

/** A manifest that would build, so that reading it shows in the cluster. */
function resource(data: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: leak\n  namespace: default\ndata:\n  canary: ${data}\n`;
}

/** What Ready says of a Kustomization in the end: that there is no artifact counts once its source has failed. */
async function verdict(name: string): Promise<string> {
  const ready = await world.ready("Kustomization", name);
  if (!/^(True|False) /.test(ready)) return "";
  if (!ready.includes("Source artifact not found")) return ready;
  return (await world.ready("OCIRepository", name)).startsWith("False ") ? ready : "";
}

describe("nothing escapes the artifact (48, 49)", () => {
  test("more than a hundred attacks by artifacts and specs read no file, no environment and no network", async () => {
    const tries = escapeTries({ file: join(folder, "canary.yaml"), pid: world.local.pid, url });
    expect(new Set(tries.map(({ name }) => name)).size).toBe(tries.length);
    expect(tries.length).toBeGreaterThan(110);
    for (const [index, { files, spec }] of tries.entries()) {
      await world.push(`try-${index}`, files);
      await world.source(`try-${index}`);
      await world.kustomization(`try-${index}`, { targetNamespace: "default", ...spec });
    }
    const said = new Map<string, string>();
    for (const [index, { name }] of tries.entries()) {
      await expect.poll(async () => said.set(name, await verdict(`try-${index}`)).get(name), patient).toMatch(/./);
    }
    // These name no file: the one is the name of an image, the other is in a document that kustomize does not read.
    const built = [...said].filter(([, ready]) => ready.startsWith("True ")).map(([name]) => name);
    expect(built).toEqual(["spec.images: a name with a path", "a second document"]);
    expect(
      [...said].filter(
        ([, ready]) =>
          !/^(True ReconciliationSucceeded|False (BuildFailed|ArtifactFailed|InvalidSpec|ReconciliationFailed)): ./.test(
            ready,
          ),
      ),
    ).toEqual([]);
    expect(JSON.stringify([...said])).not.toContain(canary);
    expect(asked).toEqual([]);
    expect(await everything()).not.toContain(canary);
    expect(await everything()).not.toContain(Buffer.from(canary).toString("base64").slice(0, 12));
    expect(world.log.filter((line) => line.includes(canary))).toEqual([]);
  });

  test("the planted secrets can be found in their own places", async () => {
    await world.push("control", { "a.yaml": resource(canary) });
    await world.source("control");
    await world.kustomization("control");
    await expect.poll(everything, patient).toContain(canary);
  });
});

/** All objects that a build could have put something into, as one text. */
async function everything(): Promise<string> {
  const { signal } = new AbortController();
  const kinds = ["ConfigMap", "Secret", "Event"].map((kind) => ({ group: "", version: "v1", kind }));
  const lists = await Promise.all(kinds.map((kind) => world.cluster.list(kind, signal)));
  return JSON.stringify(lists);
}
