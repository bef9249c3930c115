import { describe, expect, test } from "vitest";
import { messageOf } from "../../../lib/core/failure.ts";
import type { JsonObject } from "../../../lib/core/json.ts";
import { answerBudget, remoteLimits } from "../../../lib/kube/answer-limits.ts";
import { type ApiClient, apiClient } from "../../../lib/kube/api-client.ts";
import { connect } from "../../../lib/kube/connect.ts";
import { maxListedObjects } from "../../../lib/kube/list-answer.ts";
import { listPages, maxEmptyPages } from "../../../lib/kube/list-pages.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { configMapOf, configOf, fakeApi, readNodes, sendDiscovery, sendJson } from "./fake-api.ts";

type Client = Pick<ApiClient, "budget" | "expect">;
const signal = new AbortController().signal;
const resource = { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true, verbs: [] };

/** How many objects a list has that the server gives in these pages. */
async function listed(...pages: readonly number[]): Promise<number> {
  const left = [...pages];
  const client: Client = {
    budget: answerBudget(),
    expect: async () => {
      const items = Array.from({ length: left.shift() ?? 0 }, () => ({}));
      const text = JSON.stringify({ metadata: { continue: left.length > 0 ? "next" : "" }, items });
      return { status: 200, headers: {}, rawHeaders: [], text };
    },
  };
  return (await listPages(client, resource, { ...resource }, "whole", signal)).items.length;
}

test("a list has a limit of objects over all pages", async () => {
  expect(await listed(maxListedObjects / 2, maxListedObjects / 2 - 1)).toBe(maxListedObjects - 1);
  expect(await listed(maxListedObjects / 2, maxListedObjects / 2)).toBe(maxListedObjects);
  await expect(listed(maxListedObjects / 2, maxListedObjects / 2, 1)).rejects.toThrow(
    `the cluster has more than ${maxListedObjects} objects at /api/v1/configmaps`,
  );
});

test("each page of a list is requested with the same selectors", async () => {
  const asked: unknown[] = [];
  const client: Client = {
    budget: answerBudget(),
    expect: async ({ query }) => {
      asked.push(query);
      const text = JSON.stringify({ metadata: { continue: asked.length === 1 ? "next" : "" }, items: [{}] });
      return { status: 200, headers: {}, rawHeaders: [], text };
    },
  };
  const selectors = { labelSelector: "a=b", fieldSelector: "metadata.name=c" };
  await listPages(client, resource, { ...resource, ...selectors }, "whole", signal);
  expect(asked).toMatchObject([
    { ...selectors, continue: undefined },
    { ...selectors, continue: "next" },
  ]);
});

describe("a list of a cluster in a kubeconfig", () => {
  /** Whether a list without an end is given up, and how many pages that took. What is kept of each item has about this many bytes. */
  const endless = async (parts: "metadata" | "whole", item: (bytes: number) => JsonObject) => {
    const budget = answerBudget(remoteLimits);
    let pages = 0;
    const text = JSON.stringify({ metadata: { continue: "next" }, items: [item(4 * 1024 * 1024)] });
    const client: Client = {
      budget,
      expect: async () => {
        if (++pages > 40) throw new Error("no end");
        return { status: 200, headers: {}, rawHeaders: [], text };
      },
    };
    const told = await listPages(client, resource, { ...resource }, parts, signal).then(() => "", messageOf);
    return { told, pages, held: budget.lists.bytes };
  };

  test("has a limit of bytes over all pages and all concurrent lists", async () => {
    const inMetadata = (bytes: number) => ({ metadata: { name: "a", annotations: { a: "x".repeat(bytes) } } });
    const told = `the cluster has lists of more than ${remoteLimits.lists} bytes at /api/v1/configmaps`;
    expect(await endless("whole", inMetadata)).toEqual({ told, pages: 16, held: 0 });
    expect(await endless("metadata", inMetadata)).toEqual({ told, pages: 16, held: 0 });
    // Whose data are not kept may have any.
    const inData = (bytes: number) => ({ metadata: { name: "a" }, data: { a: "x".repeat(bytes) } });
    expect(await endless("metadata", inData)).toEqual({ told: "no end", pages: 41, held: 0 });
  });

  test("has a limit of bytes in memory: short values take more than their text", async () => {
    const short = { metadata: { name: "a", annotations: Array.from({ length: 80_000 }, () => []) } };
    const text = JSON.stringify({ metadata: { continue: "next" }, items: Array.from({ length: 10 }, () => short) });
    for (const parts of ["whole", "metadata"] as const) {
      let pages = 0;
      const client: Client = {
        budget: answerBudget(remoteLimits),
        expect: async () => {
          if (++pages > 1) throw new Error("no end");
          return { status: 200, headers: {}, rawHeaders: [], text };
        },
      };
      const listing = listPages(client, resource, { ...resource }, parts, signal);
      await expect(listing).rejects.toThrow(`lists of more than ${remoteLimits.lists} bytes`);
    }
  });

  test("ends even if the server sends empty pages forever", async () => {
    let pages = 0;
    const client: Client = {
      budget: answerBudget(),
      expect: async () => {
        if (++pages > maxEmptyPages * 2) throw new Error("no end");
        return { status: 200, headers: {}, rawHeaders: [], text: '{"metadata":{"continue":"next"},"items":null}' };
      },
    };
    await expect(listPages(client, resource, { ...resource }, "whole", signal)).rejects.toThrow(/does not end/);
    expect(pages).toBe(maxEmptyPages + 1);
  });

  test("is requested in smaller pages if one is too long", async () => {
    const data = { a: "x".repeat(remoteLimits.answer / 100) };
    const limits: string[] = [];
    await using api = await fakeApi((request, response) => {
      if (sendDiscovery(request, response)) return;
      const limit = new URL(request.url ?? "", "http://a").searchParams.get("limit") ?? "";
      limits.push(limit);
      const items = Array.from({ length: Number(limit) }, (_, index) => ({ ...configMapOf(`a${index}`), data }));
      sendJson(response, 200, { metadata: {}, items });
    });
    const cluster = connect(configOf(api.url), { clock: systemClock, env: {}, limits: remoteLimits });
    const listed = await cluster.list({ group: "", version: "v1", kind: "ConfigMap" }, signal);
    expect(limits).toEqual(["500", "50"]);
    expect(listed).toHaveLength(50);
    cluster.close();
  });

  test("runs while only a few other lists run", async () => {
    const text = " ".repeat(remoteLimits.answer - 2) + "{}";
    const waiting: (() => void)[] = [];
    await using api = await fakeApi((_, response) => {
      response.write(text.slice(0, -1));
      waiting.push(() => response.end(text.slice(-1)));
    });
    const client = apiClient(configOf(api.url), { clock: systemClock, env: {}, limits: remoteLimits });
    const asked = Array.from({ length: 5 }, () => client.send(readNodes, signal).then(() => "", messageOf));
    const first = await Promise.race(asked);
    expect(first).toContain(`its answers of the same moment are longer than ${remoteLimits.arriving} bytes`);
    for (const end of waiting) end();
    expect((await Promise.all(asked)).filter((told) => told === "")).toHaveLength(4);
    expect(client.budget.arriving.bytes).toBe(0);
    client.close();
  });
});
