import { describe, expect, test } from "vitest";
import { desiredObjects } from "../../../lib/apply/desired-objects.ts";
import { usualRules } from "../../../lib/apply/set/apply-rules.ts";
import type { Manifest } from "../../../lib/core/manifest.ts";
import type { TargetCluster } from "../../../lib/core/ports/home-and-target.ts";
import { Secret } from "../../../lib/core/secret.ts";
import { noTarget } from "../../doubles/no-cluster.ts";

const cluster: TargetCluster = {
  ...noTarget,
  resource: async ({ group, kind, version = "v1" }) => ({
    group,
    version,
    kind,
    plural: `${kind.toLowerCase()}s`,
    namespaced: kind !== "ClusterRole" && kind !== "CustomResourceDefinition",
    verbs: ["list"],
  }),
};
const object = (apiVersion: string, kind: string, name: string, namespace?: string): Manifest => ({
  apiVersion,
  kind,
  metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
});
const rbac = "rbac.authorization.k8s.io/v1";

async function outcome(...manifests: readonly Manifest[]): Promise<string> {
  return desiredObjects(
    manifests,
    { cluster, installationKey: new Secret("test"), rules: usualRules },
    new AbortController().signal,
  ).then((objects) => `${objects.length} objects`, String);
}

describe("two manifests of the same object are reported with the reason", () => {
  test.each([
    {
      name: "two names with the same inventory id",
      manifests: [object(rbac, "ClusterRole", "a:b"), object(rbac, "ClusterRole", "a__b")],
      says: "ClusterRole/a:b and ClusterRole/a__b cannot both be in one Kustomization: in an inventory, as Flux writes it, : in such a name is __, so both have the same entry; rename one of them",
    },
    {
      name: "two versions of a kind",
      manifests: [
        object("autoscaling/v1", "HorizontalPodAutoscaler", "web", "apps"),
        object("autoscaling/v2", "HorizontalPodAutoscaler", "web", "apps"),
      ],
      says: "HorizontalPodAutoscaler/apps/web is in the manifests twice, as autoscaling/v1 and as autoscaling/v2: keep one of them",
    },
    {
      name: "two namespaces for a cluster-scoped kind",
      manifests: [object(rbac, "ClusterRole", "a", "x"), object(rbac, "ClusterRole", "a")],
      says: "ClusterRole/a is in the manifests twice, with the namespaces x and none, though its kind has none: keep one of them",
    },
    {
      name: "no namespace and a namespace for a cluster-scoped kind",
      manifests: [object(rbac, "ClusterRole", "a"), object(rbac, "ClusterRole", "a", "x")],
      says: "ClusterRole/a is in the manifests twice, with the namespaces none and x, though its kind has none: keep one of them",
    },
    {
      name: "two equal manifests",
      manifests: [object("v1", "ConfigMap", "a", "apps"), object("v1", "ConfigMap", "a", "apps")],
      says: "ConfigMap/apps/a is in the manifests twice: keep one of them",
    },
  ])("$name", async ({ manifests, says }) => {
    expect(await outcome(...manifests)).toBe(`Failure: ${says}\n`);
  });

  test("objects of the same name in different kinds or namespaces are different objects", async () => {
    const names = [object("v1", "ConfigMap", "a", "apps"), object("v1", "ConfigMap", "a", "web")];
    expect(await outcome(...names, object("v1", "Secret", "a", "apps"))).toBe("3 objects");
  });
});

describe("the digest of a manifest", () => {
  const [key, other] = [new Secret("0".repeat(64)), new Secret("1".repeat(64))];
  const digestOf = async (manifest: Manifest, installationKey: Secret): Promise<string | undefined> =>
    (await desiredObjects([manifest], { cluster, installationKey, rules: usualRules }, new AbortController().signal))[0]
      ?.digest;

  test.each(["Secret", "ConfigMap", "Deployment"])("of a %s is keyed by the installation", async (kind) => {
    const manifest = { ...object("v1", kind, "a", "apps"), data: { password: "hunter2" } };
    const digest = await digestOf(manifest, key);
    expect(digest).toMatch(/^hmac-sha256:[0-9a-f]{64}$/);
    expect(await digestOf({ ...manifest }, key)).toBe(digest);
    expect(await digestOf(manifest, other)).not.toBe(digest);
    expect(await digestOf({ ...manifest, data: { password: "hunter3" } }, key)).not.toBe(digest);
  });
});

describe("a kind that the cluster does not serve yet", () => {
  const schema = { type: "object" };
  const definition = (scope: string, ...versions: readonly object[]): Manifest => ({
    ...object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "cars.example.com"),
    spec: { group: "example.com", scope, names: { kind: "Car" }, versions },
  });
  const served = { name: "v1", served: true };
  const { signal } = new AbortController();
  /** The objects of a cluster that serves definitions and ConfigMaps alone, or why there are none. */
  const desired = (...manifests: readonly Manifest[]) => {
    const serving: TargetCluster = {
      ...cluster,
      resource: async (query, stop) => (query.group === "example.com" ? undefined : cluster.resource(query, stop)),
    };
    return desiredObjects(
      manifests,
      { cluster: serving, installationKey: new Secret("test"), rules: usualRules },
      signal,
    );
  };

  test("is known from its definition in the same set, with its schema; a served kind needs no definition", async () => {
    const withSchema = { ...served, schema: { openAPIV3Schema: schema } };
    const cars = definition("Namespaced", withSchema, { name: "v2", served: true });
    const objects = await desired(
      cars,
      object("example.com/v1", "Car", "a", "t"),
      object("example.com/v2", "Car", "b", "t"),
    );
    const told = objects.map(({ id, resource, ...rest }) => [id, resource?.kind, rest.schema]);
    expect(told).toEqual([
      ["_cars.example.com_apiextensions.k8s.io_CustomResourceDefinition", "CustomResourceDefinition", undefined],
      ["t_a_example.com_Car", undefined, schema],
      ["t_b_example.com_Car", undefined, undefined],
    ]);
    expect(objects[2]).not.toHaveProperty("schema");
    expect(objects.map(({ isPromised }) => isPromised)).toEqual([undefined, true, true]);
  });

  test("loses its namespace if its definition is cluster-scoped", async () => {
    const [, car] = await desired(definition("Cluster", served), object("example.com/v1", "Car", "a", "t"));
    expect(car?.ref.namespace).toBe("");
    expect(car?.manifest.metadata).toEqual({ name: "a" });
  });

  test.each([
    { name: "no definition", manifests: [] },
    {
      name: "a definition that does not serve the version",
      manifests: [definition("Namespaced", { name: "v1", served: false })],
    },
    {
      name: "an object that is not a valid definition",
      manifests: [object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "cars.example.com")],
    },
    {
      name: "a similar kind of another group",
      manifests: [{ ...definition("Namespaced", served), kind: "ConfigMap" }],
    },
  ])("is refused with Flux's text if there is $name", async ({ manifests }) => {
    await expect(desired(...manifests, object("example.com/v1", "Car", "a", "t"))).rejects.toThrow(
      'Car/t/a dry-run failed: no matches for kind "Car" in version "example.com/v1"\n',
    );
  });

  test("is refused if its namespace is missing, together with all other faults", async () => {
    const manifests = [
      definition("Namespaced", served),
      object("example.com/v1", "Car", "a"),
      object("v1", "ConfigMap", "b"),
    ];
    await expect(desired(...manifests)).rejects.toThrow(
      "Car/a namespace not specified: the server could not find the requested resource\n" +
        "ConfigMap/b namespace not specified: the server could not find the requested resource\n",
    );
  });
});
