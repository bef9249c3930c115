import { randomUUID } from "node:crypto";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type ConfigurationDeps, configurationHandler, refreshHandler } from "../../../functions/configuration.ts";
import type { ResourceRequest } from "../../../functions/lambda/custom-resource.ts";
import { isJsonObject } from "../../../lib/core/json.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import { Secret } from "../../../lib/core/secret.ts";
import { installCrds } from "../../../lib/definitions/install-crds.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { recordedLog } from "../../doubles/recorded-log.ts";
import { silentLog } from "../../doubles/silent-log.ts";

const { signal } = new AbortController();
const id = "arn:aws:eks:eu-west-1:123456789012:cluster/prod";
const installation = "123456789012/eu-west-1/sluice";
const stored = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:login";
const login = { name: "login", stored, host: "registry.example.com" };

/** What the handler of a configuration does to a cluster. `admin` sees all; `clusterOf` is whom the handler acts as. */
export function configurationStories(where: string, admin: () => Cluster, clusterOf: () => Cluster = admin): void {
  describe(`a configuration on ${where}`, () => {
    let namespace: string;
    let text: string;
    beforeEach(async () => {
      namespace = `shop-${randomUUID().slice(0, 8)}`;
      text = JSON.stringify({ username: "reader", password: "hunter2" });
    });
    beforeAll(() => installCrds(admin(), { clock: systemClock, log: silentLog }, signal));

    const configuration = (given: object = {}) => ({
      name: "shop",
      namespace,
      source: {
        kind: "OCIRepository",
        spec: { url: "oci://registry.example.com/shop", interval: "10m", ref: { tag: "live" } },
      },
      kustomizations: {
        infrastructure: { path: "infrastructure" },
        apps: { path: "apps", dependsOn: ["infrastructure"] },
      },
      ...given,
    });
    const request = (given: object = {}, more: Partial<ResourceRequest> = {}): ResourceRequest => ({
      type: "Create",
      resource: "stack/Shop",
      physicalId: undefined,
      properties: { cluster: id, installation, configuration: JSON.stringify(configuration(given)) },
      oldProperties: {},
      ...more,
    });
    const deps = () => {
      const log = recordedLog();
      const given: ConfigurationDeps = {
        clock: systemClock,
        log,
        open: async () => ({
          description: {
            server: new URL("https://127.0.0.1"),
            ca: "",
            version: "1.35",
            hasAccessEntries: true,
            isPublic: true,
          },
          cluster: clusterOf(),
          [Symbol.asyncDispose]: async () => undefined,
        }),
        readStored: async () => new Secret(text),
      };
      return { ...given, log };
    };
    /** What the login in the cluster holds. */
    const storedLogin = async (): Promise<unknown> => {
      const data = (await get({ kind: "Secret" }, "login"))?.["data"];
      const encoded = isJsonObject(data) ? data[".dockerconfigjson"] : undefined;
      return typeof encoded === "string" ? JSON.parse(Buffer.from(encoded, "base64").toString()) : undefined;
    };
    const run = (asked: ResourceRequest) => configurationHandler(deps())(asked, signal);
    const kustomization = { group: "kustomize.toolkit.fluxcd.io", version: "v1", kind: "Kustomization" };
    const repository = { group: "source.toolkit.fluxcd.io", version: "v1", kind: "OCIRepository" };
    const get = (kind: object, name: string): Promise<LiveObject | undefined> =>
      admin().get({ group: "", version: "v1", kind: "", ...kind, namespace, name }, signal);
    const names = async () =>
      (await admin().list({ ...kustomization, namespace }, signal)).map(({ metadata }) => metadata.name).toSorted();
    /** As the flow of an object does. */
    const report = async (kind: typeof kustomization, name: string, status: "True" | "False", stalled = false) => {
      const { generation = 0 } = (await get(kind, name))?.metadata ?? {};
      const condition = (type: string, value: string) => ({
        type,
        status: value,
        reason: value === "True" ? "ReconciliationSucceeded" : "BuildFailed",
        message: "no such folder",
        lastTransitionTime: "2026-11-22T12:00:00Z",
        observedGeneration: generation,
      });
      const conditions = [condition("Ready", status), ...(stalled ? [condition("Stalled", "True")] : [])];
      const options = { manager: "test", subresource: "status" };
      await admin().patch(
        { ...kind, namespace, name },
        { type: "merge", body: { status: { conditions } } },
        options,
        signal,
      );
    };

    test("creates a source and its Kustomizations, in a namespace that is created for it", async () => {
      const done = await run(request({ secrets: [login] }));
      expect(done).toEqual({
        physicalId: `${id}/${namespace}/shop`,
        attributes: {
          Ready: "Unknown",
          State: expect.stringContaining(`Kustomization/${namespace}/shop-apps Unknown`),
        },
      });
      expect((await get(repository, "shop"))?.["spec"]).toMatchObject({
        url: "oci://registry.example.com/shop",
        ref: { tag: "live" },
        secretRef: { name: "login" },
      });
      expect((await get(kustomization, "shop-apps"))?.["spec"]).toMatchObject({
        path: "apps",
        dependsOn: [{ name: "shop-infrastructure" }],
        sourceRef: { kind: "OCIRepository", name: "shop" },
        interval: "10m",
        prune: true,
        wait: true,
        force: false,
        deletionPolicy: "Orphan",
      });
      const data = (await get({ kind: "Secret" }, "login"))?.["data"];
      expect(data).toEqual({ ".dockerconfigjson": expect.any(String) });
      expect(JSON.stringify(done)).not.toContain("hunter2");
    });

    test("is the same after another deployment", async () => {
      await run(request({ secrets: [login] }));
      const seen = async () =>
        Promise.all([get(repository, "shop"), get(kustomization, "shop-apps"), get({ kind: "Secret" }, "login")]);
      // With the second write the API server stores the defaults of the status too.
      await run(request({ secrets: [login] }, { type: "Update", physicalId: "x" }));
      const before = (await seen()).map((one) => one?.metadata.resourceVersion);
      await run(request({ secrets: [login] }, { type: "Update", physicalId: "x" }));
      expect((await seen()).map((one) => one?.metadata.resourceVersion)).toEqual(before);
    });

    test("deletes a Kustomization that is no longer listed; its objects stay or are deleted as the configuration says", async () => {
      await run(request());
      const finalizers = ["finalizers.fluxcd.io"];
      const ref = { ...kustomization, namespace, name: "shop-apps" };
      await admin().patch(ref, { type: "merge", body: { metadata: { finalizers } } }, { manager: "test" }, signal);
      const kustomizations = { infrastructure: { path: "infrastructure" } };
      await run(request({ kustomizations, onDelete: "delete" }, { type: "Update", physicalId: "x" }));
      const going = await get(kustomization, "shop-apps");
      expect(going?.metadata.deletionTimestamp).toBeDefined();
      expect(going?.["spec"]).toMatchObject({ deletionPolicy: "Delete" });
      await admin().patch(
        ref,
        { type: "merge", body: { metadata: { finalizers: null } } },
        { manager: "test" },
        signal,
      );
      expect(await names()).toEqual(["shop-infrastructure"]);
    });

    test("does not take over an object that is not its own, and then writes nothing", async () => {
      const metadata = { name: namespace };
      await admin().create({ apiVersion: "v1", kind: "Namespace", metadata }, { manager: "test" }, signal);
      const others = {
        apiVersion: "kustomize.toolkit.fluxcd.io/v1",
        kind: "Kustomization",
        metadata: { name: "shop-apps", namespace },
        spec: { interval: "1h", prune: false, sourceRef: { kind: "OCIRepository", name: "other" } },
      };
      await admin().apply(others, { manager: "kubectl", force: true }, signal);
      await expect(run(request())).rejects.toThrow(
        `Kustomization/${namespace}/shop-apps is there already and is not of the configuration shop: delete it, or give the configuration another name`,
      );
      expect(await get(repository, "shop")).toBeUndefined();
    });

    test("waits until all are ready, and reports which is not and why", async () => {
      const waiting = run(request({ waitSeconds: 60 }));
      await expect.poll(names).toEqual(["shop-apps", "shop-infrastructure"]);
      await report(repository, "shop", "True");
      await report(kustomization, "shop-infrastructure", "True");
      await report(kustomization, "shop-apps", "True");
      expect((await waiting).attributes).toMatchObject({ Ready: "True" });
      await report(kustomization, "shop-apps", "False", true);
      await expect(run(request({ waitSeconds: 60 }, { type: "Update", physicalId: "x" }))).rejects.toThrow(
        `Kustomization/${namespace}/shop-apps BuildFailed: no such folder; change what is named and deploy again`,
      );
    });

    test("is removed with its source and logins, unless another resource owns it now; the namespace stays", async () => {
      await run(request({ secrets: [login] }));
      await run(request({ secrets: [login] }, { type: "Delete", physicalId: "x", resource: "stack/Former" }));
      expect(await names()).toHaveLength(2);
      await run(request({ secrets: [login] }, { type: "Delete", physicalId: "x" }));
      expect(await names()).toEqual([]);
      expect([await get(repository, "shop"), await get({ kind: "Secret" }, "login")]).toEqual([undefined, undefined]);
      await run(request({ secrets: [login] }, { type: "Delete", physicalId: "x" }));
    });

    test.each([
      { name: "a username and a password, for the host of its source", auths: undefined },
      { name: "a .dockerconfigjson, unchanged", auths: { "other.example.com": { auth: "cmVhZGVyOmh1bnRlcjI=" } } },
    ])("has a login that is stored as $name", async ({ auths }) => {
      if (auths !== undefined) text = JSON.stringify({ auths });
      await run(request({ secrets: [login] }));
      const ofHost = { "registry.example.com": { username: "reader", password: "hunter2" } };
      expect(await storedLogin()).toEqual({ auths: auths ?? ofHost });
    });

    test("is not Ready as soon as one of its objects is not, and unknown while none has failed", async () => {
      const readyNow = async () => (await run(request({}, { type: "Update", physicalId: "x" }))).attributes?.["Ready"];
      await run(request());
      await report(repository, "shop", "True");
      expect(await readyNow()).toBe("Unknown");
      await report(kustomization, "shop-infrastructure", "False");
      expect(await readyNow()).toBe("False");
    });

    test("connects with the given role, at each request and where logins are copied", async () => {
      const role = "arn:aws:iam::210987654321:role/sluice";
      const roles: unknown[] = [];
      const given = deps();
      const open: ConfigurationDeps["open"] = (cluster, by, stop) => {
        roles.push(by);
        return given.open(cluster, by, stop);
      };
      for (const type of ["Create", "Update", "Delete"] as const) {
        const { properties } = request();
        await configurationHandler({ ...given, open })(
          request({}, { type, properties: { ...properties, role } }),
          signal,
        );
      }
      const refresh = { cluster: id, role, installation, name: "shop", namespace, secrets: [] };
      await refreshHandler({ ...given, open })({ refresh }, signal);
      expect(roles).toEqual([role, role, role, role]);
    });

    test("copies a login again that was rotated; a deleted one stays deleted", async () => {
      await run(request({ secrets: [login] }));
      const password = async () => {
        const data = (await get({ kind: "Secret" }, "login"))?.["data"];
        const text = isJsonObject(data) ? data[".dockerconfigjson"] : undefined;
        return typeof text === "string" ? Buffer.from(text, "base64").toString() : "";
      };
      const event = { refresh: { cluster: id, installation, name: "shop", namespace, secrets: [login] } };
      const refreshing = deps();
      await refreshHandler(refreshing)(event, signal);
      expect(refreshing.log.lines).toEqual([]);
      text = JSON.stringify({ username: "reader", password: "hunter3" });
      await refreshHandler(refreshing)(event, signal);
      expect(await password()).toContain("hunter3");
      expect(refreshing.log.lines).toEqual([
        expect.objectContaining({ message: "login copied again", secret: "login" }),
      ]);
      await admin().delete(
        { group: "", version: "v1", kind: "Secret", namespace, name: "login" },
        { propagation: "Background" },
        signal,
      );
      await refreshHandler(refreshing)(event, signal);
      expect(await get({ kind: "Secret" }, "login")).toBeUndefined();
    });

    test.each([
      [
        "a circle",
        { kustomizations: { a: { dependsOn: ["b"] }, b: { dependsOn: ["a"] } } },
        "of a → b → a is a circle",
      ],
      [
        "an unknown dependency",
        { kustomizations: { a: {}, b: { dependsOn: ["c"] } } },
        "kustomizations.b.dependsOn names c: write the name of another one, a",
      ],
      ["another kind of source", { source: { kind: "GitRepository", spec: {} } }, "source.kind must be OCIRepository"],
      [
        "a wrong duration",
        { kustomizations: { a: { interval: "10" } } },
        "kustomizations.a.interval must be a duration such as 10m",
      ],
      ["an unknown field", { kustomization: {} }, "kustomization"],
    ])("with %s is refused by field, and nothing is written", async (_what, given, says) => {
      await expect(run(request(given))).rejects.toThrow(says);
      expect(await get({ kind: "Namespace" }, namespace)).toBeUndefined();
    });

    test("an invalid login secret is refused without quoting it", async () => {
      text = "hunter2";
      const refused = run(request({ secrets: [login] }));
      await expect(refused).rejects.toThrow(
        `the secret ${stored} in Secrets Manager is not a login: store {"username"`,
      );
      await expect(refused).rejects.not.toThrow("hunter2");
    });
  });
}
