import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { LiveObject } from "../../../../lib/core/manifest.ts";
import { asTarget } from "../../../../lib/core/ports/home-and-target.ts";
import { type SharingContext, sharingTarget } from "../../../../lib/flows/owner/sharing-target.ts";
import { TargetFault } from "../../../../lib/flows/owner/target-fault.ts";
import { noCluster, noHome } from "../../../doubles/no-cluster.ts";
import { steppedClock } from "../../../doubles/stepped-clock.ts";

const { signal } = new AbortController();
const sibling = (name: string, secret: string, observedGeneration?: number): LiveObject => ({
  apiVersion: "kustomize.toolkit.fluxcd.io/v1",
  kind: "Kustomization",
  metadata: { name, namespace: "apps", uid: `uid-${name}`, generation: 2 },
  spec: { kubeConfig: { secretRef: { name: secret } } },
  status: observedGeneration === undefined ? {} : { observedGeneration },
});

type Opening = SharingContext["deps"]["remoteTargetOf"];

const cluster = (uid: string) => ({
  cluster: asTarget(noCluster),
  unimpersonated: noCluster,
  uid,
  fallbackUid: `unread:${uid}`,
  mayBe: () => false,
});

/** A run that applies to the cluster `ours`, and notes whose clusters it opens. */
function context(remoteTargetOf: Opening, saved: Readonly<Record<string, readonly string[]>> = {}) {
  const opened: string[] = [];
  const clock = steppedClock();
  const ctx: SharingContext = {
    deps: {
      clock,
      remoteTargetOf: (live, place, stop) => {
        opened.push(live.metadata.name);
        return remoteTargetOf(live, place, stop);
      },
      inventories: { clusters: async ({ uid }) => saved[uid] ?? [] },
    },
    home: noHome,
    homeUid: "home",
    live: sibling("self", "own"),
    owner: { uid: "uid-self", clusterUid: "ours" },
    remote: cluster("ours"),
    run: {
      key: {
        cluster: "c",
        group: "kustomize.toolkit.fluxcd.io",
        kind: "Kustomization",
        namespace: "apps",
        name: "self",
      },
      signal,
    },
  };
  return { ctx, clock, opened };
}

const never: Opening = () => new Promise(() => {});

async function sharing(ctx: SharingContext, all: readonly LiveObject[], orUnknown = false): Promise<readonly string[]> {
  return [...(await sharingTarget(all, orUnknown, ctx))].map(({ metadata }) => metadata.name);
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("the search for owners that apply to our cluster", () => {
  test("reads the saved inventories of an owner that has handled its spec, without a connection", async () => {
    const { ctx, opened } = context(never, { "uid-a": ["ours", "former"], "uid-c": ["unread:ours"] });
    expect(await sharing(ctx, [sibling("a", "1", 2), sibling("c", "3", 2)])).toEqual(["a", "c"]);
    expect(opened).toEqual([]);
  });

  test("connects if the saved inventories do not name our cluster, which may have another name there", async () => {
    const of: Readonly<Record<string, string>> = { stronger: "told", repointed: "ours", elsewhere: "elsewhere" };
    const opening: Opening = async ({ metadata: { name } }) => ({
      ...cluster(of[name] ?? ""),
      fallbackUid: fallback[name] ?? "f",
    });
    const fallback: Readonly<Record<string, string>> = { stronger: "unread:ours" };
    const saved = { "uid-stronger": ["told"], "uid-repointed": ["former"], "uid-elsewhere": ["elsewhere"] };
    const { ctx, opened } = context(opening, saved);
    const all = ["stronger", "repointed", "elsewhere"].map((name) => sibling(name, name, 2));
    expect(await sharing(ctx, all)).toEqual(["stronger", "repointed"]);
    expect(opened.toSorted()).toEqual(["elsewhere", "repointed", "stronger"]);
  });

  test("connects to the target of an owner with a new spec, or of one that has applied nothing yet", async () => {
    const of: Readonly<Record<string, string>> = { a: "ours", b: "elsewhere", c: "ours" };
    const opening: Opening = async ({ metadata }) => cluster(of[metadata.name] ?? "");
    const { ctx, opened } = context(opening, { "uid-a": ["elsewhere"], "uid-moved": ["ours"] });
    const all = [sibling("a", "1", 1), sibling("b", "2", 2), sibling("c", "3"), sibling("moved", "4", 1)];
    expect(await sharing(ctx, all)).toEqual(["a", "c"]);
    expect(opened.toSorted()).toEqual(["a", "b", "c", "moved"]);
  });

  test.each([false, true])(
    "does not wait long for a target; one that did not answer is not asked again for a while: %j",
    async (orUnknown) => {
      const is = ["dead", "alive"];
      const opening: Opening = (live, ...more) =>
        live.metadata.name === "dead" ? never(live, ...more) : Promise.resolve(cluster("ours"));
      const { ctx, clock, opened } = context(opening);
      const all = [sibling("dead", "1"), sibling("alive", "2")];
      const first = sharing(ctx, all, orUnknown);
      await vi.advanceTimersByTimeAsync(5_000);
      expect(await first).toEqual(is);
      expect(await sharing(ctx, all, orUnknown)).toEqual(is);
      expect(opened).toEqual(["dead", "alive", "alive"]);
      clock.pass(60_000);
      const later = sharing(ctx, all, orUnknown);
      await vi.advanceTimersByTimeAsync(5_000);
      await later;
      expect(opened).toEqual(["dead", "alive", "alive", "dead", "alive"]);
    },
  );

  test("tries a target for another home cluster even if a target of the same name did not answer here", async () => {
    const { ctx, opened } = context(never);
    const first = sharing(ctx, [sibling("dead", "1")]);
    await vi.advanceTimersByTimeAsync(5_000);
    await first;
    const there = { ...ctx, run: { ...ctx.run, key: { ...ctx.run.key, cluster: "d" } } };
    const second = sharing(there, [sibling("dead", "1")]);
    await vi.advanceTimersByTimeAsync(5_000);
    await second;
    expect(opened).toEqual(["dead", "dead"]);
  });

  test("compares kubeconfig Secrets by namespace and name: the same Secret means the same cluster", async () => {
    const { ctx, opened } = context(async () => cluster("elsewhere"));
    const { metadata, ...own } = sibling("far", "own");
    const far = { ...own, metadata: { ...metadata, namespace: "other" } };
    expect(await sharing(ctx, [sibling("near", "own"), far, sibling("prefix", "own-2")])).toEqual(["near"]);
    expect(opened).toEqual(["far", "prefix"]);
  });

  test("retries at once after a refusal, because a user may have fixed the cause", async () => {
    const { ctx, opened } = context(() => Promise.reject(new TargetFault("no Secret")));
    for (let runs = 0; runs < 2; runs++) expect(await sharing(ctx, [sibling("a", "1")])).toEqual([]);
    expect(opened).toEqual(["a", "a"]);
  });
});
