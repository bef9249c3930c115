import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isJsonObject, type JsonObject } from "../../src/core/json.ts";
import { silentLog } from "../../src/core/log.ts";
import { plainText } from "../../src/core/plain-text.ts";
import { type Kubernetes, startKubernetes } from "../../src/start-kubernetes.ts";
import { askKubernetes } from "./ask-kubernetes.ts";
import { widgetDefinition } from "./widget-definition.ts";

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const configMaps = "/api/v1/namespaces/default/configmaps";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-restart-"));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function withCluster<T>(use: (kubernetes: Kubernetes) => Promise<T>): Promise<T> {
  const kubernetes = await startKubernetes({ stateFolder: folder, port: 0, controllers: false, log: silentLog });
  try {
    return await use(kubernetes);
  } finally {
    await kubernetes.close();
  }
}

function configMap(name: string): object {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { k: "v" } };
}

describe("a restart", () => {
  test("keeps objects, uids, resourceVersions and the token", async () => {
    const before = await withCluster(async (kubernetes) => ({
      created: await askKubernetes(kubernetes, "POST", configMaps, configMap("a")),
      token: kubernetes.token,
    }));
    await withCluster(async (kubernetes) => {
      expect(kubernetes.token).toBe(before.token);
      expect(await askKubernetes(kubernetes, "GET", `${configMaps}/a`)).toEqual(before.created);
      const next = await askKubernetes(kubernetes, "POST", configMaps, configMap("b"));
      expect(revisionOf(next)).toBeGreaterThan(revisionOf(before.created));
    });
  });

  test("serves custom resources that were defined before", async () => {
    const path = "/apis/example.com/v1/namespaces/default/widgets";
    await withCluster(async (kubernetes) => {
      await askKubernetes(kubernetes, "POST", definitions, widgetDefinition("example.com"));
      await askKubernetes(kubernetes, "POST", path, {
        apiVersion: "example.com/v1",
        kind: "Widget",
        metadata: { name: "a" },
      });
    });
    const list = await withCluster((kubernetes) => askKubernetes(kubernetes, "GET", path));
    expect(list).toMatchObject({ kind: "WidgetList", items: [{ metadata: { name: "a" } }] });
  });

  test("forgets the history of watches, which makes clients list again", async () => {
    const created = await withCluster(async (kubernetes) => {
      const first = await askKubernetes(kubernetes, "POST", configMaps, configMap("a"));
      await askKubernetes(kubernetes, "POST", configMaps, configMap("b"));
      return first;
    });
    const event = await withCluster(async (kubernetes) =>
      askKubernetes(
        kubernetes,
        "GET",
        `${configMaps}?watch=true&timeoutSeconds=5&resourceVersion=${revisionOf(created)}`,
      ),
    );
    expect(event).toMatchObject({ type: "ERROR", object: { code: 410, reason: "Expired" } });
  });

  test("after SIGKILL during writes keeps every acknowledged write", async () => {
    const acknowledged: string[] = [];
    for (let round = 0; round < 3; round += 1) {
      const writer = fileURLToPath(new URL("./writer.ts", import.meta.url));
      const child = spawn(process.execPath, [writer, folder, String(round * 10_000)], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const wanted = acknowledged.length + 20 + round * 7;
      for await (const line of createInterface({ input: child.stdout })) {
        acknowledged.push(line);
        if (acknowledged.length === wanted) child.kill("SIGKILL");
      }
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    }
    const list = await withCluster((kubernetes) => askKubernetes(kubernetes, "GET", configMaps));
    const names = new Set(namesIn(list));
    expect(acknowledged.filter((name) => !names.has(name))).toEqual([]);
    expect(acknowledged.length).toBeGreaterThanOrEqual(60);
  });
});

describe("a start that fails", () => {
  test("on a damaged database names the file", async () => {
    await writeFile(
      join(folder, "kubernetes.db"),
      "this is no database, and long enough to be taken for one".repeat(100),
    );
    await expect(withCluster(async () => {})).rejects.toThrow(/the embedded cluster cannot use .*kubernetes\.db: ./);
  });

  test("on a port that is in use names the port", async () => {
    await withCluster(async ({ port }) => {
      const second = join(folder, "second");
      await expect(startKubernetes({ stateFolder: second, port, controllers: false, log: silentLog })).rejects.toThrow(
        `cannot listen on 127.0.0.1:${port}`,
      );
    });
  });
});

function revisionOf({ metadata }: JsonObject): number {
  return isJsonObject(metadata) ? Number(metadata["resourceVersion"]) : 0;
}

function namesIn({ items }: JsonObject): readonly string[] {
  const list = Array.isArray(items) ? items.filter((item) => isJsonObject(item)) : [];
  return list.map(({ metadata }) => (isJsonObject(metadata) ? plainText(metadata["name"]) : ""));
}
