import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { brotliCompressSync } from "node:zlib";
import { afterAll, expect, test } from "vitest";
import type { Engine, EngineInput } from "../../../lib/core/ports/engine.ts";
import { kustomizeModule, wasmEngine } from "../../../lib/engine/wasm-engine.ts";
import { engineLimits } from "../../../lib/manifests/build/build-by-engine.ts";
import { configMap } from "../manifests/build-files.ts";

const forever = new AbortController().signal;
/** One for all tests: whatever becomes of a build, the next one works. */
const engine = wasmEngine({ file: kustomizeModule, threads: 1, idleMs: 60_000 });
const folder = await mkdtemp(join(tmpdir(), "sluice-wasm-"));
afterAll(async () => {
  await engine.close();
  await rm(folder, { recursive: true });
});

function engineOf(file: string): Engine {
  return wasmEngine({ file, threads: 1, idleMs: 60_000 });
}

function inputOf(files: Readonly<Record<string, string | Uint8Array>>): EngineInput {
  const map = new Map(Object.entries(files).map(([path, content]) => [path, Buffer.from(content)]));
  return { tree: { files: map, folders: new Set([""]) }, folder: "", spec: {} };
}

const small = inputOf({ "kustomization.yaml": "resources: [a.yaml]\nnamePrefix: x-\n", "a.yaml": configMap("a") });
/** Each of many replacements looks at each of many objects. */
const endless = inputOf({
  "kustomization.yaml": `resources: [a.yaml]\nreplacements:\n${Array.from({ length: 3_000 }, (_, index) => `- source: {kind: ConfigMap, name: c${index}, fieldPath: metadata.name}\n  targets: [{select: {kind: ConfigMap}, fieldPaths: [data.k], options: {create: true}}]\n`).join("")}`,
  "a.yaml": Array.from({ length: 3_000 }, (_, index) => configMap(`c${index}`)).join("---\n"),
});

test("a build returns the output of kustomize, and a refusal its message", async () => {
  expect(await engine.build(small, engineLimits, forever)).toBe(
    "apiVersion: v1\ndata:\n  a: b\nkind: ConfigMap\nmetadata:\n  name: x-a\n",
  );
  const refused = engine.build(inputOf({ "kustomization.yaml": "resources: [b.yaml]\n" }), engineLimits, forever);
  await expect(refused).rejects.toMatchObject({ reason: "refused", message: /^kustomize build failed: accumulating/ });
});

test("files may contain any bytes", async () => {
  const binary = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
  const text = await engine.build(
    inputOf({ "kustomization.yaml": "configMapGenerator: [{name: b, files: [x.bin]}]\n", "x.bin": binary }),
    engineLimits,
    forever,
  );
  expect(text).toContain("binaryData:");
  expect(Buffer.from(/x\.bin: \|?\s*([A-Za-z0-9+/=\s]+?)\nkind/.exec(text)?.[1] ?? "", "base64")).toEqual(binary);
});

test("a build that exceeds its processor time is stopped, and the next one gets a new thread", async () => {
  const building = engine.build(endless, { ...engineLimits, maxCpuMs: 600 }, forever);
  await expect(building).rejects.toMatchObject({ reason: "time", message: "no result within 0.6 s of processor time" });
  expect(await engine.build(small, engineLimits, forever)).toContain("name: x-a");
});

test("the time that earlier builds took does not count", async () => {
  const cpuMs = (): number => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  };
  await engine.build(small, engineLimits, forever);
  const before = cpuMs();
  await engine.build(small, engineLimits, forever);
  // More than any machine is slower at one build than at another; and then builds of twice that time together.
  const maxCpuMs = 20 * (cpuMs() - before);
  for (let end = cpuMs() + 2 * maxCpuMs; cpuMs() < end; ) {
    expect(await engine.build(small, { ...engineLimits, maxCpuMs }, forever)).toContain("name: x-a");
  }
});

test("an abort stops the build, and the caller gets its reason", async () => {
  const stop = new AbortController();
  const building = engine.build(endless, engineLimits, stop.signal);
  stop.abort(new Error("lease lost"));
  await expect(building).rejects.toThrow("lease lost");
  expect(await engine.build(small, engineLimits, forever)).toContain("name: x-a");
});

test("with one thread builds run one after the other, in order, and a waiting build can be aborted", async () => {
  const stop = new AbortController();
  const ended: string[] = [];
  const note = (name: string) => (): unknown => ended.push(name);
  const first = engine.build(small, engineLimits, forever).then(note("first"));
  const given = engine.build(small, engineLimits, stop.signal).catch(note("given up"));
  const last = engine.build(small, engineLimits, forever).then(note("last"));
  stop.abort(new Error("enough"));
  await Promise.all([first, given, last]);
  expect(ended).toEqual(["given up", "first", "last"]);
});

test("a build that exceeds the module's memory is stopped, and the process continues", async () => {
  const files = {
    "kustomization.yaml": "configMapGenerator: [{name: a, files: [large.txt]}, {name: b, files: [large.txt]}]\n",
    "large.txt": Buffer.alloc(200_000_000, "x"),
  };
  await expect(engine.build(inputOf(files), engineLimits, forever)).rejects.toMatchObject({
    reason: "memory",
    message:
      "it needs more than 512 MiB of memory: split the folder over several Kustomizations, or look for YAML aliases that expand",
  });
  expect(await engine.build(small, engineLimits, forever)).toContain("name: x-a");
});

test("a build that exceeds the stack is refused with a hint", async () => {
  const file = join(folder, "endless-calls.wasm.br");
  await writeFile(file, brotliCompressSync(callingItself()));
  await expect(engineOf(file).build(small, engineLimits, forever)).rejects.toMatchObject({
    reason: "broken",
    message:
      "it nests deeper than kustomize can follow: look for bases that include each other in a long chain, or for YAML of many levels",
  });
});

/** A module with the exports of the engine, whose `build` calls `build`. */
function callingItself(): Buffer {
  const section = (id: number, ...parts: readonly Buffer[]): Buffer => {
    const content = Buffer.concat(parts);
    return Buffer.concat([Buffer.from([id, content.length]), content]);
  };
  const named = (name: string, kind: number, index: number): Buffer =>
    Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from([kind, index])]);
  const functions = ["_initialize", "input", "build", "output", "outputLength"];
  const exported = [...functions.map((name, index) => named(name, 0, index)), named("memory", 2, 0)];
  const bodies = ["02000b", "040041000b", "0700100241016a0b", "040041000b", "040041000b"];
  const hex = (text: string): Buffer => Buffer.from(text.replaceAll(" ", ""), "hex");
  return Buffer.concat([
    hex("0061736d 01000000"),
    section(1, hex("03 600000 60017f017f 6000017f")),
    section(3, hex("05 0001020202")),
    section(5, hex("01 0001")),
    section(7, Buffer.from([exported.length]), ...exported),
    section(10, hex("05"), ...bodies.map(hex)),
  ]);
}

test("output above the limit is refused", async () => {
  const building = engine.build(small, { ...engineLimits, maxOutputBytes: 10 }, forever);
  await expect(building).rejects.toMatchObject({ reason: "output", message: "more than 10 bytes of output" });
});

test("an idle thread is stopped", async () => {
  const started: Worker[] = [];
  const note = (message: unknown): void => {
    if (isStart(message)) started.push(message.worker);
  };
  subscribe("worker_threads", note);
  try {
    const idle = wasmEngine({ file: kustomizeModule, threads: 1, idleMs: 50 });
    await idle.build(small, engineLimits, forever);
    expect(started).toHaveLength(1);
    await Promise.all(started.map((worker) => once(worker, "exit")));
    await idle.build(small, engineLimits, forever);
    expect(started).toHaveLength(2);
    await idle.close();
  } finally {
    unsubscribe("worker_threads", note);
  }
});

function isStart(message: unknown): message is { readonly worker: Worker } {
  return typeof message === "object" && message !== null && "worker" in message && message.worker instanceof Worker;
}

test("a missing or invalid module is reported as such", async () => {
  const missing = engineOf(join(folder, "absent.wasm.br")).build(small, engineLimits, forever);
  await expect(missing).rejects.toMatchObject({ reason: "unavailable", message: /^kustomize did not start: ENOENT/ });
  const file = join(folder, "odd.wasm.br");
  await writeFile(file, brotliCompressSync("no module"));
  const odd = engineOf(file).build(small, engineLimits, forever);
  await expect(odd).rejects.toMatchObject({ reason: "unavailable", message: /^kustomize did not start: / });
});
