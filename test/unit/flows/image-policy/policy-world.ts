import { ImagePolicyStatus } from "../../../../lib/api/image-policy.ts";
import { Failure } from "../../../../lib/core/failure.ts";
import type { JsonObject } from "../../../../lib/core/json.ts";
import type { LiveObject } from "../../../../lib/core/manifest.ts";
import type { Cluster } from "../../../../lib/core/ports/cluster.ts";
import { asHome } from "../../../../lib/core/ports/home-and-target.ts";
import type { FlowResult } from "../../../../lib/core/ports/run.ts";
import { formatWorkKey, type WorkKey } from "../../../../lib/core/work-key.ts";
import { imagePolicyFlow } from "../../../../lib/flows/image-policy/image-policy-flow.ts";
import type { ImagePolicyDeps } from "../../../../lib/flows/image-policy/policy-context.ts";
import { defaultTiming } from "../../../../lib/flows/interval.ts";
import { sqliteImageTags } from "../../../../local/state/image-tags.ts";
import { openStateDatabase } from "../../../../local/state/state-database.ts";
import { sqliteSubscriptions } from "../../../../local/state/subscriptions.ts";
import { sqliteWorkItems } from "../../../../local/state/work-items.ts";
import { leased } from "../../../contract/state-back-end.ts";
import { untilDeadline } from "../../../deadline.ts";
import { checkedLease } from "../../../doubles/checked-lease.ts";
import { recordedLog } from "../../../doubles/recorded-log.ts";
import { recordedMetrics } from "../../../doubles/recorded-metrics.ts";

const { signal } = new AbortController();
const group = "image.toolkit.fluxcd.io";
type Kind = "ImagePolicy" | "ImageRepository" | "ImageUpdateAutomation";

/** The process ends here. */
export class Killed extends TypeError {}

export const image = "registry.test/app";

/** A namespace of a cluster, the state of an installation in memory, and the flow of ImagePolicies on them. */
export function policyWorld(cluster: Cluster, namespace: string) {
  const database = openStateDatabase(":memory:");
  const items = sqliteWorkItems(database);
  const imageTags = sqliteImageTags(database);
  const subscriptions = sqliteSubscriptions(database);
  const requested: string[] = [];
  const lookups: string[] = [];
  const digests = new Map<string, string>();
  const log = recordedLog();
  const state = {
    now: Date.UTC(2026, 10, 28, 12),
    carried: undefined as JsonObject | undefined,
    isRequested: true,
    isRetry: false,
    noCrossNamespaceRefs: false,
    /** Called just before a run works on the tags. */
    onTags: (): void => undefined,
    /** Writes that are made before the process ends. */
    writesLeft: Number.POSITIVE_INFINITY,
  };
  const writes: string[] = [];
  const write = (what: string): void => {
    if (state.writesLeft-- <= 0) throw new Killed(what);
    writes.push(what);
  };
  const home: Cluster = {
    ...cluster,
    patch: async (...given) => {
      write("patch");
      return cluster.patch(...given);
    },
  };
  const keyOf = (kind: Kind, name: string, within = namespace): WorkKey => ({
    ...{ cluster: "here", group, kind, namespace: within, name },
  });
  const refOf = (kind: Kind, name: string, within = namespace) => ({
    ...{ group, version: "v1", kind, namespace: within, name },
  });
  const deps = (): ImagePolicyDeps => ({
    home: asHome(home),
    clock: { now: () => state.now, monotonic: () => state.now, sleep: async () => undefined },
    log,
    metrics: recordedMetrics(),
    subscriptions,
    requests: {
      async request(key, reason) {
        write("request");
        requested.push(`${key.kind}/${key.name}: ${reason}`);
      },
    },
    jitter: () => 0.5,
    timing: defaultTiming,
    imageTags: {
      ...imageTags,
      async get(...given) {
        const known = await imageTags.get(...given);
        state.onTags();
        return known;
      },
    },
    noCrossNamespaceRefs: state.noCrossNamespaceRefs,
    async digestOfTag(repository, tag) {
      lookups.push(`${repository.spec.image}:${tag}`);
      const digest = digests.get(tag);
      if (digest === undefined) throw new Failure("Failed", `failed fetching digest of ${tag}: no such tag`);
      return digest;
    },
  });
  const apply = async (kind: Kind, name: string, spec: JsonObject, within = namespace): Promise<LiveObject> => {
    const manifest = { apiVersion: `${group}/v1`, kind, metadata: { name, namespace: within }, spec };
    return (await cluster.apply(manifest, { manager: "test", force: true }, signal)).object;
  };
  const self = {
    namespace,
    state,
    writes,
    requested,
    lookups,
    digests,
    log,
    apply,
    get: (name = "app") => cluster.get(refOf("ImagePolicy", name), signal),
    repository: (spec: JsonObject = {}, within = namespace) =>
      apply("ImageRepository", "app", { image, interval: "1h", ...spec }, within),
    policy: (spec: JsonObject) => apply("ImagePolicy", "app", { imageRepositoryRef: { name: "app" }, ...spec }),
    automation: (name: string) =>
      apply("ImageUpdateAutomation", name, {
        interval: "1h",
        sourceRef: { kind: "GitRepository", name: "app" },
        git: { commit: { author: { email: "flux@example.test" } } },
      }),
    /** The tags that the last scan has found. */
    async tags(found: readonly string[], within = namespace): Promise<void> {
      const tags = found.toSorted((a, b) => Buffer.compare(Buffer.from(b), Buffer.from(a)));
      const fence = await leased({ items }, keyOf("ImageRepository", "app", within));
      await imageTags.put({ tags, revision: found.join() }, fence, signal);
    },
    async remove(name = "app"): Promise<void> {
      await cluster.delete(refOf("ImagePolicy", name), { propagation: "Background" }, signal);
    },
    async annotate(annotations: Readonly<Record<string, string | null>>): Promise<void> {
      const body = { metadata: { annotations } };
      await cluster.patch(refOf("ImagePolicy", "app"), { type: "merge", body }, { manager: "test" }, signal);
    },
    async status(): Promise<ImagePolicyStatus> {
      return ImagePolicyStatus.parse((await self.get())?.["status"] ?? {});
    },
    /** `Ready=True Succeeded: text` and the like. */
    async conditions(): Promise<readonly string[]> {
      const { conditions = [] } = await self.status();
      return conditions.map(({ message, reason, status, type }) => `${type}=${status} ${reason}: ${message}`);
    },
    /** In the order of their times. */
    async events(): Promise<readonly string[]> {
      const found = await cluster.list({ group: "", version: "v1", kind: "Event", namespace }, signal);
      return found
        .toSorted((a, b) => (String(a["lastTimestamp"]) < String(b["lastTimestamp"]) ? -1 : 1))
        .map((event) => `${String(event["type"])} ${String(event["reason"])}: ${String(event["message"])}`);
    },
    subscriptions: (): readonly string[] =>
      database.connection
        .prepare("SELECT what FROM edges WHERE key = ?")
        .all(formatWorkKey(keyOf("ImagePolicy", "app")))
        .map(({ what }) => String(what)),
    /** One run of the flow under a lease of its own, a minute after the one before. */
    async run(): Promise<FlowResult> {
      state.now += 60_000;
      const key = keyOf("ImagePolicy", "app");
      const fence = await leased({ items }, key);
      const lease = checkedLease(() => undefined);
      const now = deps();
      const result = await imagePolicyFlow({ ...now, home: lease.checked(now.home) })({
        key,
        fence,
        signal: untilDeadline(),
        assertLease: lease.assertLease,
        carried: state.carried,
        isRequested: state.isRequested,
        isRetry: state.isRetry,
        superseded: async () => false,
      });
      state.carried = result.carried;
      return result;
    },
    close: () => database.close(),
  };
  return self;
}
