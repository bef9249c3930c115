import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { brotliDecompressSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Bundle, bundleFunctions } from "../../../infra/bundle.ts";
import { engineRequest } from "../../../lib/engine/wasm-engine.ts";
import { functionEnvironment } from "../../doubles/function-environment.ts";

/** Called by CloudFormation. */
const customResources = ["configuration", "definitions", "drop-guard"];
let folder: string;
let bundles: readonly Bundle[];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-bundles-"));
  bundles = await bundleFunctions(folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Of the entry of a function and what it imports: issue 13 allows the reconcile function so much. */
const maxStartBytes = 1_200_000;

/** A part of a bundle that is shared, or loaded when it is needed: the hash of its content is in its name. */
const chunk = /-[A-Z0-9]{8}\.mjs$/;

async function textOf(own: string, files: readonly string[]): Promise<string> {
  const code = files.filter((file) => file.endsWith(".mjs"));
  return (await Promise.all(code.map((file) => readFile(join(own, file), "utf8")))).join("\n");
}

/** Loads a bundle where nothing else of ours can be found, as Lambda does; what it exports, or what it failed with. */
async function load({ entry }: Bundle, env: Readonly<Record<string, string>>): Promise<string> {
  // Of a failure only the message: Node would print the line of the bundle that throws, and that line is most of the bundle.
  const script = `try { const bundle = await import(${JSON.stringify(pathToFileURL(entry).href)}); console.log(Object.keys(bundle).join(), typeof bundle.handler); } catch (error) { console.log(String(error)); }`;
  const options = { env: { ...env }, cwd: folder };
  return (await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], options)).stdout.trim();
}

// One of them bundles all again, as the hook above does.
describe("the bundles of the functions", () => {
  test("exist one per function, with the threads of a build and the engine next to it", async () => {
    const files = await Promise.all(
      bundles.map(async ({ name, folder: own }) => [
        name,
        (await readdir(own)).filter((file) => !chunk.test(file)).toSorted(),
      ]),
    );
    expect(Object.fromEntries(files)).toEqual({
      admission: ["index.mjs"],
      collect: ["index.mjs"],
      configuration: ["index.mjs"],
      definitions: ["index.mjs"],
      "drop-guard": ["index.mjs"],
      ingest: ["index.mjs"],
      notify: ["cel.wasm.br", "index.mjs", "module-thread.mjs", "ssh-key-thread.mjs"],
      receiver: ["cel.wasm.br", "index.mjs", "module-thread.mjs"],
      reconcile: [
        "build-worker.mjs",
        "cel.wasm.br",
        "helm-thread.mjs",
        "helm.wasm.br",
        "index.mjs",
        "kustomize.wasm.br",
        "module-thread.mjs",
        "openpgp.mjs",
        "sops-thread.mjs",
        "ssh-key-thread.mjs",
      ],
      sweep: ["index.mjs"],
    });
  });

  test("contain the flows of kinds only where they run", async () => {
    const texts = await Promise.all(
      bundles.map(async ({ name, folder: own }) => [name, await textOf(own, await readdir(own))] as const),
    );
    // Of the flow of a Kustomization, and of that of a source.
    for (const text of ["can't access 'Kustomization/", "artifact up-to-date with remote revision"]) {
      expect(texts.filter(([, bundle]) => bundle.includes(text)).map(([name]) => name)).toEqual(["reconcile"]);
    }
  });

  test("load at start no more than a cold start allows", async () => {
    const bytes = bundles.map(async ({ name, folder: own, startFiles }) => [
      name,
      (await textOf(own, startFiles)).length <= maxStartBytes,
    ]);
    expect(await Promise.all(bytes)).toEqual(bundles.map(({ name }) => [name, true]));
  });

  test.each([
    { what: "the matcher of RE2, for the range or filter of a source", text: "RE2JS" },
    { what: "the client of ECR, for its login", text: "AmazonEC2ContainerRegistry" },
    { what: "the client of SSH, for a repository of git", text: "Malformed OpenSSH private key" },
    { what: "the client for certificates of Sigstore", text: "Failed to verify certificate chain" },
    { what: "the parser for signatures of Notation", text: "certificate-chain is invalid" },
  ])("contain, but do not load at start, $what", async ({ text }) => {
    const { folder: own = "", startFiles = [] } = bundles.find(({ name }) => name === "reconcile") ?? {};
    const inAll = (await textOf(own, await readdir(own))).includes(text);
    expect([inAll, (await textOf(own, startFiles)).includes(text)]).toEqual([true, false]);
  });

  test("have the same files with the same content wherever they are written", async () => {
    const other = await mkdtemp(join(tmpdir(), "sluice-bundles-again-"));
    try {
      for (const [index, { folder: again }] of (await bundleFunctions(other)).entries()) {
        const own = bundles[index]?.folder ?? "";
        const files = (await readdir(own)).toSorted();
        expect((await readdir(again)).toSorted()).toEqual(files);
        expect((await textOf(again, files)) === (await textOf(own, files))).toBe(true);
      }
    } finally {
      await rm(other, { recursive: true });
    }
  });

  test("load without other files, and read nothing before they are called", async () => {
    const loaded = await Promise.all(
      bundles.map((bundle) =>
        load(bundle, {
          ...functionEnvironment,
          SLUICE_ADMISSION_SECRET: "sluice-admission",
          SLUICE_NOTIFICATION_QUEUE_URL: "https://sqs.eu-west-1.amazonaws.com/123456789012/notifications.fifo",
        }),
      ),
    );
    expect(loaded).toEqual(bundles.map(() => "handler function"));
  });

  test("fail at start if variables are missing, and name each", async () => {
    const failing = bundles.filter(({ name }) => !customResources.includes(name));
    const ofInstallation = ["SLUICE_QUEUE_URLS", "SLUICE_INSTALLATION_DIGEST"];
    for (const bundle of failing) {
      const said = await load(bundle, { SLUICE_QUEUE_URLS: "hunter2" });
      expect(said).toContain("the function's environment is not usable");
      for (const name of [
        "AWS_REGION",
        "SLUICE_TABLE",
        ...(bundle.name === "collect" ? ["SLUICE_BUCKET"] : ofInstallation),
      ])
        expect(said).toContain(`${name} `);
      expect(said).not.toContain("hunter2");
    }
  });

  test("of custom resources start without variables, because CloudFormation would wait for their answer", async () => {
    const answering = bundles.filter(({ name }) => customResources.includes(name));
    const loaded = await Promise.all(answering.map((bundle) => load(bundle, {})));
    expect(loaded).toEqual(customResources.map(() => "handler function"));
  });

  test("contain an SSH client that starts without other files", async () => {
    const own = join(folder, "reconcile");
    const files = await readdir(own);
    const texts = await Promise.all(files.map((file) => textOf(own, [file])));
    const [chunk] = files.filter((_, index) => texts[index]?.includes("Malformed OpenSSH private key") === true);
    const script = `const { default: ssh } = await import(${JSON.stringify(pathToFileURL(join(own, chunk ?? "")).href)}); new ssh.Client().on("error", ({ level }) => console.log(level)).connect({ host: "127.0.0.1", port: 1, username: "git" });`;
    const run = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], { cwd: folder });
    expect(run.stdout.trim()).toBe("client-socket");
  });

  test("contain the keyless signature verification, which starts without other files", async () => {
    const own = join(folder, "reconcile");
    const files = await readdir(own);
    const texts = await Promise.all(files.map((file) => textOf(own, [file])));
    const [chunk] = files.filter(
      (_, index) => texts[index]?.includes("does not include its transparency log entry") === true,
    );
    const script = `console.log(Object.keys(await import(${JSON.stringify(pathToFileURL(join(own, chunk ?? "")).href)})))`;
    const run = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], { cwd: folder });
    expect(run.stdout).toContain("verifyKeyless");
  });

  test("contain a thread that builds", async () => {
    const worker = join(folder, "reconcile", "build-worker.mjs");
    const text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n";
    const thread = new Worker(worker, { workerData: { kind: "parse", text }, env: {} });
    const [answer]: readonly unknown[] = await once(thread, "message");
    await thread.terminate();
    expect(JSON.stringify(answer)).toContain('"name":"a"');
  });

  test("contain the engine: its thread builds with the module next to it", async () => {
    const own = join(folder, "reconcile");
    const module = await WebAssembly.compile(brotliDecompressSync(await readFile(join(own, "kustomize.wasm.br"))));
    const thread = new Worker(join(own, "module-thread.mjs"), { workerData: module, env: {} });
    const files = new Map([
      ["kustomization.yaml", Buffer.from("resources: [a.yaml]\nnamePrefix: x-\n")],
      ["a.yaml", Buffer.from("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n")],
    ]);
    const request = engineRequest({ tree: { files, folders: new Set([""]) }, folder: "", spec: {} });
    thread.postMessage({ request, maxOutputBytes: 10_000 });
    const [answer]: readonly unknown[] = await once(thread, "message");
    await thread.terminate();
    expect(answer).toMatchObject({ kind: "built", text: expect.stringContaining("name: x-a") });
    // The function names it by its own address.
    expect(await readFile(join(own, "index.mjs"), "utf8")).toMatch(
      /new URL\("\.\/kustomize\.wasm\.br",\s*import\.meta\.url\)/,
    );
  });
});
