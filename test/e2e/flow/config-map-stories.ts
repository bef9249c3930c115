import { describe, expect, test } from "vitest";
import type { ListedTarget } from "../../../lib/aws/eks/eks-targets.ts";
import { defaultGates } from "../../../lib/core/feature-gates.ts";
import { homeNetwork, type NetworkPolicy, networkPolicy } from "../../../lib/core/network/network-policy.ts";
import { configTopic } from "../../../lib/core/topics.ts";
import { remoteClusters } from "../../../lib/kube/remote-clusters.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { inlineKubeconfig } from "../../doubles/cluster-fronts.ts";
import { pem } from "../../doubles/pem.ts";
import { account, arn, away, eksScene, fault, faultOf, put, remote, role } from "./eks-scene.ts";
import { type HomeAndOther, withToken } from "./kubeconfig-scene.ts";
import { configMap } from "./sample-manifests.ts";

const elsewhere = "arn:aws:eks:eu-west-1:123456789012:cluster/elsewhere";
const gates = { ...defaultGates, ObjectLevelWorkloadIdentity: true };
const fluxArn = String.raw`^arn:aws[\w-]*:eks:([^:]{1,100}):[0-9]{1,30}:cluster/(.{1,200})$`;
const otherCa = await pem("expired.crt");

/** `spec.kubeConfig` with a ConfigMap (reference 6.3): the other cluster is one of EKS. */
export function configMapStories(name: string, begin: () => Promise<HomeAndOther>): void {
  const beginEks = (network?: NetworkPolicy, entry?: ListedTarget) => eksScene(begin, network, entry);
  describe(`spec.kubeConfig with a ConfigMap on ${name}`, () => {
    test("reports a missing ConfigMap, is woken when it is created, and applies there with Sluice's own identity (123)", async () => {
      await using scene = await beginEks();
      const { world, eks, there } = scene;
      const { namespace } = world;
      await world.kustomization("app", remote);
      expect(await world.run("app")).toMatchObject({ outcome: "failed" });
      const missing = `failed to get configmap ${namespace}/remote: configmaps "remote" not found`;
      expect(await world.ready("app")).toBe(fault(missing));
      expect(await world.events("app")).toContainEqual(
        `Warning ReconciliationFailed: failed to build kube client: ${missing}`,
      );
      const topic = configTopic({ cluster: "test", kind: "ConfigMap", namespace, name: "remote" });
      expect(world.subscriptionsOf("app")).toContain(topic);

      await put(world, { provider: "aws", cluster: arn });
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True ReconciliationSucceeded/);
      expect(await there("a")).toBeDefined();
      expect(await world.get("ConfigMap", "a")).toBeUndefined();
      expect(eks.shown()).toEqual(["OWN-KEY"]);
      await world.run("app");
      expect(eks.asked).toEqual(["GET /clusters/target"]);
      await world.remove("app");
      expect(await world.run("app")).toMatchObject({ outcome: "deleted" });
      expect(await there("a")).toBeUndefined();
    });

    test.each([
      [
        { provider: "azure", cluster: arn },
        ", key 'provider': provider 'azure' is not supported by Sluice: write aws, ",
      ],
      [{ provider: "gcp", cluster: arn }, ", key 'provider': provider 'gcp' is not supported by Sluice: write aws, "],
      [
        { provider: "generic", address: "https://api.example.com" },
        ", key 'provider': provider 'generic' is not supported by Sluice: write aws, ",
      ],
      [
        { provider: "aws", cluster: "arn:aws:eks:eu-west-1:1:cluster/target" },
        ", key 'cluster': invalid EKS cluster ARN: 'arn:aws:eks:eu-west-1:1:cluster/target'. must match ^arn:(aws",
      ],
      [
        { provider: "aws", cluster: arn, address: "http://api.example.com" },
        ", key 'address': the Kubernetes API server address 'http://api.example.com' must use https scheme",
      ],
      [
        { provider: "aws", cluster: arn, address: "https://us:er@api.example.com" },
        ", key 'address': failed to parse Kubernetes API server address: write https://<host>",
      ],
      [{ provider: "aws", cluster: arn, "ca.crt": "none" }, ": ca.crt holds no certificate in PEM"],
      [
        { provider: "aws", cluster: arn, serviceAccountName: "enters" },
        ", key 'serviceAccountName': ObjectLevelWorkloadIdentity feature gate is not enabled: it lets service account enters",
      ],
      [
        { provider: "aws", cluster: arn, serviceAccountName: `Not/A/Name${"x".repeat(300)}` },
        ", key 'serviceAccountName': must be the name of a service account of this namespace, not 'Not/A/Name",
      ],
    ])("with %j is refused without a request to AWS", async (data: Readonly<Record<string, string>>, said) => {
      await using scene = await beginEks();
      const { world, eks } = scene;
      await put(world, data);
      await world.kustomization("app", remote);
      await world.run("app");
      expect(await world.ready("app")).toContain(faultOf(world, said));
      expect(eks.asked).toEqual([]);
    });

    test.each([
      [{}, "provider '' not implemented"],
      [{ provider: "nope" }, "provider 'nope' not implemented"],
      [{ provider: "aws" }, `invalid EKS cluster ARN: ''. must match ${fluxArn}`],
      [{ provider: "aws", cluster: "target" }, `invalid EKS cluster ARN: 'target'. must match ${fluxArn}`],
    ])("with %j is refused with Flux's text", async (data: Readonly<Record<string, string>>, said) => {
      await using scene = await beginEks();
      const { world, eks } = scene;
      await put(world, data);
      await world.kustomization("app", remote);
      await world.run("app");
      expect(await world.ready("app")).toBe(fault(said));
      expect(eks.asked).toEqual([]);
    });

    test("for a cluster that is not listed for the namespace is refused by name with the mend, with any identity", async () => {
      await using scene = await beginEks();
      const { world, eks } = scene;
      await account(world, { "eks.amazonaws.com/role-arn": role });
      world.gates = gates;
      await world.kustomization("app", remote);
      for (const who of [{}, { serviceAccountName: "enters" }]) {
        await put(world, { provider: "aws", cluster: elsewhere, ...who });
        await world.run("app");
        expect(await world.ready("app")).toBe(
          faultOf(
            world,
            `: this installation lists no EKS cluster '${elsewhere}' for Kustomizations of namespace ${world.namespace}: add it to the targets of this cluster in the installation`,
          ),
        );
      }
      expect(eks.asked).toEqual([]);
    });

    test("cannot send Sluice's own token to another server, nor make it trust another CA", async () => {
      await using scene = await beginEks();
      const { world, eks } = scene;
      await world.kustomization("app", remote);
      const other = new URL(eks.server);
      other.hostname = "localhost";
      await put(world, { provider: "aws", cluster: arn, address: other.origin, "ca.crt": eks.ca });
      await world.run("app");
      expect(await world.ready("app")).toBe(
        faultOf(world, `: EKS endpoint '${eks.server.origin}' does not match specified address: '${other.origin}'`),
      );
      await put(world, { provider: "aws", cluster: arn, address: "http.example.com" });
      await world.run("app");
      expect(await world.ready("app")).toContain("does not match specified address: 'https://http.example.com'");
      for (const authority of [otherCa, `${eks.ca}\n${otherCa}`]) {
        await put(world, { provider: "aws", cluster: arn, "ca.crt": authority });
        await world.run("app");
        expect(await world.ready("app")).toContain("ca.crt is not the certificate authority of EKS cluster");
      }
      expect(eks.shown()).toEqual([]);
      await put(world, {
        provider: "aws",
        cluster: arn,
        address: eks.server.href.toUpperCase().replace("HTTPS", "https"),
        "ca.crt": eks.ca,
      });
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
    });

    test("logs in with the role that the installation names for the cluster", async () => {
      await using scene = await beginEks(homeNetwork, { role });
      const { world, eks } = scene;
      await put(world, { provider: "aws", cluster: arn });
      await world.kustomization("app", remote);
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      expect(eks.shown()).toEqual(["ROLE-KEY"]);
      expect(eks.asked).toEqual([`AssumeRole ${role}`, "GET /clusters/target"]);
    });

    test("logs in as the service account that it names, for its audiences, or as the default one of the installation", async () => {
      await using scene = await beginEks();
      const { world, eks, audiences } = scene;
      const { namespace } = world;
      world.gates = gates;
      await world.kustomization("app", remote);
      const whole = { provider: "aws", cluster: arn, address: eks.server.host, "ca.crt": eks.ca };
      await put(world, { ...whole, serviceAccountName: "enters" });
      // The one that the ConfigMap names comes first.
      world.defaultKubeconfigAccount = "usual";
      await world.run("app");
      expect(await world.ready("app")).toBe(
        fault(`failed to get service account '${namespace}/enters': serviceaccounts "enters" not found`),
      );
      await account(world, {});
      await world.run("app");
      expect(await world.ready("app")).toContain(
        "invalid eks.amazonaws.com/role-arn annotation: ''. must match ^arn:aws",
      );
      await account(world, { "eks.amazonaws.com/role-arn": role });
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      expect(eks.asked).toEqual([`AssumeRoleWithWebIdentity ${role} account-token`]);
      expect(audiences).toEqual([`${namespace}/enters for sts.amazonaws.com`]);

      await put(world, { provider: "aws", cluster: arn, audiences: "one\n\n two\n" });
      world.defaultKubeconfigAccount = "enters";
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      expect(audiences.slice(1)).toEqual([`${namespace}/enters for one,two`]);
      expect(eks.shown()).toEqual(["ACCOUNT-KEY"]);
      // The kept connection does not outlive the role of the account, nor the account.
      await account(world, { "eks.amazonaws.com/role-arn": `${role}-2` });
      await world.run("app");
      expect(eks.asked.at(-2)).toBe(`AssumeRoleWithWebIdentity ${role}-2 account-token`);
      await away(world, "ServiceAccount", "enters");
      await world.run("app");
      expect(await world.ready("app")).toContain('serviceaccounts "enters" not found');
    });

    test("connects to no address that the network policy refuses", async () => {
      await using scene = await beginEks(networkPolicy({ allow: [] }, "functions"));
      const { world, eks } = scene;
      world.gates = gates;
      await account(world, { "eks.amazonaws.com/role-arn": role });
      await world.kustomization("app", remote);
      for (const address of ["169.254.169.254", eks.server.host]) {
        await put(world, { provider: "aws", cluster: arn, address, "ca.crt": eks.ca, serviceAccountName: "enters" });
        await world.run("app");
        expect(await world.ready("app")).toMatch(
          /^False ReconciliationFailed: the cluster at \S+ must not be connected to: /,
        );
      }
      expect(eks.shown()).toEqual([]);
    });

    test("waits while EKS does not answer, and reports what EKS refuses", async () => {
      await using scene = await beginEks();
      const { world, eks } = scene;
      await put(world, { provider: "aws", cluster: arn });
      await world.kustomization("app", remote);
      const headers = { "content-type": "application/json", "x-amzn-errortype": "ResourceNotFoundException" };
      eks.fault = { status: 404, headers, body: JSON.stringify({ message: "No cluster found" }) };
      await world.run("app");
      expect(await world.ready("app")).toContain(
        faultOf(world, `: failed to describe EKS cluster '${arn}': eks:DescribeCluster`),
      );
      eks.fault = { status: 503, headers: { "content-type": "application/json" }, body: "{}" };
      await expect(world.run("app")).rejects.toMatchObject({ reason: "Unreachable" });
      eks.fault = undefined;
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
    });

    test("shares inventory and claims with a Secret that trusts the CA of EKS, and with no other", async () => {
      await using scene = await beginEks();
      const { world, eks, other, there } = scene;
      const { cluster, namespace, signal } = world;
      const signed = Buffer.from("https://sts.test/?X-Amz-Credential=SECRET-KEY/x").toString("base64url");
      const tls = { ...other.config.tls, ca: eks.ca };
      const asEks = withToken({ ...other.config, server: eks.server, tls }, `k8s-aws-v1.${signed}`);
      await world.publish("v1", [configMap("a"), configMap("b")]);
      for (const [app, config] of Object.entries({ trusting: asEks, plain: other.config })) {
        const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: app, namespace } };
        const stringData = { value: inlineKubeconfig(config) };
        await cluster.create({ ...secret, stringData }, { manager: "test" }, signal);
      }
      await put(world, { provider: "aws", cluster: arn });
      const moved = async (app: string): Promise<readonly string[]> => {
        await world.publish("v1", [configMap("a"), configMap("b")]);
        await world.kustomization(app, { kubeConfig: { secretRef: { name: app } } });
        await world.run(app);
        expect(await there("b")).toBeDefined();
        const spec = { kubeConfig: { secretRef: null, configMapRef: { name: "remote" } } };
        await world.patch(app, { spec }, { manager: "test" });
        await world.publish("v2", [configMap("a")]);
        await world.run(app);
        expect(await world.ready(app)).toMatch(/^True/);
        return (await world.events(app)).filter((event) => event.includes("TargetChanged"));
      };
      expect(await moved("trusting")).toEqual([]);
      expect([await there("a"), await there("b")]).toEqual([expect.anything(), undefined]);
      expect(await moved("plain")).toEqual([expect.stringContaining(`ConfigMap/${namespace}/b`)]);
      expect([await there("a"), await there("b")]).toEqual([expect.anything(), expect.anything()]);
    });

    test("blocks the deletion while it is missing, says how to give the objects up, and deletes them once it is back", async () => {
      await using scene = await beginEks();
      const { world, there } = scene;
      await put(world, { provider: "aws", cluster: arn });
      await world.kustomization("app", remote);
      await world.run("app");
      await away(world);
      await world.remove("app");
      expect(await world.run("app")).toMatchObject({ outcome: "failed" });
      expect(await world.ready("app")).toContain(`failed to get configmap ${world.namespace}/remote`);
      expect(await world.ready("app")).toContain("set spec.deletionPolicy to Orphan");
      expect(await there("a")).toBeDefined();
      await put(world, { provider: "aws", cluster: arn });
      expect(await world.run("app")).toMatchObject({ outcome: "deleted" });
      expect(await there("a")).toBeUndefined();
    });

    test("is refused with the reason if no installation lists clusters, as in sluice local", async () => {
      await using scene = await beginEks();
      const { world } = scene;
      const clusters = remoteClusters({ clock: systemClock, network: homeNetwork });
      world.remoteClusters = clusters;
      await put(world, { provider: "aws", cluster: arn });
      await world.kustomization("app", remote);
      await world.run("app");
      clusters.close();
      expect(await world.ready("app")).toContain(
        faultOf(world, ": this installation lists no clusters of EKS for namespaces, which only one in AWS does"),
      );
    });
  });
}
