import type { IncomingMessage, ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import { LeaseLost } from "../../../lib/core/ports/fence.ts";
import { asHome } from "../../../lib/core/ports/home-and-target.ts";
import { Secret } from "../../../lib/core/secret.ts";
import { leasedCluster } from "../../../lib/gate/leased-cluster.ts";
import type { ClusterConfig } from "../../../lib/kube/cluster-config.ts";
import { connect } from "../../../lib/kube/connect.ts";
import { apiDeps, configMapOf, configOf, type FakeApi, fakeApi, sendDiscovery, sendJson } from "./fake-api.ts";

const { signal } = new AbortController();
const ref = { group: "", version: "v1", kind: "ConfigMap", namespace: "n", name: "a" };
const manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "n" } };
const options = { manager: "test", force: true };

const writes: readonly [verb: string, write: (cluster: Cluster) => Promise<unknown>][] = [
  ["apply", (cluster) => cluster.apply(manifest, options, signal)],
  ["create", (cluster) => cluster.create(manifest, options, signal)],
  ["patch", (cluster) => cluster.patch(ref, { type: "merge", body: {} }, options, signal)],
  ["delete", (cluster) => cluster.delete(ref, { propagation: "Background" }, signal)],
];

describe.each(writes)("%s under a lease", (_verb, write) => {
  let api: FakeApi;
  let held = true;
  let sent: string[] = [];
  /** What the server does with a write, and with a question for its kinds. */
  let onWrite: (response: ServerResponse) => void;
  let onDiscovery: () => void;
  beforeEach(async () => {
    [held, sent] = [true, []];
    onWrite = (response) => sendJson(response, 200, configMapOf("a"));
    onDiscovery = () => undefined;
    api = await fakeApi((request: IncomingMessage, response) => {
      if (request.url === "/api" || request.url === "/apis") onDiscovery();
      if (sendDiscovery(request, response)) return;
      sent.push(request.method ?? "");
      onWrite(response);
    });
  });
  afterEach(() => api[Symbol.asyncDispose]());

  const assertLease = (): void => {
    if (!held) throw new LeaseLost("lost");
  };
  const tried = async (user?: ClusterConfig["user"]): Promise<unknown> => {
    const cluster = connect(configOf(api.url, user === undefined ? {} : { user }), apiDeps);
    const outcome = await write(leasedCluster(asHome(cluster), { assertLease })).then(
      () => "written",
      (error: unknown) => error,
    );
    cluster.close();
    return outcome;
  };

  test("is sent while the lease is held", async () => {
    expect(await tried()).toBe("written");
    expect(sent).toHaveLength(1);
  });

  test("is not sent if the lease ends during discovery", async () => {
    onDiscovery = () => {
      held = false;
    };
    expect(await tried()).toBeInstanceOf(LeaseLost);
    expect(sent).toEqual([]);
  });

  test("is not sent if the lease ends while a token is fetched", async () => {
    let tokens = 0;
    const supply = async () => {
      tokens += 1;
      // The second is that of the write: the first, for discovery, has ended by then.
      if (tokens === 2) held = false;
      return { token: new Secret("t"), renewAt: 0 };
    };
    const user = {
      name: "u",
      certificate: undefined,
      token: { kind: "supplied", supply },
      impersonate: undefined,
    } as const;
    expect(await tried(user)).toBeInstanceOf(LeaseLost);
    expect(sent).toEqual([]);
  });

  test("is not sent again if the lease ends between two attempts", async () => {
    onWrite = (response) => {
      held = false;
      sendJson(response, 429, { kind: "Status", code: 429, message: "later" }, { "retry-after": "0" });
    };
    expect(await tried()).toBeInstanceOf(LeaseLost);
    expect(sent).toHaveLength(1);
  });
});
