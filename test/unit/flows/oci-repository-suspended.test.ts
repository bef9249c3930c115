import { beforeEach, describe, expect, test } from "vitest";
import { OciRepositoryStatus } from "../../../lib/api/oci-repository.ts";
import { file, seenSources } from "./seen-sources.ts";
import { ociRepository } from "./source-world.ts";

const { world, url, condition, conditionTypes } = seenSources();

describe("a suspended OCIRepository", () => {
  beforeEach(async () => {
    await world().push("latest", file);
    world().apply(ociRepository("app", { url: url() }));
    await world().run();
    world().writes.length = 0;
    world().requested.length = 0;
  });

  test("11.1/9, 11.1/10: sends no request but observes its generation, and can be deleted", async () => {
    const { status } = world().get("app");
    const { conditions = [] } = OciRepositoryStatus.parse(status);
    world().apply(ociRepository("app", { url: url(), ref: { tag: "other" }, ignore: "a.yaml", suspend: true }));
    world().annotate("app", { "reconcile.fluxcd.io/requestedAt": "two" });
    world().sent.length = 0;
    world().state.now += 5_000;
    const asked: string[] = [];
    const { artifacts, records } = world().deps;
    world().deps.artifacts = { get: ask("get"), has: ask("has"), put: ask("put") };
    world().deps.records = { ...records, record: ask("record"), retain: ask("retain"), recorded: ask("recorded") };
    function ask(what: string) {
      return async (): Promise<never> => {
        asked.push(what);
        throw new Error("a suspended source looked into the storage");
      };
    }
    expect(await world().run()).toMatchObject({ outcome: "suspended", dueInMs: undefined });
    expect([world().sent, asked]).toEqual([[], []]);
    expect(world().get("app")["status"]).toEqual({
      ...Object(status),
      observedGeneration: 2,
      lastHandledReconcileAt: "two",
      conditions: conditions.map((one) => (one.type === "Ready" ? { ...one, observedGeneration: 2 } : one)),
    });

    Object.assign(world().deps, { artifacts, records });
    expect(world().recorded.size).toBe(1);
    world().delete("app");
    expect(await world().run()).toMatchObject({ outcome: "deleted" });
    expect(world().has("app")).toBe(false);
    expect([...world().listens.values()]).toEqual([[]]);
    expect([...world().recorded]).toEqual([]);
  });

  test("11.1/9: that had failed shows that a retry is due, with the new generation, as Flux summarises it", async () => {
    world().apply(ociRepository("app", { url: url(), ref: { tag: "absent" } }));
    await world().run();
    const { conditions = [] } = OciRepositoryStatus.parse(world().get("app")["status"]);
    expect(conditionTypes("app")).toEqual(["Reconciling", "Ready", "FetchFailed", "ArtifactInStorage"]);
    world().apply(ociRepository("app", { url: url(), suspend: true }));
    await world().run();
    const moved = ["Reconciling", "Ready"];
    expect(world().get("app")["status"]).toMatchObject({
      observedGeneration: 3,
      conditions: conditions.map((one) => (moved.includes(one.type) ? { ...one, observedGeneration: 3 } : one)),
    });
  });

  test("11.1/9: that had stalled is no longer stalled, and stays not ready", async () => {
    world().apply(ociRepository("app", { url: "oci://registry.example.test/app:1.0" }));
    await world().run();
    expect(conditionTypes("app")).toContain("Stalled");
    world().apply(ociRepository("app", { url: "oci://registry.example.test/app:1.0", suspend: true }));
    await world().run();
    expect(conditionTypes("app")).not.toContain("Stalled");
    expect(condition("app", "Ready")).toMatchObject({ status: "False", reason: "URLInvalid", observedGeneration: 3 });
  });

  test("11.1/9: that was created suspended has no conditions and no observed generation", async () => {
    world().apply(ociRepository("new", { url: url(), suspend: true }));
    world().annotate("new", { "reconcile.fluxcd.io/requestedAt": "one" });
    await world().run("new");
    expect(world().get("new")["status"]).toEqual({ observedGeneration: -1, lastHandledReconcileAt: "one" });
  });
});
