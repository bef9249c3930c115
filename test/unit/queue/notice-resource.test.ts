import { describe, expect, test } from "vitest";
import { requestedAtAnnotation } from "../../../lib/api/names.ts";
import type { Metadata } from "../../../lib/core/manifest.ts";
import { formatWorkKey } from "../../../lib/core/work-key.ts";
import { noticeAll, noticeGone, noticeResource } from "../../../lib/queue/notice-resource.ts";
import { keyOf, never } from "../../contract/state-back-end.ts";

const key = keyOf("web");
const metadata: Metadata = { name: "web", namespace: "apps", uid: "u", generation: 1 };

/** Sightings on a map, and a log of what was asked for and remembered, in its order. */
function noticeWorld() {
  const sightings = new Map<string, string>();
  const log: string[] = [];
  const deps = {
    sightings: {
      get: async (of: typeof key) => sightings.get(formatWorkKey(of)),
      put: async (of: typeof key, sighting: string) => {
        log.push(`remembers ${of.name}`);
        sightings.set(formatWorkKey(of), sighting);
      },
      remove: async (of: typeof key) => {
        log.push(`forgets ${of.name}`);
        sightings.delete(formatWorkKey(of));
      },
      list: async () =>
        [...sightings].map(([text, sighting]) => ({ key: keyOf(text.split("/").at(-1) ?? ""), sighting })),
    },
    requests: { request: async (of: typeof key, reason: string) => void log.push(`asks for ${of.name}: ${reason}`) },
  };
  return {
    log,
    deps,
    notice: (change: Partial<Metadata> = {}) =>
      noticeResource({ key, metadata: { ...metadata, ...change } }, deps, never),
  };
}

describe("a custom resource that is noticed", () => {
  test("asks for a run where it is new, and is remembered last, so that a crash between costs a run and loses none", async () => {
    const { notice, log } = noticeWorld();
    expect(await notice()).toBe(true);
    expect(log).toEqual(["asks for web: resource changed", "remembers web"]);
    expect(await notice()).toBe(false);
    expect(log).toHaveLength(2);
  });

  test.each<{ name: string; change: Partial<Metadata>; asks: boolean }>([
    { name: "another spec", change: { generation: 2 }, asks: true },
    { name: "another object of its name", change: { uid: "v" }, asks: true },
    { name: "a requested time", change: { annotations: { [requestedAtAnnotation]: "now" } }, asks: true },
    { name: "its deletion", change: { deletionTimestamp: "2026-01-01T00:00:00Z" }, asks: true },
    { name: "another annotation", change: { annotations: { note: "now" } }, asks: false },
    { name: "a label", change: { labels: { a: "b" } }, asks: false },
    { name: "a written status", change: { resourceVersion: "9" }, asks: false },
  ])("with $name asks for a run: $asks", async ({ change, asks }) => {
    const { notice } = noticeWorld();
    await notice();
    expect(await notice(change)).toBe(asks);
  });

  test("that is gone asks for a last run, and is forgotten after it", async () => {
    const { deps, notice, log } = noticeWorld();
    await notice();
    await noticeGone(key, deps, never);
    expect(log.slice(2)).toEqual(["asks for web: resource gone", "forgets web"]);
    expect(await notice()).toBe(true);
  });
});

test("a whole list asks for what is new or changed in it, and for what is in it no more, and counts them", async () => {
  const { deps, log } = noticeWorld();
  const seen = (name: string, generation = 1) => ({ key: keyOf(name), metadata: { name, uid: name, generation } });
  expect(await noticeAll(key, [seen("a"), seen("b"), seen("c")], deps, never)).toBe(3);
  log.length = 0;
  expect(await noticeAll(key, [seen("a"), seen("b", 2), seen("d")], deps, never)).toBe(3);
  expect(log).toEqual([
    "asks for b: resource changed",
    "remembers b",
    "asks for d: resource changed",
    "remembers d",
    "asks for c: resource gone",
    "forgets c",
  ]);
});
