import type { IncomingMessage, ServerResponse } from "node:http";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { mapLimit } from "../../lib/core/concurrency.ts";
import type { Cluster } from "../../lib/core/ports/cluster.ts";
import { systemClock } from "../../lib/core/system-clock.ts";
import { type ApiClient, type ApiRequest, apiClient } from "../../lib/kube/api-client.ts";
import { connect } from "../../lib/kube/connect.ts";
import { readKubeconfig } from "../../lib/kube/kubeconfig.ts";
import { configMap } from "../e2e/flow/sample-manifests.ts";
import { mayHaveOwnControlPlane, type OwnControlPlane, ownControlPlane } from "../real/own-control-plane.ts";
import { configOf, fakeApi } from "../unit/kube/fake-api.ts";
import { never } from "./state-back-end.ts";

const deps = { clock: systemClock, env: {} };
const configMaps = { group: "", version: "v1", kind: "ConfigMap", namespace: "default" };
/** More than two pages of lists. */
const count = 1_100;

describe.skipIf(!mayHaveOwnControlPlane())(
  "with SLUICE_REAL_KUBECONFIG, an API server that forgets every second what was before",
  () => {
    let plane: OwnControlPlane;
    let cluster: Cluster & { close(): void };
    let api: ApiClient;
    beforeAll(async () => {
      // Without its cache the server asks etcd, which has thrown old states away.
      plane = await ownControlPlane("--etcd-compaction-interval=1s", "--watch-cache=false");
      const config = await readKubeconfig({ file: plane.kubeconfig, env: {}, homeDir: "/" });
      [cluster, api] = [connect(config, deps), apiClient(config, deps)];
      const names = Array.from({ length: count }, (_, index) => `many-${index}`);
      await mapLimit(names, 16, (name) => write(name), never);
    }, 180_000);
    afterAll(async () => {
      cluster.close();
      api.close();
      await plane[Symbol.asyncDispose]();
    }, 60_000);

    async function write(name: string, data: Record<string, string> = {}): Promise<void> {
      await cluster.apply(configMap(name, data, { namespace: "default" }), { manager: "test", force: true }, never);
    }

    /** The same request again and again, while the world goes on, until the server says that it has forgotten its state. */
    async function untilForgotten(request: ApiRequest) {
      const deadline = AbortSignal.timeout(60_000);
      let turn = 0;
      const forgotten = async () => {
        const answer = await api.send(request, deadline);
        await write("clock", { turn: `${turn++}` });
        // A watch is told so in its stream.
        expect([`${answer.status}`, answer.text].join(" ")).toMatch(/^410 |"code":410/);
        return answer;
      };
      return vi.waitFor(forgotten, { timeout: 60_000, interval: 100 });
    }

    /** The server, but so slow with what `isSlow` says that it has forgotten by then; each such request once. */
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
        const answer = isLate ? await untilForgotten(request) : await api.send(request, never);
        response.writeHead(answer.status, { "content-type": "application/json" }).end(answer.text);
      };
      const server = await fakeApi((request, response) => void relay(request, response));
      return { server, seen, client: connect(configOf(server.url), { ...deps, limitMs: 15_000 }) };
    }

    test.each(["list", "listMetadata"] as const)(
      "a %s whose pages it forgot meanwhile begins again, and is whole",
      async (verb) => {
        const { server, seen, client } = await slowly(({ searchParams }) => searchParams.has("continue"));
        const names = new Set((await client[verb](configMaps, never)).map(({ metadata: { name } }) => name));
        expect([...names].filter((name) => name.startsWith("many-"))).toHaveLength(count);
        const pages = seen.filter((url) => url.includes("limit="));
        expect(pages.map((url) => url.includes("continue="))).toEqual([false, true, false, true, true]);
        client.close();
        await server[Symbol.asyncDispose]();
      },
      60_000,
    );

    test("a watch whose place it forgot ends with 410, and one that begins anew tells everything", async () => {
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
    }, 60_000);
  },
);
