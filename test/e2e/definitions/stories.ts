import { beforeEach, describe, expect, test, vi } from "vitest";
import { type DefinitionsDeps, definitionsHandler } from "../../../functions/definitions.ts";
import type { ResourceRequest } from "../../../functions/lambda/custom-resource.ts";
import { admissionPath } from "../../../lib/admission/admission-path.ts";
import { definedKinds } from "../../../lib/api/kinds/declared-kinds.ts";
import { declaredOciRepository } from "../../../lib/api/kinds/oci-repository.ts";
import { AwsFault } from "../../../lib/aws/aws-fault.ts";
import type { ClusterDescription } from "../../../lib/aws/eks/eks-cluster-config.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import { Secret } from "../../../lib/core/secret.ts";
import { webhookRef } from "../../../lib/definitions/admission-webhook.ts";
import { installedHolders, rightsManifests } from "../../../lib/definitions/cluster-rights.ts";
import { customResourceDefinition } from "../../../lib/definitions/custom-resource-definition.ts";
import { definitionRef } from "../../../lib/definitions/install-crds.ts";
import { ownerCheck } from "../../../lib/gate/cluster-owner.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { deadlineMs, repeatedTimeoutMs } from "../../deadline.ts";
import { fewKinds } from "../../doubles/few-kinds.ts";
import { recordedLog } from "../../doubles/recorded-log.ts";
import { removeOwner } from "../../doubles/remove-owner.ts";
import { inGateOrDeep } from "../../size.ts";

const { signal } = new AbortController();
const id = "arn:aws:eks:eu-west-1:123456789012:cluster/prod";
const installation = "123456789012/eu-west-1/sluice";
const rights = installedHolders.flatMap((holder) => rightsManifests(holder));
const allDefinitions = definedKinds.map(definitionRef);
const definitions = fewKinds.map(definitionRef);
const description: ClusterDescription = {
  server: new URL("https://127.0.0.1"),
  ca: "",
  version: "1.35",
  hasAccessEntries: true,
  isPublic: true,
};

const properties = { ServiceToken: "arn:aws:lambda:…", cluster: id, installation, version: "0.2.0" };
const request = (given: Partial<ResourceRequest> = {}): ResourceRequest => ({
  type: "Create",
  resource: "stack/Prod",
  physicalId: undefined,
  properties,
  oldProperties: {},
  ...given,
});
const secretArn = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:sluice-x";
const readStored = async () => new Secret("0".repeat(64));
const update = (old: string) => request({ type: "Update", physicalId: id, oldProperties: { version: old } });
const remove = (given: Partial<ResourceRequest> = {}) => request({ type: "Delete", physicalId: id, ...given });

/**
 * What the handler of CloudFormation's requests does to a cluster, by its administrator.
 *
 * @param plays "all", or only what depends on the API server: how it establishes, merges and removes
 */
export function definitionsStories(where: string, clusterOf: () => Cluster, plays: "all" | "some" = "all"): void {
  /** For `test.for`: a story that ends the same way on every API server. */
  const ofEveryServer = plays === "all" ? [where] : [];
  describe(`definitions and rights on ${where}`, () => {
    let cluster: Cluster;
    beforeEach(async () => {
      cluster = clusterOf();
      await clear(cluster);
    });

    type Given = Partial<DefinitionsDeps> & { readonly described?: object; readonly hasAllKinds?: boolean };
    const run = async (asked: ResourceRequest, given: Given = {}) => {
      const log = recordedLog();
      const { described, hasAllKinds = false, ...deps } = given;
      const open = async () => ({
        description: { ...description, ...described },
        cluster,
        [Symbol.asyncDispose]: async () => undefined,
      });
      const kinds = hasAllKinds ? {} : { kinds: fewKinds };
      const handler = definitionsHandler({
        clock: systemClock,
        log,
        open,
        readStored,
        version: "0.2.0",
        ...kinds,
        ...deps,
      });
      return { ...(await handler(asked, signal)), lines: log.lines };
    };
    const live = (refs: readonly Parameters<Cluster["get"]>[0][]) =>
      Promise.all(refs.map((ref) => cluster.get(ref, signal)));
    /** Without the status: the API server still writes it after the definition is established. */
    const seen = async (refs = definitions) => {
      const found = [...(await live(refs)), ...(await live(rights.map(refOfManifest)))];
      return found.map((one) => {
        if (one === undefined) return undefined;
        const { name, uid, generation, labels, annotations, managedFields = [] } = one.metadata;
        const written = managedFields.filter(({ subresource }) => subresource !== "status");
        return { name, uid, generation, labels, annotations, written };
      });
    };
    const make = (name: string) =>
      cluster.apply(
        {
          apiVersion: "kustomize.toolkit.fluxcd.io/v1",
          kind: "Kustomization",
          metadata: { name, namespace: "default" },
          spec: { interval: "10m", prune: true, sourceRef: { kind: "OCIRepository", name } },
        },
        { manager: "kubectl", force: true },
        signal,
      );

    test("are installed, and a second time nothing changes", async () => {
      const ofAll = { hasAllKinds: true };
      const done = await run(request(), ofAll);
      expect(done.physicalId).toBe(id);
      expect(done.attributes).toEqual({ KubernetesVersion: "1.35", Version: "0.2.0", Notice: "" });
      const first = await seen(allDefinitions);
      expect(first).not.toContain(undefined);
      await run(request(), ofAll);
      await run(update("0.2.0"), ofAll);
      expect(await seen(allDefinitions)).toEqual(first);
    });

    const writes = definitions.length + rights.length;
    const inTime = { timeout: repeatedTimeoutMs(writes) };
    // The definitions are written alike, and so are the rights: the gate kills at the second write and every 7th after it, the deep
    // checks at each.
    test("after a handler is killed at any write, the next one finishes", inTime, async () => {
      const whole = cluster;
      for (let survived = inGateOrDeep(1, 0); survived < writes; survived += inGateOrDeep(7, 1)) {
        await clear(whole);
        let left = survived;
        cluster = {
          ...whole,
          apply: async (...call) => {
            if (left-- === 0) throw new Error("killed");
            return whole.apply(...call);
          },
        };
        await expect(run(request())).rejects.toThrow("killed");
        cluster = whole;
        await run(request());
        expect(await seen()).not.toContain(undefined);
      }
    });

    test.for(ofEveryServer)(
      "of a newer Sluice are not replaced: the request fails, prints a mend, and writes nothing",
      async () => {
        await run(request(), { version: "0.3.0" });
        const before = await seen();
        await expect(run(request())).rejects.toThrow(
          /definition of a newer version, \S+ by Sluice 0\.3\.0; this is Sluice 0\.2\.0, which does not replace it.*Deploy that version/,
        );
        expect(await seen()).toEqual(before);
        await run(request(), { version: "0.3.1" });
      },
    );

    test.for(ofEveryServer)("a rollback succeeds, and keeps the definitions of the newer version", async () => {
      await run(request(), { version: "0.3.0" });
      const back = await run(update("0.3.0"));
      expect(back.attributes).toMatchObject({ Notice: expect.stringContaining("stay as Sluice 0.3.0 installed them") });
      const [definition] = await live(definitions);
      expect(definition?.metadata.annotations).toMatchObject({ "sluice/version": "0.3.0" });
    });

    test("those of Flux stay if they serve what Sluice reads, and are not removed either", async () => {
      const kind = declaredOciRepository;
      const made = await customResourceDefinition(kind);
      const manifest = {
        ...made,
        ...base(definitionRef(kind).name, "apiextensions.k8s.io/v1", "CustomResourceDefinition"),
      };
      await cluster.apply(manifest, { manager: "flux", force: true }, signal);
      await run(request());
      const [flux] = await live(definitions);
      expect(flux?.metadata.managedFields?.map(({ manager }) => manager)).not.toContain("sluice");
      await run(remove({ properties: { ...properties, onDelete: "removeDefinitions" } }));
      const [still, other] = await live(definitions);
      expect([still === undefined, isGoing(other)]).toEqual([false, true]);
    });

    test.for(ofEveryServer)(
      "a cluster of another Sluice is refused, with its owner and the command, and nothing is written",
      async () => {
        const other = { id: "999999999999/eu-west-1/sluice", version: "0.1.0", takeOverCommand: "" };
        await ownerCheck(other, { cluster, clock: systemClock })(signal);
        await expect(run(request())).rejects.toThrow(
          /belongs to another Sluice, 999999999999\/eu-west-1\/sluice, .*run sluice take-over --installation 123456789012\/eu-west-1\/sluice/,
        );
        expect(new Set(await seen())).toEqual(new Set([undefined]));
      },
    );

    test("the admission webhook is installed if it has an address, and removed otherwise", async () => {
      const admission = { url: "https://x.lambda-url.eu-west-1.on.aws/", secret: secretArn, selector: "a in (b),!c" };
      const configuration = () => cluster.get(webhookRef, signal);
      await run(request({ properties: { ...properties, admission } }));
      const url = `https://x.lambda-url.eu-west-1.on.aws${admissionPath(await readStored(), id)}`;
      expect(await configuration()).toMatchObject({
        webhooks: [
          { name: "objects.admission.sluice", clientConfig: { url }, failurePolicy: "Ignore", timeoutSeconds: 1 },
          {
            clientConfig: { url },
            sideEffects: "NoneOnDryRun",
            objectSelector: {
              matchExpressions: [
                { key: "a", operator: "In", values: ["b"] },
                { key: "c", operator: "DoesNotExist" },
              ],
            },
          },
        ],
      });
      await run({ ...update("0.2.0"), resource: "stack/Other" });
      expect(await configuration()).toBeDefined();
      await run(update("0.2.0"));
      expect(await configuration()).toBeUndefined();
      await run(request({ properties: { ...properties, admission: { url: admission.url, secret: secretArn } } }));
      await run(remove());
      expect(await configuration()).toBeUndefined();
      const odd = { ...properties, admission: { url: "http://x", secret: "y", selector: "" } };
      await expect(run(request({ properties: odd }))).rejects.toThrow(
        /admission.url must be https.*admission.secret must be the ARN.*admission.selector must be a label selector/,
      );
    });

    test("a delete removes the rights and releases the cluster; objects and definitions stay", async () => {
      await run(request());
      const self = { id: installation, version: "0.2.0", takeOverCommand: "" };
      await ownerCheck(self, { cluster, clock: systemClock })(signal);
      await make("stays");
      const { lines } = await run(remove());
      expect(lines).toContainEqual(
        expect.objectContaining({ objects: 1, message: expect.stringContaining("sluice uninstall") }),
      );
      expect(new Set(await live(rights.map(refOfManifest)))).toEqual(new Set([undefined]));
      expect(await live(definitions)).not.toContain(undefined);
      expect(
        await cluster.list({ group: "kustomize.toolkit.fluxcd.io", version: "v1", kind: "Kustomization" }, signal),
      ).toHaveLength(1);
      expect(await cluster.get(ownerRef, signal)).toBeUndefined();
      await run(remove());
    });

    test.for(ofEveryServer)(
      "a delete after sluice uninstall releases a cluster that was taken over again meanwhile",
      async () => {
        await run(request());
        for (const ref of rights.map(refOfManifest)) await cluster.delete(ref, { propagation: "Background" }, signal);
        const self = { id: installation, version: "0.2.0", takeOverCommand: "" };
        await ownerCheck(self, { cluster, clock: systemClock })(signal);
        await run(remove({ resource: "stack/Prod" }));
        expect(await cluster.get(ownerRef, signal)).toBeUndefined();
      },
    );

    test("definitions are removed only on request, and only once no object is left", async () => {
      const ofAll = { hasAllKinds: true };
      await run(request(), ofAll);
      await make("last");
      const asked = remove({ properties: { ...properties, onDelete: "removeDefinitions" } });
      await expect(run(asked, ofAll)).rejects.toThrow(
        /are not removed, since Kustomization\/default\/last would go with them/,
      );
      expect(await live(allDefinitions)).not.toContain(undefined);
      expect(await live(rights.map(refOfManifest))).not.toContain(undefined);
      await cluster.delete(
        {
          group: "kustomize.toolkit.fluxcd.io",
          version: "v1",
          kind: "Kustomization",
          namespace: "default",
          name: "last",
        },
        { propagation: "Background" },
        signal,
      );
      await run(asked, ofAll);
      expect((await live(allDefinitions)).map(isGoing)).toEqual(allDefinitions.map(() => true));
    });

    test.for(ofEveryServer)("a resource that another one has replaced removes nothing", async () => {
      await run(request({ resource: "stack/Former" }));
      await run(request());
      await ownerCheck(
        { id: installation, version: "0.2.0", takeOverCommand: "" },
        { cluster, clock: systemClock },
      )(signal);
      const before = await seen();
      await run(remove({ resource: "stack/Former", properties: { ...properties, onDelete: "removeDefinitions" } }));
      expect(await seen()).toEqual(before);
      expect(await cluster.get(ownerRef, signal)).toBeDefined();
    });

    test.for(ofEveryServer)("a delete succeeds if the cluster no longer exists", async () => {
      const open = async () => {
        throw new AwsFault("missing", "ResourceNotFoundException", "it does not exist");
      };
      expect(await run(remove(), { open })).toMatchObject({ physicalId: id });
      await expect(run(request(), { open })).rejects.toThrow("it does not exist");
    });

    test.for(ofEveryServer)(
      "a Kubernetes version that is too old is refused, and one newer than the tested ones is reported",
      async () => {
        await expect(run(request(), { described: { version: "1.29" } })).rejects.toThrow(
          "has Kubernetes 1.29, and Sluice is tested with Kubernetes 1.33 to 1.36: upgrade the cluster first",
        );
        const { attributes } = await run(request(), { described: { version: "1.40" } });
        expect(attributes).toMatchObject({ Notice: expect.stringContaining("look for a newer Sluice") });
      },
    );

    const limits = [
      { version: "1.32", outcome: "upgrade the cluster first" },
      { version: "1.33", outcome: "no notice" },
      { version: "1.36", outcome: "no notice" },
      { version: "1.37", outcome: "look for a newer Sluice" },
    ];
    test.each(plays === "all" ? limits : [])(
      "at the limits of the tested versions: Kubernetes $version, $outcome",
      async ({ version, outcome }) => {
        const said = await run(request(), { described: { version } }).then(
          ({ attributes }) => (attributes?.["Notice"] === "" ? "no notice" : attributes?.["Notice"]),
          (error: unknown) => String(error),
        );
        expect(said).toContain(outcome);
      },
    );

    test.for(ofEveryServer)("invalid properties are all named", async () => {
      const asked = request({ properties: { cluster: "prod", onDelete: "all" } });
      await expect(run(asked)).rejects.toThrow(
        "cluster must be arn:aws:eks:<region>:<account>:cluster/<name>; installation is required; version is required; onDelete must be keep or removeDefinitions",
      );
    });
  });
}

const ownerRef = { group: "", version: "v1", kind: "ConfigMap", namespace: "kube-system", name: "sluice-owner" };

function base(name: string, apiVersion: string, kind: string) {
  return { apiVersion, kind, metadata: { name } };
}

function refOfManifest({ kind, metadata }: (typeof rights)[number]) {
  const { name, namespace = "" } = metadata;
  return { group: "rbac.authorization.k8s.io", version: "v1", kind, namespace, name };
}

/** Definitions take a moment to go. */
function isGoing(object: LiveObject | undefined): boolean {
  return object?.metadata.deletionTimestamp !== undefined || object === undefined;
}

/** As before anything was installed. */
export async function clear(cluster: Cluster): Promise<void> {
  await removeOwner(cluster, signal);
  for (const ref of [webhookRef, ...rights.map(refOfManifest), ...(await definitionsIn(cluster))]) {
    await cluster.delete(ref, { propagation: "Background" }, signal);
  }
  const areGone = async () => {
    const [ref] = await definitionsIn(cluster);
    if (ref === undefined) return;
    const found = await cluster.get(ref, signal);
    if (found !== undefined) await touch(cluster, ref, found);
    throw new Error(`${ref.name} is still there`);
  };
  await vi.waitFor(areGone, { timeout: deadlineMs, interval: 250 });
}

/** Those of all kinds that the cluster has, also on their way out. */
async function definitionsIn(cluster: Cluster): Promise<readonly ReturnType<typeof definitionRef>[]> {
  const kind = { group: "apiextensions.k8s.io", version: "v1", kind: "CustomResourceDefinition" };
  const names = (await cluster.listMetadata(kind, signal)).map(({ metadata }) => metadata.name);
  return allDefinitions.filter(({ name }) => names.includes(name));
}

/**
 * Changes an annotation of a definition that is on its way out. kube-apiserver's finalizer gives up on one whose status another of its
 * controllers writes at that moment, as happens right after it was established, and looks again at the next change or after five minutes.
 */
async function touch(cluster: Cluster, { name }: { readonly name: string }, { metadata }: LiveObject): Promise<void> {
  if (metadata.deletionTimestamp === undefined) return;
  const { apiVersion, kind } = base(name, "apiextensions.k8s.io/v1", "CustomResourceDefinition");
  const annotations = { "test/touched-at": metadata.resourceVersion ?? "" };
  // The uid keeps one that has gone since from being made again.
  const touched = { apiVersion, kind, metadata: { name, uid: metadata.uid, annotations } };
  await cluster.apply(touched, { manager: "test", force: true }, signal).catch(() => undefined);
}
