import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { byApplyOrder, stageOf } from "../../../../lib/apply/set/apply-order.ts";
import { usualRules } from "../../../../lib/apply/set/apply-rules.ts";
import { equal } from "../../../../lib/core/json.ts";

const ref = (kind: string, group = "", name = "a") => ({ group, kind, namespace: "t", name });

describe("apply order (kustomization 3.13)", () => {
  test("has the stages definitions, classes, then everything else", () => {
    expect(stageOf(ref("CustomResourceDefinition", "apiextensions.k8s.io"), usualRules)).toBe("definitions");
    expect(stageOf(ref("Namespace"), usualRules)).toBe("definitions");
    expect(stageOf(ref("ClusterRole", "rbac.authorization.k8s.io"), usualRules)).toBe("definitions");
    expect(stageOf(ref("IngressClass", "networking.k8s.io"), usualRules)).toBe("classes");
    expect(stageOf(ref("GatewayClass", "gateway.networking.k8s.io"), usualRules)).toBe("classes");
    expect(stageOf(ref("DeviceClassParameters", "example.com"), usualRules)).toBe("rest");
    expect(stageOf(ref("Role", "rbac.authorization.k8s.io"), usualRules)).toBe("rest");
    expect(stageOf(ref("Namespace", "example.com"), usualRules)).toBe("rest");
  });

  test("puts kinds that the installation names after classes and before the rest", () => {
    const rules = { ...usualRules, customStageKinds: new Set(["example.com/Last", "/Namespace", "/ConfigMap"]) };
    const objects = [
      ref("Secret"),
      ref("Last", "example.com"),
      ref("ConfigMap"),
      ref("Some", "example.com"),
      ref("IngressClass"),
    ];
    expect(objects.toSorted((a, b) => byApplyOrder(a, b, rules)).map(({ kind }) => kind)).toEqual([
      "IngressClass",
      "ConfigMap",
      "Last",
      "Secret",
      "Some",
    ]);
    expect(stageOf(ref("Namespace"), rules)).toBe("definitions");
  });

  test("sorts kinds as Flux does", () => {
    const shuffled = [
      ref("HorizontalPodAutoscaler", "autoscaling"),
      ref("ValidatingWebhookConfiguration", "admissionregistration.k8s.io"),
      ref("PodDisruptionBudget", "policy"),
      ref("Deployment", "apps"),
      ref("Service"),
      ref("Ingress", "networking.k8s.io"),
      ref("StorageClass", "storage.k8s.io"),
      ref("Namespace"),
      ref("ConfigMap", "", "b"),
      ref("ConfigMap", "", "a"),
      ref("ServiceAccount"),
    ];
    expect(shuffled.toSorted(byApplyOrder).map(({ kind, name }) => `${kind}/${name}`)).toEqual([
      "Namespace/a",
      "StorageClass/a",
      "ServiceAccount/a",
      "ConfigMap/a",
      "ConfigMap/b",
      "Service/a",
      "Deployment/a",
      "PodDisruptionBudget/a",
      "HorizontalPodAutoscaler/a",
      "Ingress/a",
      "ValidatingWebhookConfiguration/a",
    ]);
  });

  test("keeps Flux's whole list within a stage, puts unlisted kinds after it, and webhooks last", () => {
    // From the reference, where a stage has only some of these.
    const definitions = ["CustomResourceDefinition", "Namespace", "ClusterRole"];
    const classes =
      "ClusterClass RuntimeClass PriorityClass StorageClass VolumeSnapshotClass IngressClass GatewayClass".split(" ");
    const rest =
      "ClusterRoleBinding ResourceQuota ServiceAccount Role RoleBinding ConfigMap Secret Service LimitRange Deployment StatefulSet CronJob PodDisruptionBudget Anything MutatingWebhookConfiguration ValidatingWebhookConfiguration".split(
        " ",
      );
    const groups = new Map([
      ["CustomResourceDefinition", "apiextensions.k8s.io"],
      ["ClusterRole", "rbac.authorization.k8s.io"],
    ]);
    const inOrder = [...definitions, ...classes, "UnlistedClass", ...rest];
    const refs = inOrder.map((kind) => ref(kind, groups.get(kind)));
    expect(refs.toReversed().toSorted(byApplyOrder)).toEqual(refs);
  });

  test("is a total order: antisymmetric, transitive, and zero only for the same object", () => {
    const kinds = fc.constantFrom("Namespace", "ConfigMap", "Deployment", "Ingress", "Widget", "WidgetClass");
    const refs = fc.record({
      group: fc.constantFrom("", "apps", "x.io"),
      kind: kinds,
      namespace: fc.constantFrom("", "t"),
      name: fc.constantFrom("a", "b"),
    });
    fc.assert(
      fc.property(refs, refs, refs, (a, b, c) => {
        expect(Math.sign(byApplyOrder(a, b))).toBe(-Math.sign(byApplyOrder(b, a)) + 0);
        const ordered = byApplyOrder(a, b) <= 0 && byApplyOrder(b, c) <= 0;
        expect(ordered && byApplyOrder(a, c) > 0).toBe(false);
        expect(byApplyOrder(a, b) === 0).toBe(equal(a, b));
      }),
    );
  });
});
