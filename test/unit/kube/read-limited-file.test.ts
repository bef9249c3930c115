import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { dockerCredentials } from "../../../cli/push-artifact.ts";
import { readKubeconfig } from "../../../lib/kube/kubeconfig.ts";
import { readLimitedFile } from "../../../lib/kube/read-limited-file.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-limited-"));
});
afterAll(() => rm(folder, { recursive: true }));

describe("a file with a limit", () => {
  test("is read up to its limit and refused above it", async () => {
    const path = join(folder, "four");
    await writeFile(path, "äöü!");
    expect(await readLimitedFile(path, 7)).toBe("äöü!");
    await expect(readLimitedFile(path, 6)).rejects.toThrow("it is larger than 6 bytes");
  });

  test("may be an endless device", async () => {
    await expect(readLimitedFile("/dev/zero", 100_000)).rejects.toThrow("it is larger than 100000 bytes");
  });

  test("named by a kubeconfig gives an error that names the field", async () => {
    const file = join(folder, "kubeconfig");
    const cluster = "{server: https://127.0.0.1:1, certificate-authority: /dev/zero}";
    await writeFile(
      file,
      `current-context: c\nclusters: [{name: c, cluster: ${cluster}}]\ncontexts: [{name: c, context: {cluster: c, user: c}}]\nusers: [{name: c, user: {}}]\n`,
    );
    await expect(readKubeconfig({ file, env: {}, homeDir: folder })).rejects.toThrow(
      /certificate-authority names \/dev\/zero, which cannot be read: it is larger than 4194304 bytes/,
    );
  });

  test("of docker's configuration gives an error that names it", async () => {
    await writeFile(join(folder, "config.json"), " ".repeat(1024 * 1024 + 1));
    await expect(dockerCredentials("r", { DOCKER_CONFIG: folder }, folder)).rejects.toThrow(
      /config\.json cannot be read: it is larger than 1048576 bytes/,
    );
  });
});
