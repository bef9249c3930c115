import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { mapLimit } from "../../lib/core/concurrency.ts";
import type { Cluster } from "../../lib/core/ports/cluster.ts";
import { type ApiClient, apiClient } from "../../lib/kube/api-client.ts";
import { connect } from "../../lib/kube/connect.ts";
import { readKubeconfig } from "../../lib/kube/kubeconfig.ts";
import type { Answer } from "../../lib/kube/transport.ts";
import { systemClock } from "../../lib/process/system-clock.ts";
import { configMap } from "../e2e/flow/sample-manifests.ts";
import { mayHaveOwnControlPlane, type OwnControlPlane, ownControlPlane } from "../real/own-control-plane.ts";
import { configOf, fakeApi } from "../unit/kube/fake-api.ts";
import { never } from "./state-back-end.ts";

const deps = { clock: systemClock, env: {} };
const Started = z.object({ args: z.array(z.string()) });
const Etcd = z.object({ header: z.object({ revision: z.string() }) });
const configMaps = { group: "", version: "v1", kind: "ConfigMap", namespace: "default" };
/** More than two pages of lists. */
const count = 1_100;

/** Whether a watch that begins with what is there ended before it came to the end of that. */
function isPartial(url: string, { status, text }: Answer): boolean {
  return url.includes("sendInitialEvents=true") && status === 200 && !text.includes("k8s.io/initial-events-end");
}

describe.skipIf(!mayHaveOwnControlPlane())(
  "with SLUICE_REAL_KUBECONFIG, an API server that has compacted older versions",
  () => {
    let plane: OwnControlPlane;
    let cluster: Cluster & { close(): void };
    let api: ApiClient;
    beforeAll(async () => {
      // Without its cache the server asks etcd, which throws old states away when a test says so.
      plane = await ownControlPlane("--etcd-compaction-interval=0", "--watch-cache=false");
      const config = await readKubeconfig({ file: plane.kubeconfig, env: {}, homeDir: "/" });
      [cluster, api] = [connect(config, deps), apiClient(config, deps)];
      const names = Array.from({ length: count }, (_, index) => `many-${index}`);
      await mapLimit(names, 16, (name) => write(name), never);
    });
    afterAll(async () => {
      cluster.close();
      api.close();
      await plane[Symbol.asyncDispose]();
    });

    async function write(name: string, data: Record<string, string> = {}): Promise<void> {
      await cluster.apply(configMap(name, data, { namespace: "default" }), { manager: "test", force: true }, never);
    }

    /** Has etcd throw away every state but the present one, and the change that comes first after what anybody has read. */
    async function forget(): Promise<void> {
      for (const turn of [randomUUID(), randomUUID()]) await write("clock", { turn });
      const folder = dirname(plane.kubeconfig);
      const { args } = Started.parse(JSON.parse(await readFile(join(folder, "etcd.json"), "utf8")));
      const [url = ""] = args.flatMap((arg) => /^--listen-client-urls=(.*)$/.exec(arg)?.slice(1) ?? []);
      const ask = async (path: string, body: object): Promise<unknown> => {
        const answer = await fetch(`${url}/v3/${path}`, { method: "POST", body: JSON.stringify(body) });
        expect([path, answer.status]).toEqual([path, 200]);
        return answer.json();
      };
      const { revision } = Etcd.parse(await ask("maintenance/status", {})).header;
      await ask("kv/compaction", { revision, physical: true });
    }

    /** The server, but so slow with what `isSlow` says that it has forgotten by then; the first such request alone. */
    async function slowly(isSlow: (url: URL) => boolean) {
      const seen: string[] = [];
      let wasSlow = false;
      const relay = async ({ url = "", headers }: IncomingMessage, response: ServerResponse): Promise<void> => {
        seen.push(url);
        const { accept = "" } = headers;
        // A watch is looked at for a second each time.
        const path = url.replace(/timeoutSeconds=\d+/, "timeoutSeconds=1");
        const request = { verb: "list", method: "GET", path, accept, repeatable: true } as const;
        const isLate = !wasSlow && isSlow(new URL(url, "http://relay"));
        if (isLate) wasSlow = true;
        if (isLate) await forget();
        let answer = await api.send(request, never);
        // A server that is busy may not tell all that is there within the second.
        while (isPartial(url, answer)) answer = await api.send(request, never);
        // A watch is told so in its stream.
        if (isLate && !/^410 |"code":410/.test([`${answer.status}`, answer.text].join(" ")))
          throw new Error(answer.text);
        response.writeHead(answer.status, { "content-type": "application/json" }).end(answer.text);
      };
      const server = await fakeApi((request, response) => {
        relay(request, response).catch(() => response.destroy());
      });
      return { server, seen, client: connect(configOf(server.url), { ...deps, limitMs: 15_000 }) };
    }

    test.each(["list", "listMetadata"] as const)(
      "a %s whose pages have expired starts again and is complete",
      async (verb) => {
        const { server, seen, client } = await slowly(({ searchParams }) => searchParams.has("continue"));
        const names = new Set((await client[verb](configMaps, never)).map(({ metadata: { name } }) => name));
        expect([...names].filter((name) => name.startsWith("many-"))).toHaveLength(count);
        const pages = seen.filter((url) => url.includes("limit="));
        expect(pages.map((url) => url.includes("continue="))).toEqual([false, true, false, true, true]);
        client.close();
        await server[Symbol.asyncDispose]();
      },
      300_000,
    );

    test("a watch from an expired version ends with 410, and a new one reports everything", async () => {
      const { server, client } = await slowly(({ searchParams }) => searchParams.has("resourceVersion"));
      /** The names that it tells, until it has told all that is there, or for as long as it lasts. */
      const added = async (isPatient: boolean, told: Set<string>): Promise<void> => {
        for await (const event of client.watch(configMaps, never)) {
          if (event.type === "ADDED") told.add(event.object.metadata.name);
          if (event.type === "BOOKMARK" && event.initialEventsEnd && !isPatient) return;
        }
      };
      const [before, after] = [new Set<string>(), new Set<string>()];
      await expect(added(true, before)).rejects.toMatchObject({ name: "ApiError", code: 410, reason: "Expired" });
      await added(false, after);
      for (const told of [before, after]) expect(told.size).toBeGreaterThanOrEqual(count);
      client.close();
      await server[Symbol.asyncDispose]();
    });
  },
);
