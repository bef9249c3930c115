import { expect, test } from "vitest";
import type { ApiClient } from "../../../lib/kube/api-client.ts";
import { listPages, maxListedObjects } from "../../../lib/kube/list-pages.ts";

const signal = new AbortController().signal;
const resource = { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true, verbs: [] };

/** How many objects a list has that the server gives in these pages. */
async function listed(...pages: readonly number[]): Promise<number> {
  const left = [...pages];
  const client: Pick<ApiClient, "expect"> = {
    expect: async () => {
      const items = Array.from({ length: left.shift() ?? 0 }, () => ({}));
      const text = JSON.stringify({ metadata: { continue: left.length > 0 ? "next" : "" }, items });
      return { status: 200, headers: {}, rawHeaders: [], text };
    },
  };
  return (await listPages(client, resource, { ...resource }, "application/json", signal)).items.length;
}

test("a list has a limit of objects, however many pages they come in", async () => {
  expect(await listed(maxListedObjects / 2, maxListedObjects / 2 - 1)).toBe(maxListedObjects - 1);
  expect(await listed(maxListedObjects / 2, maxListedObjects / 2)).toBe(maxListedObjects);
  await expect(listed(maxListedObjects / 2, maxListedObjects / 2, 1)).rejects.toThrow(
    `the cluster has more than ${maxListedObjects} objects at /api/v1/configmaps`,
  );
});
