import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, get } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { refOf } from "../../../lib/core/manifest.ts";
import { readKubeconfig } from "../../../lib/kube/kubeconfig.ts";
import { type SpawnedLocal, spawnLocal } from "../../../local/sluice-process.ts";
import { deadlineMs } from "../../deadline.ts";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";
import { killedInApply } from "./killed-in-apply.ts";
import { applied, configMap, followApp, type LocalWorld, localWorld } from "./local-world.ts";

const never = new AbortController().signal;
/** Skips the lines of a start on a new folder, which installs the definitions before it listens. */
const oneClearError = /ended with 1 before it was ready: (?:\{[^\n]*\}\n)*✗ sluice local: [^\n]*$/;
const patient = { timeout: deadlineMs, interval: 50 };

describe("sluice local", () => {
  let world: LocalWorld;
  beforeAll(async () => {
    world = await localWorld();
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test("a push is applied, a second process is refused, and SIGTERM loses nothing", async () => {
    const local = await world.start();
    const cluster = await world.cluster(local);
    await world.push(local, [configMap("a", "1"), configMap("b", "1")]);
    await followApp(cluster, local);
    await expect.poll(() => applied(cluster), patient).toEqual(["a=1", "b=1"]);
    await world.push(local, [configMap("a", "2")]);
    await expect.poll(() => applied(cluster), patient).toEqual(["a=2"]);

    expect((await fetch(`${local.receiver}/hook/abc`, { method: "POST" })).status).toBe(404);

    const second = spawnLocal(["--state", world.state], never);
    await expect(second).rejects.toThrow(`${world.state} is in use by process ${local.pid}`);
    await expect(second).rejects.toThrow("sluice local ended with 1");

    expect(await local.end("SIGTERM")).toBe(0);
    // Users read this: warnings of Node about its own parts do not belong there.
    expect(world.log.filter((line) => !line.startsWith("{"))).toEqual([]);

    const again = await world.start();
    expect([again.registry, again.receiver, again.kubeconfig]).toEqual([
      local.registry,
      local.receiver,
      local.kubeconfig,
    ]);
    expect(await applied(await world.cluster(again))).toEqual(["a=2"]);
    expect(await again.end("SIGINT")).toBe(0);
  });

  test("after a kill at any moment of an apply, the next start completes the apply and leaves no orphan", async () => {
    expect(await killedInApply(world)).toBe(0);
  });

  test("its servers answer only to the names of --host-name and of loopback", async () => {
    const local = await world.start("--host-name", "registry.test", "--host-name", "tunnel.test:443");
    const { server } = await readKubeconfig({ file: local.kubeconfig, env: {}, homeDir: "/" });
    for (const url of [
      `http://${local.registry}/v2/`,
      `${server.href}/api/v1/namespaces`,
      `${local.receiver}/hook/a`,
    ]) {
      expect(await statusOf(url, "registry.test:5000")).not.toBe(403);
      expect(await statusOf(url, "tunnel.test:443")).not.toBe(403);
      expect(await statusOf(url, "tunnel.test")).toBe(403);
      expect(await statusOf(url, "other.test")).toBe(403);
    }
    expect(await local.end("SIGTERM")).toBe(0);
  });

  test("a settings file limits its connections: always its own registry, and otherwise only the listed hosts", async () => {
    const config = join(world.folder, "network.yaml");
    await writeFile(config, "network: { unlisted: refused }\n");
    let asked = 0;
    const other = createServer((_, response) => {
      asked += 1;
      response.end("{}");
    });
    const port = await portOnLoopback(other);
    const local = await world.start("--config", config);
    const cluster = await world.cluster(local);
    await world.push(local, [configMap("a", "3")]);
    await followApp(cluster, local);
    await expect.poll(() => applied(cluster), patient).toEqual(["a=3"]);
    const { object } = await cluster.apply(
      {
        apiVersion: "source.toolkit.fluxcd.io/v1",
        kind: "OCIRepository",
        metadata: { name: "elsewhere", namespace: "default" },
        spec: { interval: "1h", url: `oci://localhost:${port}/app` },
      },
      { manager: "test", force: false },
      never,
    );
    const status = async () =>
      JSON.stringify((await cluster.get({ ...refOf(object), version: "v1" }, never))?.["status"]);
    const refusal = "host 'localhost' is not on the installation's list: the installation allows it with network.allow";
    await expect.poll(status, patient).toContain(refusal);
    expect(asked).toBe(0);
    expect(await local.end("SIGTERM")).toBe(0);
    other.close();
  });

  test("a settings file applies to reconciles: a source of another namespace is refused", async () => {
    const config = join(world.folder, "settings.yaml");
    await writeFile(config, "no-cross-namespace-refs: true\n");
    const local = await world.start("--config", config);
    const cluster = await world.cluster(local);
    const manifest = {
      apiVersion: "kustomize.toolkit.fluxcd.io/v1",
      kind: "Kustomization",
      metadata: { name: "guest", namespace: "default" },
      spec: {
        interval: "1h",
        prune: true,
        sourceRef: { kind: "OCIRepository", name: "app", namespace: "kube-system" },
      },
    };
    const { object } = await cluster.apply(manifest, { manager: "test", force: false }, never);
    const status = async () => (await cluster.get({ ...refOf(object), version: "v1" }, never))?.["status"];
    await expect.poll(status, patient).toMatchObject({
      conditions: [
        { type: "Stalled", status: "True", reason: "AccessDenied" },
        { type: "Ready", status: "False" },
      ],
    });
    expect(await local.end("SIGTERM")).toBe(0);
  });

  test.each(["--registry-port", "--receiver-port", "--api-port"])(
    "a %s that is in use gives one clear error",
    async (flag) => {
      const server = createServer();
      const port = await portOnLoopback(server);
      try {
        const refused = spawnLocal(["--state", world.state, flag, String(port)], never);
        await expect(refused).rejects.toThrow(oneClearError);
        await expect(refused).rejects.toThrow(String(port));
        const holder = process.platform === "linux" ? `process ${process.pid} (` : "something else";
        await expect(refused).rejects.toThrow(holder);
      } finally {
        server.close();
      }
    },
  );

  test.each([
    { flag: "--registry-port", portOf: async ({ registry }: SpawnedLocal) => new URL(`http://${registry}`).port },
    { flag: "--receiver-port", portOf: async ({ receiver }: SpawnedLocal) => new URL(receiver).port },
    {
      flag: "--api-port",
      portOf: async ({ kubeconfig: file }: SpawnedLocal) =>
        (await readKubeconfig({ file, env: {}, homeDir: "/" })).server.port,
    },
  ])(
    "the last start's port, in use by another program, gives one clear error, and $flag 0 chooses a new one",
    async ({ flag, portOf }) => {
      const before = await world.start();
      const port = Number(await portOf(before));
      expect(await before.end("SIGTERM")).toBe(0);
      const taken = createServer();
      await once(taken.listen(port, "127.0.0.1"), "listening");
      try {
        const refused = spawnLocal(["--state", world.state], never);
        const saysWhich = new RegExp(
          `before it was ready: ✗ sluice local: [^\\n]*127.0.0.1:${port}: [^\\n]*${flag}[^\\n]*$`,
        );
        await expect(refused).rejects.toThrow(saysWhich);
        const moved = await world.start(flag, "0");
        expect(Number(await portOf(moved))).not.toBe(port);
        expect(await moved.end("SIGTERM")).toBe(0);
      } finally {
        taken.close();
      }
    },
  );

  test.each([
    { name: "is missing", kubeconfig: "/nowhere/kubeconfig", says: "/nowhere/kubeconfig" },
    { name: "cannot be read", kubeconfig: import.meta.filename, says: "local.test.ts" },
  ])("a kubeconfig that $name gives one clear error", async ({ kubeconfig, says }) => {
    const refused = spawnLocal(["--state", world.state, "--kubeconfig", kubeconfig], never);
    await expect(refused).rejects.toThrow(oneClearError);
    await expect(refused).rejects.toThrow(says);
  });
});

/** The status of an answer to a request under this name. */
function statusOf(url: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(url, { headers: { host } }, (response) => resolve(response.resume().statusCode)).on("error", reject);
  });
}
