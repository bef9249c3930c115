import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { parse } from "yaml";
import { definedKinds } from "../../../lib/api/kinds/declared-kinds.ts";
import { type Manifest, refOf } from "../../../lib/core/manifest.ts";
import { withinDeadline } from "../../deadline.ts";
import type { StartCluster } from "./cluster-under-test.ts";
import { faultOf } from "./fault-of.ts";
import { workspace } from "./workspace.ts";

export function sluiceKindsContract(start: StartCluster): void {
  describe("the kinds that Sluice installs", () => {
    const space = workspace(start);
    const { apply, create, get, remove, signal } = space;

    beforeAll(async () => {
      for (const { plural, group } of definedKinds) {
        const text = await readFile(join(import.meta.dirname, `../../../infra/crds/${plural}.${group}.yaml`), "utf8");
        const definition: Manifest = parse(text);
        await space.cluster.apply(definition, { manager: "alpha", force: true }, signal);
      }
      // A definition is served some moments after it was stored.
      await vi.waitFor(() => apply(kustomization({}, "v1beta1", "default")), withinDeadline);
      await remove({ ...refOf(kustomization()), namespace: "default" });
    });

    const kustomization = (spec = {}, version = "v1", within = space.namespace): Manifest => ({
      apiVersion: `kustomize.toolkit.fluxcd.io/${version}`,
      kind: "Kustomization",
      metadata: { name: "app", namespace: within },
      spec: { interval: "10m", prune: true, sourceRef: { kind: "OCIRepository", name: "app" }, ...spec },
    });

    test("start with observedGeneration -1 and with the defaults of their spec (5)", async () => {
      const { object } = await apply(kustomization());
      expect(object).toMatchObject({ spec: { force: false }, status: { observedGeneration: -1 } });
      expect(object.metadata.generation).toBe(1);
    });

    test("accept YAML of 2021 and keep fields that v1 no longer has, in every version", async () => {
      const former = {
        path: "./deploy",
        validation: "client",
        patchesStrategicMerge: [
          { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "app" }, spec: { replicas: 2 } },
        ],
        patchesJson6902: [
          {
            patch: [{ op: "add", path: "/data/k", value: { a: [1] } }],
            target: { version: "v1", kind: "ConfigMap", name: "a" },
          },
        ],
        healthChecks: [{ apiVersion: "apps/v1", kind: "Deployment", name: "app", namespace: "default" }],
      };
      await create(kustomization(former, "v1beta1"));
      for (const version of ["v1beta1", "v1beta2", "v1"]) {
        expect(await get({ ...refOf(kustomization()), version })).toMatchObject({
          apiVersion: `kustomize.toolkit.fluxcd.io/${version}`,
          spec: former,
        });
      }
    });

    test("accept the OCIRepository of the field report, in v1beta2", async () => {
      const spec = { interval: "5m", url: "oci://127.0.0.1:5000/oddy", ref: { tag: "v1" }, insecure: true };
      const source = {
        apiVersion: "source.toolkit.fluxcd.io/v1beta2",
        kind: "OCIRepository",
        metadata: { name: "oddy", namespace: space.namespace },
        spec,
      };
      const { object } = await apply(source);
      expect(object["spec"]).toEqual({ ...spec, provider: "generic", timeout: "60s" });
      expect(await get({ ...refOf(source), version: "v1" })).toMatchObject({ spec });
    });

    test("11.1/28: accept an OCIRepository's timeout in minutes, but not in hours", async () => {
      const source = (timeout: string): Manifest => ({
        apiVersion: "source.toolkit.fluxcd.io/v1",
        kind: "OCIRepository",
        metadata: { name: "patient", namespace: space.namespace },
        spec: { interval: "5m", url: "oci://127.0.0.1:5000/oddy", timeout },
      });
      const error = await faultOf(create(source("1h")));
      expect(error).toMatchObject({ code: 422, reason: "Invalid" });
      expect(error.message).toContain("spec.timeout");
      expect((await create(source("60m")))["spec"]).toMatchObject({ timeout: "60m" });
    });

    test.each([
      ["spec.interval", { interval: "10" }],
      ["spec.retryInterval", { retryInterval: "-5m" }],
      ["spec.timeout", { timeout: "1d" }],
      ["spec.targetNamespace", { targetNamespace: "n".repeat(64) }],
      ["spec.namePrefix", { namePrefix: "" }],
      ["spec.sourceRef.kind", { sourceRef: { kind: "HelmRepository", name: "a" } }],
      ["spec.decryption.provider", { decryption: { provider: "vault" } }],
      ["spec.deletionPolicy", { deletionPolicy: "Keep" }],
      ["spec.buildMetadata", { buildMetadata: ["foo"] }],
      ["spec.postBuild.substituteFrom", { postBuild: { substituteFrom: [{ kind: "Pod", name: "a" }] } }],
      ["spec.kubeConfig", { kubeConfig: {} }],
      ["spec.kubeConfig", { kubeConfig: { secretRef: { name: "a" }, configMapRef: { name: "b" } } }],
    ])("are refused with a bad %s (2, 3, 4)", async (field, spec) => {
      const error = await faultOf(create(kustomization(spec)));
      expect(error).toMatchObject({ code: 422, reason: "Invalid" });
      expect(error.message).toContain(field);
    });

    test("are refused without interval, prune and sourceRef (1)", async () => {
      const error = await faultOf(create({ ...kustomization(), spec: {} }));
      for (const field of ["spec.interval", "spec.prune", "spec.sourceRef"])
        expect(error.message).toContain(`${field}: Required value`);
    });

    test("explain why a kubeConfig with both a Secret and a ConfigMap is refused (3)", async () => {
      const kubeConfig = { secretRef: { name: "a" }, configMapRef: { name: "b" } };
      expect((await faultOf(create(kustomization({ kubeConfig })))).message).toContain(
        "exactly one of spec.kubeConfig.configMapRef or spec.kubeConfig.secretRef must be specified",
      );
    });

    const canary = (spec = {}): Manifest => ({
      apiVersion: "flagger.app/v1beta1",
      kind: "Canary",
      metadata: { name: "web", namespace: space.namespace },
      spec: {
        targetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
        service: { port: 80 },
        analysis: { interval: "1m", threshold: 5, stepWeight: 10 },
        ...spec,
      },
    });
    const weighted = { interval: "1m", threshold: 5, stepWeight: 10 };

    test("accept a Canary as Flagger's definition does, with its defaults", async () => {
      const service = { port: 80, targetPort: "http", gatewayRefs: [{ name: "public" }] };
      const sessionAffinity = { cookieName: "canary" };
      const { object } = await apply(canary({ service, analysis: { ...weighted, sessionAffinity } }));
      expect(object["spec"]).toMatchObject({
        service: { ...service, gatewayRefs: [{ group: "gateway.networking.k8s.io", kind: "Gateway", name: "public" }] },
        analysis: { sessionAffinity: { cookieName: "canary", maxAge: 86_400 } },
      });
      expect(object["status"]).toBeUndefined();
    });

    // As recorded with Flagger's own definition.
    const oneOf = "must validate one and only one schema (oneOf). Found";
    test.each([
      [{ analysis: { interval: "1m", threshold: 5 } }, `"spec.analysis" ${oneOf} none valid`],
      [{ analysis: { ...weighted, iterations: 5 } }, `"spec.analysis" ${oneOf} 2 valid`],
      [{ analysis: { ...weighted, interval: "1h" } }, "spec.analysis.interval in body should match '^[0-9]+(m|s)'"],
      [{ provider: "" }, 'spec.provider: Unsupported value: "": supported values: "apisix", "appmesh",'],
      [{ service: {} }, "spec.service.port: Required value"],
      [
        { service: { port: 80, match: [{ uri: { exact: "/", prefix: "/" } }] } },
        `"spec.service.match[0].uri" ${oneOf} 2 valid`,
      ],
    ])("refuse a Canary with %j with the text of Flagger's definition", async (spec, words) => {
      const error = await faultOf(create(canary(spec)));
      expect(error).toMatchObject({ code: 422, reason: "Invalid" });
      expect(error.message).toContain(words);
    });

    test("name the missing fields of a Canary in the order of Flagger's definition", async () => {
      const error = await faultOf(create({ ...canary(), spec: {} }));
      expect(error.message).toContain("[spec.targetRef: Required value, spec.analysis: Required value");
    });

    test("accept an AlertProvider with exactly one of address and secretRef", async () => {
      const provider = (spec: object): Manifest => ({
        apiVersion: "flagger.app/v1beta1",
        kind: "AlertProvider",
        metadata: { name: "chat", namespace: space.namespace },
        spec: { type: "slack", ...spec },
      });
      const both = { address: "https://example.test", secretRef: { name: "chat" } };
      expect((await faultOf(create(provider({})))).message).toContain(`"spec" ${oneOf} none valid`);
      expect((await faultOf(create(provider(both)))).message).toContain(`"spec" ${oneOf} 2 valid`);
      const { secretRef } = both;
      expect((await create(provider({ secretRef })))["spec"]).toEqual({ type: "slack", secretRef });
    });

    test("accept Flux's finalizer, whose name has no domain", async () => {
      await create(kustomization());
      const body = { metadata: { finalizers: ["finalizers.fluxcd.io"] } };
      const patch = { type: "merge", body } as const;
      const held = await space.cluster.patch(refOf(kustomization()), patch, { manager: "beta" }, signal);
      expect(held.metadata.finalizers).toEqual(["finalizers.fluxcd.io"]);
      expect(await remove(refOf(kustomization()))).toBe("deleting");
      const released = { type: "merge", body: { metadata: { finalizers: null } } } as const;
      await space.cluster.patch(refOf(kustomization()), released, { manager: "beta" }, signal);
      expect(await get(refOf(kustomization()))).toBeUndefined();
    });

    test("have their status written separately from their spec", async () => {
      await create(kustomization());
      const body = { spec: { prune: false }, status: { observedGeneration: 1, lastAppliedRevision: "v1@sha256:1" } };
      const options = { manager: "gotk-kustomize-controller", subresource: "status" };
      const patched = await space.cluster.patch(refOf(kustomization()), { type: "merge", body }, options, signal);
      expect(patched).toMatchObject({ spec: { prune: true }, status: { lastAppliedRevision: "v1@sha256:1" } });
      expect(patched.metadata.generation).toBe(1);
    });
  });
}
