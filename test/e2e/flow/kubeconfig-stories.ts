import { describe, expect, test } from "vitest";
import { networkPolicy } from "../../../lib/core/network/network-policy.ts";
import { configTopic } from "../../../lib/core/topics.ts";
import { remoteClusters } from "../../../lib/kube/remote-clusters.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { inlineKubeconfig } from "../../doubles/cluster-fronts.ts";
import {
  closing,
  grant,
  grantNamespaces,
  type HomeAndOther,
  inBoth,
  put,
  remote,
  revokeNamespaces,
} from "./kubeconfig-scene.ts";
import { configMap } from "./sample-manifests.ts";

/** `spec.kubeConfig` with a Secret (reference 6.2), between two clusters. */
export function kubeconfigStories(name: string, begin: () => Promise<HomeAndOther>, hasTokens: boolean): void {
  const beginBoth = async () => inBoth(await begin());

  describe(`spec.kubeConfig with a Secret on ${name}`, () => {
    test("reports a missing Secret, is woken when it is created, and reads value, value.yaml or the named key (123)", async () => {
      const { world, other, there } = await beginBoth();
      const { namespace } = world;
      const fault = (text: string) => `False ReconciliationFailed: ${text}`;
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app", remote);
      expect(await world.run("app")).toMatchObject({ outcome: "failed" });
      const missing = `unable to read KubeConfig secret '${namespace}/remote' error: secrets "remote" not found`;
      expect(await world.ready("app")).toBe(fault(missing));
      expect(await world.events("app")).toContainEqual(
        `Warning ReconciliationFailed: failed to build kube client: ${missing}`,
      );
      expect((await world.status("app"))["lastAttemptedRevision"]).toMatch(/^v1@/);
      const topic = configTopic({ cluster: "test", kind: "Secret", namespace, name: "remote" });
      expect(world.subscriptionsOf("app")).toContain(topic);

      const kubeconfig = inlineKubeconfig(other.config);
      await put(world, { other: "x" });
      await world.run("app");
      const noKey = (key: string) =>
        fault(`KubeConfig secret '${namespace}/remote' does not contain a '${key}' key with a kubeconfig`);
      expect(await world.ready("app")).toBe(noKey("value"));
      for (const [key, spec] of [
        ["value", { name: "remote" }],
        ["value.yaml", { name: "remote" }],
        ["mine", { name: "remote", key: "mine" }],
      ] as const) {
        await put(world, { [key]: kubeconfig });
        await world.kustomization("app", { kubeConfig: { secretRef: spec } });
        await world.run("app");
        expect(await world.ready("app")).toMatch(/^True ReconciliationSucceeded/);
        expect(await there("a")).toBeDefined();
      }
      await world.kustomization("app", { kubeConfig: { secretRef: { name: "remote", key: "none" } } });
      await world.run("app");
      expect(await world.ready("app")).toBe(noKey("none"));
    });

    test("applies, prunes, waits and is deleted there, and asks neither cluster about objects of the other", async () => {
      const { world, home, other, there } = await beginBoth();
      await put(world, { value: inlineKubeconfig(other.config) });
      const before = { home: await home.asked(), other: await other.asked() };
      await world.publish("v1", [configMap("a"), configMap("b")]);
      await world.kustomization("app", { ...remote, wait: true });
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      await world.publish("v2", [configMap("b")]);
      await world.run("app");
      expect([await there("a"), await there("b")]).toEqual([undefined, expect.anything()]);
      await world.remove("app");
      expect(await world.run("app")).toMatchObject({ outcome: "deleted" });
      expect(await there("b")).toBeUndefined();
      const atHome = (await home.asked()).slice(before.home.length);
      const atOther = (await other.asked()).slice(before.other.length);
      expect(atHome.filter((path) => /\/configmaps\b/.test(path))).toEqual([]);
      expect(atOther.filter((path) => /\/(kustomizations|ocirepositories|events|secrets)\b/.test(path))).toEqual([]);
    });

    test("keeps the connection and its discovery for the next run: an unchanged run sends at most two lists", async () => {
      const { world, other } = await beginBoth();
      await put(world, { value: inlineKubeconfig(other.config) });
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app", remote);
      await world.run("app");
      await world.run("app");
      const before = (await other.asked()).length;
      await world.run("app");
      const paths = (await other.asked()).slice(before);
      expect(paths.length).toBeLessThanOrEqual(2);
      expect(paths.filter((path) => !/\/configmaps\b/.test(path))).toEqual([]);
    });

    test.each([
      [
        "a text",
        "no kubeconfig",
        /^couldn't get version\/kind; json parse error: json: cannot unmarshal string into Go value/,
      ],
      ["nothing", "", /^invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER/],
      [
        "no YAML",
        "a: [tok3n-canary",
        /^kubeconfig of secret 'named-\d+\/remote', key 'value': yaml: line \d+: not YAML\. Store a kubeconfig/,
      ],
      [
        "a missing context",
        '{"current-context":"x"}',
        /^invalid configuration: \[context was not found for specified context: x, cluster has no server defined\]$/,
      ],
    ])("a kubeconfig that is %s is refused, with Flux's text if Flux has one", async (_, text, said) => {
      const { world } = await begin();
      await put(world, { value: text });
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app", remote);
      await world.run("app");
      const [, message = ""] = /^False ReconciliationFailed: ([^]*)$/.exec(await world.ready("app")) ?? [];
      expect(message).toMatch(said);
      expect(message).not.toContain("tok3n");
    });

    test("an address that the network policy refuses gets no connection, by address and by name", async () => {
      const { world, other } = await beginBoth();
      const asked = (await other.asked()).length;
      using clusters = closing(
        remoteClusters({ clock: systemClock, network: networkPolicy({ allow: [] }, "functions") }),
      );
      world.remoteClusters = clusters;
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app", remote);
      const { port, protocol, pathname } = other.config.server;
      for (const [server, said] of [
        ["https://169.254.169.254/latest", "169.254.169.254 is a link-local address: Sluice never connects there"],
        [`${protocol}//localhost:${port}${pathname}`, "host 'localhost' resolves to "],
        [`${protocol}//127.0.0.1:${port}${pathname}`, "127.0.0.1 is a loopback address: Sluice never connects there"],
        ["https://[fd00:ec2::254]/", "[fd00:ec2::254]"],
        ["https://10.0.0.7/", "10.0.0.7 is a private address: the installation allows it with network.allow"],
      ] as const) {
        await put(world, { value: inlineKubeconfig({ ...other.config, server: new URL(server) }) });
        await world.run("app");
        expect(await world.ready("app")).toMatch(
          /^False ReconciliationFailed: the cluster at \S+ must not be connected to: /,
        );
        expect(await world.ready("app")).toContain(said);
      }
      const ofRun = /\/(kube-system|configmaps|selfsubjectreviews)\b/;
      expect((await other.asked()).slice(asked).filter((path) => ofRun.test(path))).toEqual([]);
    });

    test("applies there as the service account, with the rights that it has there", async () => {
      const { world, other, there } = await beginBoth();
      const { namespace, signal } = world;
      await put(world, { value: inlineKubeconfig(other.config) });
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app", { ...remote, serviceAccountName: "deployer" });
      await world.run("app");
      expect(await world.ready("app")).toBe(
        `False ReconciliationFailed: ConfigMap/${namespace}/a dry-run failed (Forbidden): configmaps "a" is forbidden: User "system:serviceaccount:${namespace}:deployer" cannot patch resource "configmaps" in API group "" in the namespace "${namespace}"\n`,
      );
      await grant(other.cluster, namespace, "deployer", signal);
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      // The account is in the other cluster alone: that is no reason to leave its objects there.
      await other.cluster.create(
        { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "deployer", namespace } },
        { manager: "test" },
        signal,
      );
      await world.remove("app");
      expect(await world.run("app")).toMatchObject({ outcome: "deleted" });
      expect(await there("a")).toBeUndefined();
    });

    test("that changes to another cluster deletes nothing there, leaves its objects in the former one, and reports that", async () => {
      const { world, home, other, there } = await beginBoth();
      const { namespace, signal } = world;
      await put(world, { value: inlineKubeconfig(other.config) });
      await world.publish("v1", [configMap("a"), configMap("b")]);
      await world.kustomization("app", remote);
      await world.run("app");
      // An object of the same name at home that looks like one of ours.
      const labels = { "kustomize.toolkit.fluxcd.io/name": "app", "kustomize.toolkit.fluxcd.io/namespace": namespace };
      const twin = { ...configMap("b"), metadata: { name: "b", namespace, labels } };
      await world.cluster.create(twin, { manager: "test" }, signal);

      await put(world, { value: inlineKubeconfig(home.config) });
      await world.publish("v2", [configMap("a")]);
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      expect(await world.get("ConfigMap", "a")).toBeDefined();
      expect(await world.get("ConfigMap", "b")).toBeDefined();
      expect([await there("a"), await there("b")]).toEqual([expect.anything(), expect.anything()]);
      const changed = (event: string) => event.startsWith("Warning TargetChanged: ");
      const [told = "", ...more] = (await world.events("app")).filter(changed);
      expect(more).toEqual([]);
      expect(told).toMatch(/ known as cluster:[0-9a-f]{32}\.[0-9a-f]{32}, /);
      expect(told).toContain(`, stays there: ConfigMap/${namespace}/a, ConfigMap/${namespace}/b.`);
      expect(told).not.toContain(await other.cluster.uid(signal));

      // Back again, it goes on with what it has there.
      await put(world, { value: inlineKubeconfig(other.config) });
      await world.run("app");
      expect([await there("a"), await there("b")]).toEqual([expect.anything(), undefined]);
      await world.remove("app");
      expect(await world.run("app")).toMatchObject({ outcome: "deleted" });
      expect(await there("a")).toBeUndefined();
      expect(await world.get("ConfigMap", "a")).toBeDefined();
      const left = `left in the cluster known as ${await world.cluster.uid(signal)}, where nothing is deleted: ConfigMap/${namespace}/a`;
      expect(await world.events("app")).toContainEqual(`Warning TargetChanged: ${left}`);
    });

    test("that points to our own cluster shares the claims of owners without a kubeConfig", async () => {
      const { world, home } = await begin();
      await put(world, { value: inlineKubeconfig(home.config) });
      const folders = { folders: { a: [configMap("shared")], b: [configMap("shared"), configMap("b")] } };
      await world.publish("v1", [], folders);
      await world.kustomization("a", { ...remote, path: "a" });
      await world.kustomization("b", { path: "b" });
      for (const owner of ["a", "b"]) await world.run(owner);
      await world.remove("a");
      expect(await world.run("a")).toMatchObject({ outcome: "deleted" });
      expect(await world.get("ConfigMap", "shared")).toBeDefined();
      await world.remove("b");
      await world.run("b");
      expect(await world.get("ConfigMap", "shared")).toBeUndefined();
    });

    // The embedded server gives out no tokens.
    const accountsAtHome = (): void => {
      test("that points to our own cluster is recognised by its account, if it may not read the cluster's uid", async () => {
        const { world, home } = await begin();
        const { namespace, signal } = world;
        const folders = { folders: { a: [configMap("shared")], b: [configMap("shared"), configMap("b")] } };
        const weak = await home.as(namespace, "weak");
        await grant(home.cluster, namespace, "weak", signal);
        await put(world, { value: inlineKubeconfig(weak) }, "weak");
        await world.publish("v1", [], folders);
        await world.kustomization("c", { kubeConfig: { secretRef: { name: "weak" } }, path: "a" });
        await world.kustomization("d", { path: "b" });
        for (const owner of ["c", "d", "c"]) await world.run(owner);
        expect(await world.ready("c")).toMatch(/^True/);
        await world.remove("c");
        await world.run("c");
        expect(await world.get("ConfigMap", "shared")).toBeDefined();
      });
    };
    if (hasTokens) accountsAtHome();

    test("works with the rights of one namespace, and keeps its objects when it gets more rights", async () => {
      const { world, other, there } = await beginBoth();
      const { namespace, signal } = world;
      const weak = await other.as(namespace, "weak");
      await grant(other.cluster, namespace, "weak", signal);
      await put(world, { value: inlineKubeconfig(weak) });
      await world.publish("v1", [configMap("a"), configMap("b")]);
      await world.kustomization("app", remote);
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      await grantNamespaces(other.cluster, namespace, "weak", signal);
      await put(world, { value: inlineKubeconfig(weak) });
      await world.publish("v2", [configMap("a")]);
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      expect([await there("a"), await there("b")]).toEqual([expect.anything(), undefined]);
      expect((await world.events("app")).filter((event) => event.includes("TargetChanged"))).toEqual([]);
    });

    test("that can no longer read the cluster's uid is refused, and loses none of its objects there", async () => {
      const { world, other, there } = await beginBoth();
      const { namespace, signal } = world;
      const account = await other.as(namespace, "weaker");
      await grant(other.cluster, namespace, "weaker", signal);
      const binding = await grantNamespaces(other.cluster, namespace, "weaker", signal);
      await put(world, { value: inlineKubeconfig(account) });
      await world.publish("v1", [configMap("a"), configMap("b")]);
      await world.kustomization("app", remote);
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);

      await revokeNamespaces(other.cluster, namespace, "weaker", binding, signal);
      await put(world, { value: inlineKubeconfig(account) });
      await world.publish("v2", [configMap("a")]);
      await world.run("app");
      const refusal =
        "the credential of spec.kubeConfig may not get the namespace kube-system, by which its cluster is known, and this Kustomization " +
        "has objects in a cluster of the same certificate authority, perhaps this one. Allow the credential to get the namespace " +
        "kube-system, or use one that may";
      expect(await world.ready("app")).toBe(`False ReconciliationFailed: ${refusal}`);
      expect([await there("a"), await there("b")]).toEqual([expect.anything(), expect.anything()]);
      expect((await world.events("app")).filter((event) => event.includes("TargetChanged"))).toEqual([]);
      // Its deletion waits, too.
      await world.remove("app");
      await world.run("app");
      expect(await world.ready("app")).toContain(refusal);

      await grantNamespaces(other.cluster, namespace, "weaker", signal);
      await put(world, { value: inlineKubeconfig(account) });
      expect(await world.run("app")).toMatchObject({ outcome: "deleted" });
      expect([await there("a"), await there("b")]).toEqual([undefined, undefined]);
    });

    test("of two Kustomizations with the same source in different clusters keeps objects of the same name apart", async () => {
      const { world, other, there } = await beginBoth();
      await put(world, { value: inlineKubeconfig(other.config) });
      const held = (a: readonly string[], b: readonly string[]) => ({
        folders: { a: a.map((one) => configMap(one)), b: b.map((one) => configMap(one)) },
      });
      await world.publish("v1", [], held(["x", "y"], ["y"]));
      await world.kustomization("there", { ...remote, path: "a" });
      await world.kustomization("here", { path: "b" });
      for (const owner of ["there", "here"]) await world.run(owner);
      await world.publish("v2", [], held(["y"], ["x", "y"]));
      await world.run("there");
      expect(await there("x")).toBeUndefined();
      await world.run("here");
      expect(await world.get("ConfigMap", "x")).toBeDefined();
    });
  });
}
