import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { accept, contentType, jsonish, path, target, tree } from "./arbitraries.ts";
import { type Answer, type RawKubernetes, rawKubernetes } from "./raw-kubernetes.ts";

let kubernetes: RawKubernetes;
beforeAll(async () => {
  kubernetes = await rawKubernetes();
});
afterAll(async () => {
  await kubernetes.close();
});

/** What a client may be answered: never the text of a failure that the server did not foresee. */
function expectForeseen({ status, text: body }: Answer): void {
  expect(body).not.toContain("the embedded cluster failed");
  expect(status).toBeGreaterThanOrEqual(200);
}

describe("no request makes the embedded API server fail", () => {
  test("any path, query, verb, media type and body", async () => {
    const method = fc.constantFrom("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS");
    await fc.assert(
      fc.asyncProperty(method, path, contentType, accept, jsonish, async (verb, where, type, wants, body) => {
        const headers = { "content-type": type, accept: wants };
        expectForeseen(await kubernetes.call(verb, where, ["GET", "HEAD"].includes(verb) ? "" : body, headers));
      }),
      { numRuns: 600 },
    );
    expect(kubernetes.failures).toEqual([]);
  });

  test("objects and patches of any shape", async () => {
    await fc.assert(
      fc.asyncProperty(target, tree, contentType, fc.boolean(), async (one, body, type, isCreate) => {
        const isObject = typeof body === "object" && body !== null && !Array.isArray(body);
        const document = isObject ? { ...body, ...one.identity } : body;
        const sent = JSON.stringify(document);
        const json = { "content-type": "application/json" };
        if (isCreate) expectForeseen(await kubernetes.call("POST", one.list, sent, json));
        else expectForeseen(await kubernetes.call("PUT", one.path, sent, json));
        expectForeseen(await kubernetes.call("PATCH", `${one.path}?fieldManager=a`, sent, { "content-type": type }));
        expectForeseen(
          await kubernetes.call("GET", one.list, "", { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" }),
        );
      }),
      { numRuns: 300 },
    );
    expect(kubernetes.failures).toEqual([]);
  });
});
