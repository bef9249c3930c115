import { expect, test } from "vitest";
import type { LiveObject } from "../../../../lib/core/manifest.ts";
import { canaryListings } from "../../../../lib/flows/canary/same-target.ts";

const { signal } = new AbortController();

function canary(name: string): LiveObject {
  const metadata = { name, namespace: "apps", uid: name, creationTimestamp: "2026-10-01T00:00:00Z" };
  return {
    apiVersion: "flagger.app/v1beta1",
    kind: "Canary",
    metadata,
    spec: { targetRef: { kind: "Service", name } },
  };
}

test("the Canaries of a namespace are listed once for all runs that started before, and again for a run that starts later", async () => {
  let now = 0;
  const lists: string[] = [];
  const stored = [canary("one")];
  const home = {
    list: async ({ namespace = "" }: { readonly namespace?: string }) => {
      lists.push(namespace);
      return [...stored];
    },
  };
  const list = canaryListings({ monotonic: () => now });
  const names = async (namespace: string, since: number) =>
    (await list({ namespace, home, signal }, since)).map(({ name }) => name);
  now = 10;
  expect(await Promise.all([names("apps", 1), names("apps", 2), names("other", 3)])).toEqual([
    ["one"],
    ["one"],
    ["one"],
  ]);
  stored.push(canary("two"));
  now = 20;
  expect(await names("apps", 9)).toEqual(["one"]);
  expect(await names("apps", 15)).toEqual(["one", "two"]);
  expect(lists).toEqual(["apps", "other", "apps"]);
});
