import type { IncomingMessage, ServerResponse } from "node:http";
import { z } from "zod";
import { ImageUpdateAutomationStatus } from "../../../../lib/api/image-update-automation.ts";
import type { JsonObject } from "../../../../lib/core/json.ts";
import type { LiveObject } from "../../../../lib/core/manifest.ts";
import { homeNetwork } from "../../../../lib/core/network/network-policy.ts";
import type { Cluster } from "../../../../lib/core/ports/cluster.ts";
import { asHome } from "../../../../lib/core/ports/home-and-target.ts";
import type { FlowResult } from "../../../../lib/core/ports/run.ts";
import { formatWorkKey, type WorkKey } from "../../../../lib/core/work-key.ts";
import type { AutomationDeps } from "../../../../lib/flows/image-update-automation/automation-context.ts";
import { imageUpdateAutomationFlow } from "../../../../lib/flows/image-update-automation/image-update-automation-flow.ts";
import { automationRepositories } from "../../../../lib/flows/image-update-automation/open-repository.ts";
import { defaultTiming } from "../../../../lib/flows/interval.ts";
import { httpClient } from "../../../../lib/http/http-client.ts";
import { sqliteArtifactRecords } from "../../../../local/state/artifact-records.ts";
import { defaultGitLimits } from "../../../../lib/sources/git/git-remote.ts";
import { openStateDatabase } from "../../../../local/state/state-database.ts";
import { sqliteSubscriptions } from "../../../../local/state/subscriptions.ts";
import { sqliteWorkItems } from "../../../../local/state/work-items.ts";
import { leased } from "../../../contract/state-back-end.ts";
import { untilDeadline } from "../../../deadline.ts";
import { checkedLease } from "../../../doubles/checked-lease.ts";
import { gitRepository, gitServer } from "../../../doubles/git-server.ts";
import { noHelm } from "../../../doubles/no-helm.ts";
import { recordedLog } from "../../../doubles/recorded-log.ts";
import { recordedMetrics } from "../../../doubles/recorded-metrics.ts";

const { signal } = new AbortController();
const imageApi = { group: "image.toolkit.fluxcd.io", version: "v1" };
const sourceApi = { group: "source.toolkit.fluxcd.io", version: "v1" };
const automationKind = "ImageUpdateAutomation";

const Event = z.object({
  involvedObject: z.object({ name: z.string() }),
  message: z.string(),
  reason: z.string(),
  type: z.string(),
});

/** The process ends here. */
export class Killed extends TypeError {}

/** A file whose image the marker of this policy sets. */
export function marked(image: string, marker: string): string {
  return `# kept\r\nspec:\n  image: ${image} # {"$imagepolicy": "${marker}"}\n`;
}

export type AutomationWorld = Awaited<ReturnType<typeof automationWorld>>;

/** A namespace of a cluster, a repository of real git behind its own server, and the flow of ImageUpdateAutomations between them. */
export async function automationWorld(cluster: Cluster, namespace: string) {
  await using opening = new AsyncDisposableStack();
  const repository = opening.use(await gitRepository());
  await repository.git("config", "http.receivepack", "true");
  await repository.git("config", "receive.advertisePushOptions", "true");
  const state = {
    now: Date.UTC(2026, 10, 29, 12),
    carried: undefined as JsonObject | undefined,
    isRequested: true,
    noCrossNamespaceRefs: false,
    limits: { ...defaultGitLimits },
    /** Writes that are made before the process ends. */
    writesLeft: Number.POSITIVE_INFINITY,
    /** What happens when the server gets a push, before git sees it. */
    onPush: async (): Promise<void> => undefined,
    /** Answers what is asked of the API of the host, below `/api/`. */
    api: (_request: IncomingMessage, response: ServerResponse): void => void response.writeHead(404).end(),
    /** Whether the answer of the server to a push does not come back. */
    losesAnswer: false,
  };
  const writes: string[] = [];
  const write = (what: string): void => {
    if (state.writesLeft-- <= 0) throw new Killed(what);
    writes.push(what);
  };
  const pushesOf = (request: IncomingMessage): boolean =>
    request.method === "POST" && request.url?.endsWith("/git-receive-pack") === true;
  const before = (request: IncomingMessage, response: ServerResponse, next: () => void): void => {
    if (request.url?.startsWith("/api/") === true) return state.api(request, response);
    // Hosts have repositories of owners; here is one without.
    if (request.url?.startsWith("/acme/") === true) request.url = request.url.slice("/acme".length);
    if (!pushesOf(request)) return next();
    if (state.losesAnswer) {
      response.write = () => true;
      response.end = () => response.destroy();
    }
    state.onPush().then(next, () => response.destroy());
  };
  const server = opening.use(await gitServer(repository, { before }));
  const http = httpClient({ network: homeNetwork });
  opening.defer(() => http.close());
  const database = openStateDatabase(":memory:");
  opening.defer(() => database.close());
  const items = sqliteWorkItems(database);
  const subscriptions = sqliteSubscriptions(database);
  const log = recordedLog();
  const killable = <Port extends object>(name: string, port: Port, calls: readonly (keyof Port & string)[]): Port =>
    new Proxy(port, {
      get(target, key: string) {
        const value: unknown = Reflect.get(target, key);
        if (typeof value !== "function" || !calls.some((call) => call === key)) return value;
        return async (...given: readonly unknown[]) => {
          write(`${name}.${key}`);
          return Reflect.apply(value, target, given) as unknown;
        };
      },
    });
  const keyOf = (name: string): WorkKey => ({
    ...{ cluster: "here", namespace, name, kind: automationKind },
    group: imageApi.group,
  });
  const refOf = (kind: string, name: string, within = namespace) => ({
    ...(kind === "GitRepository" ? sourceApi : kind === "Secret" ? { group: "", version: "v1" } : imageApi),
    ...{ kind, namespace: within, name },
  });
  const told: { readonly name: string; readonly text: string }[] = [];
  const telling: Cluster = {
    ...cluster,
    async create(event, options, within) {
      const created = await cluster.create(event, options, within);
      const { involvedObject, message, reason, type } = Event.parse(event);
      told.push({ name: involvedObject.name, text: `${type} ${reason}: ${message}` });
      return created;
    },
  };
  const home = killable("cluster", telling, ["apply", "create", "patch", "delete"]);
  const clock = { now: () => state.now, monotonic: () => state.now, sleep: async () => undefined };
  const unexpected = async (): Promise<never> => {
    throw new Error("not in this test");
  };
  const logins = { github: unexpected, aws: undefined };
  const openRepository = automationRepositories({ http, dial: http.dial, logins, sshAlgorithms: {} }, state.limits);
  const deps = (): AutomationDeps => ({
    http,
    messages: noHelm,
    openRepository: async (spec, access) => {
      const opened = await openRepository(spec, access);
      return {
        ...opened,
        clone: async (at, within) => killable("git", await opened.clone(at, within), ["push"]),
      };
    },
    home: asHome(home),
    clock,
    log,
    metrics: recordedMetrics(),
    subscriptions: killable("subscriptions", subscriptions, ["subscribe"]),
    requests: { request: unexpected },
    artifacts: { put: unexpected, get: unexpected, has: unexpected },
    records: sqliteArtifactRecords(database),
    jitter: () => 0.9,
    timing: defaultTiming,
    noCrossNamespaceRefs: state.noCrossNamespaceRefs,
  });
  const apply = async (kind: string, name: string, spec: JsonObject, within = namespace): Promise<LiveObject> => {
    const { group, version } = refOf(kind, name);
    const manifest = { apiVersion: `${group}/${version}`, kind, metadata: { name, namespace: within }, spec };
    return (await cluster.apply(manifest, { manager: "test", force: true }, signal)).object;
  };
  const patchStatus = async (kind: string, name: string, status: JsonObject): Promise<void> => {
    const options = { manager: "test", subresource: "status" };
    await cluster.patch(refOf(kind, name), { type: "merge", body: { status } }, options, signal);
  };
  const opened = opening.move();
  const self = {
    cluster,
    namespace,
    repository,
    server,
    state,
    writes,
    log,
    keyOf,
    apply,
    patchStatus,
    get: (kind: string, name: string) => cluster.get(refOf(kind, name), signal),
    async remove(kind: string, name: string): Promise<void> {
      await cluster.delete(refOf(kind, name), { propagation: "Background" }, signal);
    },
    async annotate(annotations: Readonly<Record<string, string | null>>, name = "app"): Promise<void> {
      const body = { metadata: { annotations } };
      await cluster.patch(refOf(automationKind, name), { type: "merge", body }, { manager: "test" }, signal);
    },
    async secret(name: string, data: Readonly<Record<string, string>>, within = namespace): Promise<void> {
      const encoded = Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString("base64")] as const);
      const manifest = {
        ...{ apiVersion: "v1", kind: "Secret", metadata: { name, namespace: within } },
        data: Object.fromEntries(encoded),
      };
      await cluster.apply(manifest, { manager: "test", force: true }, signal);
    },
    source: (spec: JsonObject = {}, name = "app", within = namespace) =>
      apply("GitRepository", name, { interval: "60m", url: server.url, ref: { branch: "main" }, ...spec }, within),
    /** An ImagePolicy that has chosen an image, unless there is none. */
    async policy(
      name: string,
      latestRef: JsonObject | undefined,
      labels: Readonly<Record<string, string>> = {},
    ): Promise<void> {
      const { group, version } = imageApi;
      const spec = { imageRepositoryRef: { name }, policy: { semver: { range: "1.x" } } };
      const metadata = { name, namespace, labels };
      const manifest = { apiVersion: `${group}/${version}`, kind: "ImagePolicy", metadata, spec };
      await cluster.apply(manifest, { manager: "test", force: true }, signal);
      if (latestRef !== undefined) await patchStatus("ImagePolicy", name, { latestRef });
    },
    automation: (spec: JsonObject = {}, git: JsonObject = {}, name = "app") =>
      apply(automationKind, name, {
        ...{ interval: "60m", sourceRef: { kind: "GitRepository", name: "app" } },
        git: { commit: { author: { name: "Flux", email: "flux@example.test" } }, ...git },
        ...spec,
      }),
    async status(name = "app"): Promise<ImageUpdateAutomationStatus> {
      const live = await self.get(automationKind, name);
      return ImageUpdateAutomationStatus.parse(live?.["status"] ?? {});
    },
    /** `Ready=True Succeeded: text` and the like. */
    async conditions(name = "app"): Promise<readonly string[]> {
      const { conditions = [] } = await self.status(name);
      return conditions.map(({ message, reason, status, type }) => `${type}=${status} ${reason}: ${message}`);
    },
    /** `Normal Succeeded: text`, in the order in which they were recorded. */
    events: (name = "app"): readonly string[] => told.flatMap((event) => (event.name === name ? [event.text] : [])),
    subscriptionsOf: (name = "app"): readonly string[] =>
      database.connection
        .prepare("SELECT what FROM edges WHERE key = ?")
        .all(formatWorkKey(keyOf(name)))
        .map(({ what }) => String(what)),
    /** The text of a file at the head of a branch. */
    file: (path: string, branch = "main") => repository.git("show", `refs/heads/${branch}:${path}`),
    head: (branch = "main") => repository.git("rev-parse", `refs/heads/${branch}`),
    /** How many commits a branch has. */
    commits: async (branch = "main") => Number(await repository.git("rev-list", "--count", `refs/heads/${branch}`)),
    /** One run of the flow under a lease of its own. */
    async run(name = "app"): Promise<FlowResult> {
      const key = keyOf(name);
      const fence = await leased({ items }, key);
      const lease = checkedLease(() => undefined);
      const now = deps();
      const result = await imageUpdateAutomationFlow({ ...now, home: lease.checked(now.home) })({
        key,
        fence,
        signal: untilDeadline(),
        assertLease: lease.assertLease,
        carried: state.carried,
        isRequested: state.isRequested,
        superseded: async () => false,
      });
      state.carried = result.carried;
      state.now += 1_000;
      return result;
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
  return self;
}
