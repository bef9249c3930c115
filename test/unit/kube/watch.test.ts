import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { ApiError } from "../../../lib/core/ports/cluster.ts";
import { connect } from "../../../lib/kube/connect.ts";
import { apiDeps, configMapOf, configOf, fakeApi, sendDiscovery, sendJson } from "./fake-api.ts";

const { signal } = new AbortController();
const query = { group: "", version: "v1", kind: "ConfigMap", namespace: "n" };

const expired = { kind: "Status", code: 410, reason: "Expired", message: "too old" };

function reasonOf(call: Promise<unknown>): Promise<unknown> {
  return call.catch((error: unknown) => (error instanceof ApiError ? error.reason : error));
}

describe("watches of the cluster adapter", () => {
  const event = (type: string, name: string, resourceVersion: string) =>
    `${JSON.stringify({ type, object: configMapOf(name, resourceVersion) })}\n`;

  test("list first if the server has no streaming lists, and continue after the server ends a watch", async () => {
    const positions: (string | null)[] = [];
    await using api = await fakeApi((request, response) => {
      if (sendDiscovery(request, response)) return;
      const { searchParams } = new URL(request.url ?? "", "http://a");
      if (searchParams.has("sendInitialEvents")) {
        sendJson(response, 422, {
          kind: "Status",
          code: 422,
          reason: "Invalid",
          message: "sendInitialEvents is forbidden",
        });
      } else if (searchParams.has("watch")) {
        positions.push(searchParams.get("resourceVersion"));
        response.end(event(positions.length === 1 ? "MODIFIED" : "DELETED", "a", String(10 + positions.length)));
      } else {
        sendJson(response, 200, { metadata: { resourceVersion: "10" }, items: [configMapOf("a", "7")] });
      }
    });
    const cluster = connect(configOf(api.url), apiDeps);
    const types: string[] = [];
    for await (const { type } of cluster.watch(query, signal)) {
      types.push(type);
      if (type === "DELETED") break;
    }
    expect(types).toEqual(["ADDED", "BOOKMARK", "MODIFIED", "DELETED"]);
    expect(positions).toEqual(["10", "11"]);
    cluster.close();
  });

  test.each([
    {
      name: "an error of the server",
      line: `${JSON.stringify({ type: "ERROR", object: expired })}\n`,
      reason: "Expired",
    },
    { name: "half a line", line: '{"type":"ADD', reason: "Unreachable" },
    { name: "a line that is not an event", line: "{}\n", reason: "InternalError" },
  ])("end with $name by throwing", async ({ line, reason }) => {
    await using api = await fakeApi((request, response) => {
      if (!sendDiscovery(request, response)) response.end(event("ADDED", "a", "1") + line);
    });
    const cluster = connect(configOf(api.url), apiDeps);
    const watching = cluster.watch(query, signal)[Symbol.asyncIterator]();
    await watching.next();
    expect(await reasonOf(watching.next())).toBe(reason);
    cluster.close();
  });

  test("whose connection breaks end by throwing", async () => {
    await using api = await fakeApi((request, response) => {
      if (!sendDiscovery(request, response)) response.write(event("ADDED", "a", "1"), () => request.socket.destroy());
    });
    const cluster = connect(configOf(api.url), apiDeps);
    const watching = cluster.watch(query, signal)[Symbol.asyncIterator]();
    await watching.next();
    expect(await reasonOf(watching.next())).toBe("Unreachable");
    cluster.close();
  });

  test("that end inside the initial list start again, and do not continue from an object's version", async () => {
    let opened = 0;
    await using api = await fakeApi((request, response) => {
      if (sendDiscovery(request, response)) return;
      opened += 1;
      response.end(event("ADDED", "a", "9"));
    });
    const cluster = connect(configOf(api.url), apiDeps);
    const watching = cluster.watch(query, signal)[Symbol.asyncIterator]();
    await watching.next();
    expect(await reasonOf(watching.next())).toBe("Unreachable");
    expect(opened).toBe(1);
    cluster.close();
  });

  test("that cannot start leave no listener on a long-lived signal", async () => {
    await using api = await fakeApi((request, response) => {
      if (!sendDiscovery(request, response)) request.socket.destroy();
    });
    const cluster = connect(configOf(api.url), apiDeps);
    const living = new AbortController();
    expect(await reasonOf(cluster.watch(query, living.signal)[Symbol.asyncIterator]().next())).toBe("Unreachable");
    expect(getEventListeners(living.signal, "abort")).toEqual([]);
    cluster.close();
  });

  test("that are no longer read close their connection", async () => {
    const closed = Promise.withResolvers<void>();
    await using api = await fakeApi((request, response) => {
      if (sendDiscovery(request, response)) return;
      request.socket.on("close", () => {
        closed.resolve();
      });
      response.write(event("ADDED", "a", "1"));
    });
    const cluster = connect(configOf(api.url), apiDeps);
    for await (const { type } of cluster.watch(query, signal)) if (type === "ADDED") break;
    await expect(closed.promise).resolves.toBeUndefined();
    cluster.close();
  });
});
