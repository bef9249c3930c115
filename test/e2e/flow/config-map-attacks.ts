import { describe, expect, test } from "vitest";
import { defaultGates } from "../../../lib/core/feature-gates.ts";
import { eksStandIn } from "../../doubles/eks-stand-in.ts";
import { pem } from "../../doubles/pem.ts";
import { account, arn, eksScene, fault, faultOf, put, remote, role } from "./eks-scene.ts";
import type { HomeAndOther } from "./kubeconfig-scene.ts";
import { configMap, namespaceNamed } from "./sample-manifests.ts";

const neighbours = "arn:aws:eks:eu-west-1:123456789012:cluster/neighbours";
const otherCa = await pem("expired.crt");

/** What a tenant tries with a ConfigMap, and what may happen to the cluster that it names. */
export function configMapAttacks(name: string, begin: () => Promise<HomeAndOther>): void {
  describe(`attacks by a ConfigMap that names an EKS cluster on ${name}`, () => {
    test("a ConfigMap changed in place reaches no unlisted cluster, and the list is checked before a cached connection", async () => {
      await using scene = await eksScene(begin);
      const { world, list, eks } = scene;
      const { cluster, namespace, signal } = world;
      await put(world, { provider: "aws", cluster: arn });
      await world.kustomization("app", remote);
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      const ref = { group: "", version: "v1", kind: "ConfigMap", namespace, name: "remote" };
      const change = async (data: Readonly<Record<string, string>>) =>
        cluster.patch(ref, { type: "merge", body: { data } }, { manager: "test" }, signal);
      const refusalOf = (named: string) => faultOf(world, `: this installation lists no EKS cluster '${named}'`);
      await change({ cluster: neighbours });
      await world.run("app");
      expect(await world.ready("app")).toContain(refusalOf(neighbours));
      await change({ cluster: arn });
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      // The connection of the run before is kept, and would do.
      const asked = eks.asked.length;
      list.delete(arn);
      await world.run("app");
      expect(await world.ready("app")).toContain(refusalOf(arn));
      expect(eks.asked).toHaveLength(asked);
    });

    test("a cluster of another account is not mistaken for one of ours with the same name", async () => {
      await using scene = await eksScene(begin);
      const { world, list, eks } = scene;
      const far = arn.replace("123456789012", "999999999999");
      list.set(far, { role: undefined });
      eks.told = { arn };
      await put(world, { provider: "aws", cluster: far });
      await world.kustomization("app", remote);
      await world.run("app");
      expect(await world.ready("app")).toContain(
        "the credentials are of account 123456789012, the cluster is of account 999999999999; assume a role there",
      );
      expect(eks.shown()).toEqual([]);
    });

    test("a server with a certificate of another CA gets no token", async () => {
      await using scene = await eksScene(begin);
      const { world, eks } = scene;
      eks.told = { certificateAuthority: { data: Buffer.from(otherCa).toString("base64") } };
      await put(world, { provider: "aws", cluster: arn });
      await world.kustomization("app", remote);
      const message = expect.stringContaining(
        "its certificate was not issued by the certificate-authority that we know",
      );
      await expect(world.run("app")).rejects.toMatchObject({ reason: "Unreachable", message });
      expect(eks.shown()).toEqual([]);
    });

    test("a service account with a foreign role is refused by STS; no text has the token", async () => {
      await using scene = await eksScene(begin);
      const { world, eks, there } = scene;
      world.gates = { ...defaultGates, ObjectLevelWorkloadIdentity: true };
      await account(world, { "eks.amazonaws.com/role-arn": role });
      const headers = { "content-type": "text/xml" };
      const error =
        "<Code>AccessDenied</Code><Message>Not authorized to perform sts:AssumeRoleWithWebIdentity</Message>";
      eks.stsFault = { status: 403, headers, body: `<ErrorResponse><Error>${error}</Error></ErrorResponse>` };
      await world.kustomization("app", remote);
      for (const whole of [{}, { address: eks.server.host, "ca.crt": eks.ca }]) {
        await put(world, { provider: "aws", cluster: arn, serviceAccountName: "enters", ...whole });
        await world.run("app");
        expect(await world.ready("app")).toMatch(/^False ReconciliationFailed: /);
        expect(await world.ready("app")).toContain(`sts:AssumeRoleWithWebIdentity on role ${role}`);
      }
      expect(eks.shown()).toEqual([]);
      expect(JSON.stringify([await world.ready("app"), await world.events("app")])).not.toContain("account-token");
      eks.stsFault = undefined;
      await world.run("app");
      expect(await there("a")).toBeDefined();
    });

    test("another cluster under the same name: nothing of the former inventory is deleted there, and an event says so", async () => {
      await using scene = await eksScene(begin);
      const { world, home, eks, time, there } = scene;
      const { namespace } = world;
      await world.publish("v1", [configMap("a"), configMap("b")]);
      await put(world, { provider: "aws", cluster: arn });
      await world.kustomization("app", remote);
      await world.run("app");
      expect(await there("b")).toBeDefined();
      // The home cluster stands for the new one. It has another uid, and an object of a former name that is not ours.
      await using successor = await eksStandIn(home.config);
      await home.cluster.apply(namespaceNamed(namespace), { manager: "test", force: true }, world.signal);
      await home.cluster.create(
        { ...configMap("b"), metadata: { name: "b", namespace } },
        { manager: "test" },
        world.signal,
      );
      eks.told = { endpoint: successor.server.href };
      await world.publish("v2", [configMap("a")]);
      time.aheadMs += 600_001;
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      expect([await world.get("ConfigMap", "a"), await world.get("ConfigMap", "b")]).toEqual([
        expect.anything(),
        expect.anything(),
      ]);
      expect(await there("b")).toBeDefined();
      expect(await world.events("app")).toContainEqual(expect.stringMatching(/TargetChanged.*ConfigMap\/\S+\/b/));
    });

    test("a refusal of any length blocks a deletion, and the message says how to give the objects up", async () => {
      await using scene = await eksScene(begin);
      const { world, eks, time, there } = scene;
      await put(world, { provider: "aws", cluster: arn });
      await world.kustomization("app", remote);
      await world.run("app");
      const headers = { "content-type": "application/json", "x-amzn-errortype": "InvalidParameterException" };
      eks.fault = { status: 400, headers, body: JSON.stringify({ message: "long ".repeat(10_000) }) };
      time.aheadMs += 600_001;
      await world.remove("app");
      expect(await world.run("app")).toMatchObject({ outcome: "failed" });
      expect(await world.ready("app")).toContain("long long");
      expect(await world.ready("app")).toContain("set spec.deletionPolicy to Orphan");
      eks.fault = undefined;
      expect(await world.run("app")).toMatchObject({ outcome: "deleted" });
      expect(await there("a")).toBeUndefined();
    });

    test("a ConfigMap of another namespace cannot be named", async () => {
      await using scene = await eksScene(begin);
      const { world, eks } = scene;
      await world.kustomization("app", { kubeConfig: { configMapRef: { name: "neighbours/remote" } } });
      await world.run("app");
      expect(await world.ready("app")).toContain(
        fault(`failed to get configmap ${world.namespace}/neighbours/remote: `),
      );
      expect(eks.asked).toEqual([]);
    });
  });
}
