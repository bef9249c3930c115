import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { declaredOciRepository } from "../../../../lib/api/kinds/oci-repository.ts";
import { OciRepositorySpec } from "../../../../lib/api/oci-repository.ts";
import type { JsonObject } from "../../../../lib/core/json.ts";
import type { Flow } from "../../../../lib/core/ports/run.ts";
import { Secret } from "../../../../lib/core/secret.ts";
import { ociRepositoryFlow } from "../../../../lib/flows/oci-repository/oci-repository-flow.ts";
import { registryOf } from "../../../../lib/flows/oci-repository/registry.ts";
import { sourceContext } from "../../../../lib/flows/source/source-context.ts";
import type { ShareListing } from "../../../../lib/sources/shared-listing.ts";
import { untilDeadline } from "../../../deadline.ts";
import { pem } from "../../../doubles/pem.ts";
import { ociRepository, sourceWorld, type World } from "../source-world.ts";

const file = { "a.yaml": "kind: ConfigMap\n" };
const names = ["a", "b", "c", "d"];

let world: World;
let flow: Flow;
beforeEach(async () => {
  world = await sourceWorld();
  await world.push("v1.0.0", file);
  flow = ociRepositoryFlow({ ...world.deps, clock: { ...world.deps.clock, monotonic: () => performance.now() } });
});
afterEach(() => world.close());

const run = (name: string) => world.run(name, untilDeadline(), () => flow);

/** Runs these at the same time; answers how often the registry was asked for tags, and for the digest of one. */
async function together(of: readonly string[]): Promise<{ readonly lists: number; readonly digests: number }> {
  world.sent.length = 0;
  await Promise.all(of.map(run));
  return {
    lists: world.sent.filter(({ url }) => url.includes("/tags/list")).length,
    digests: world.sent.filter(({ method, url }) => method === "HEAD" && url.includes("/manifests/")).length,
  };
}

function follow(name: string, ref: JsonObject): void {
  world.apply(ociRepository(name, { url: `oci://${world.address}/app`, ref }));
}

describe("OCIRepositories of one repository that run at the same time", () => {
  test("list its tags once, and each sees what was pushed before its own run", async () => {
    for (const name of names) follow(name, { semver: "1.x" });
    for (const name of names) await run(name);
    expect(await together(names)).toEqual({ lists: 1, digests: 1 });
    await world.push("v1.1.0", { "b.yaml": "kind: Secret\n" });
    expect(await together(names)).toEqual({ lists: 1, digests: 1 });
    for (const name of names) expect(JSON.stringify(world.get(name)["status"])).toContain('"revision":"v1.1.0@');
  });

  /** Runs `a`, and `b` beside it, which has begun before but subscribes only when the run of `a` is over. */
  async function lateSubscriber(): Promise<number> {
    const over = Promise.withResolvers<void>();
    const { subscribe } = world.deps.subscriptions;
    world.deps.subscriptions.subscribe = async (...args) => {
      if (args[1].key.name === "b") await over.promise;
      await subscribe(...args);
    };
    world.sent.length = 0;
    const late = run("b");
    await run("a");
    over.resolve();
    await late;
    world.deps.subscriptions.subscribe = subscribe;
    return world.sent.filter(({ url }) => url.includes("/tags/list")).length;
  }

  test("list the tags separately right after they subscribe, because no event told them about earlier pushes", async () => {
    follow("a", { semver: "1.x" });
    await run("a");
    follow("b", { semver: ">=1.0" });
    expect(await lateSubscriber()).toBe(2);
    // From now on an event would: what was listed after the run began is new enough.
    await run("b");
    expect(await lateSubscriber()).toBe(1);
  });

  test("with different tags, request each tag once", async () => {
    await world.push("v2.0.0", file);
    for (const [index, name] of names.entries()) follow(name, { tag: index < 2 ? "v1.0.0" : "v2.0.0" });
    for (const name of names.slice(0, 2)) await run(name);
    expect(await together(names.slice(0, 2))).toEqual({ lists: 0, digests: 1 });
    for (const name of names.slice(2)) await run(name);
    expect(await together(names.slice(2))).toEqual({ lists: 0, digests: 1 });
  });
});

/** A source, as far as it decides whose answers it may take. */
interface Asker {
  readonly spec?: Partial<OciRepositorySpec>;
  readonly host?: string;
  readonly repository?: string;
  readonly tag?: string;
  readonly cluster?: string;
  readonly namespace?: string;
}

/** The keys by which a source shares what it learns of a tag, and of the list of tags. */
async function keysOf(asker: Asker): Promise<readonly string[]> {
  const {
    spec = {},
    host = "reg.example",
    repository = "app",
    tag = "v1",
    namespace = "apps",
    cluster = "here",
  } = asker;
  const keys: string[] = [];
  const share: ShareListing = async ({ key, ask }, signal) => {
    keys.push(key);
    return ask(signal);
  };
  const fail = () => Promise.reject(new Error("the test did not expect this request"));
  const client = { manifest: fail, blob: fail, pushBlob: fail, referrers: fail, pushManifest: fail };
  const connect = () => ({ ...client, digestOfTag: async () => "sha256:0", tags: async () => [] });
  const aws = { credentials: async () => ({ username: "AWS", password: new Secret("x") }) };
  const whole = OciRepositorySpec.parse({ interval: "1m", url: `oci://${host}/${repository}`, ...spec });
  await world.run("app", AbortSignal.timeout(20_000), (deps) => async (run) => {
    const metadata = { name: "app", namespace, uid: "u" };
    const live = { apiVersion: "source.toolkit.fluxcd.io/v1", kind: "OCIRepository", metadata };
    const own = { ...run, key: { ...run.key, cluster, namespace } };
    const ctx = sourceContext({ declared: declaredOciRepository }, live, {}, own, deps);
    const registry = await registryOf({ host, repository }, whole, { connect, share, aws }, ctx);
    await registry.digestOfTag(repository, tag, run.signal);
    await registry.tags(repository, run.signal);
    return { outcome: "unchanged", dueInMs: undefined };
  });
  return keys;
}

test("sources share an answer of the registry only if nothing that may change the answer differs", async () => {
  const login = (username: string, password: string) => ({
    ".dockerconfigjson": JSON.stringify({ auths: { "reg.example": { username, password } } }),
  });
  const [ca, cert, key] = await Promise.all(["server.crt", "client.crt", "client.key"].map(pem));
  const secrets = {
    robot: login("robot", "hunter2"),
    "robot-old": login("robot", "hunter3"),
    jane: login("jane", "hunter2"),
    ca: { "ca.crt": ca ?? "" },
    pair: { "ca.crt": ca ?? "", "tls.crt": cert ?? "", "tls.key": key ?? "" },
  };
  for (const [name, texts] of Object.entries(secrets)) {
    const data = Object.fromEntries(
      Object.entries(texts).map(([field, text]) => [field, Buffer.from(text).toString("base64")]),
    );
    world.apply({ apiVersion: "v1", kind: "Secret", metadata: { name, namespace: "apps" }, data });
  }
  const askers: readonly Asker[] = [
    {},
    { host: "reg.example:5000" },
    { repository: "app-old" },
    { tag: "v1-old" },
    { spec: { insecure: true } },
    ...["robot", "robot-old", "jane"].map((name) => ({ spec: { secretRef: { name } } })),
    ...["ca", "pair"].map((name) => ({ spec: { certSecretRef: { name } } })),
    { spec: { secretRef: { name: "robot" }, certSecretRef: { name: "ca" } } },
    { spec: { provider: "aws" } },
    { spec: { provider: "aws" }, namespace: "apps-old" },
    { spec: { provider: "aws" }, cluster: "there" },
  ];
  const keys: string[] = [];
  // A list of tags does not depend on the tag that is wanted.
  for (const asker of askers) keys.push(...(await keysOf(asker)).slice(0, asker.tag === undefined ? 2 : 1));
  expect(keys.filter((one, at) => keys.indexOf(one) !== at)).toEqual([]);
  for (const spec of [{ interval: "2m" }, { timeout: "30s" }, { ignore: "*.md" }]) {
    expect(await keysOf({ spec })).toEqual(keys.slice(0, 2));
  }
});
