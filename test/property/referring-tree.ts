import { readFileSync } from "node:fs";
import fc from "fast-check";
import { parse, stringify } from "yaml";
import { z } from "zod";
import type { GeneratedTree } from "./generated-tree.ts";

const FieldSpec = z.object({
  kind: z.string(),
  group: z.string().optional(),
  version: z.string().optional(),
  path: z.string(),
});
const Table = z.object({
  nameReference: z.array(FieldSpec.omit({ path: true }).extend({ fieldSpecs: z.array(FieldSpec) })),
});

/** kustomize's own table of references. */
export const kustomizeTable = Table.parse(
  parse(readFileSync(new URL("../fixtures/kustomize/name-references.yaml", import.meta.url), "utf8")),
).nameReference;

/** The segments of a path in kustomize's table. */
export function segmentsOf(path: string): readonly string[] {
  return path.split(/(?<!\\)\//).map((segment) => segment.replaceAll("\\/", "/"));
}

const apiVersions: Readonly<Record<string, string>> = {
  ...{ Deployment: "apps/v1", ReplicaSet: "apps/v1", StatefulSet: "apps/v1", DaemonSet: "apps/v1" },
  ...{
    Job: "batch/v1",
    CronJob: "batch/v1",
    HorizontalPodAutoscaler: "autoscaling/v2",
    Ingress: "networking.k8s.io/v1",
  },
  ...{ StorageClass: "storage.k8s.io/v1", PriorityClass: "scheduling.k8s.io/v1", IngressClass: "networking.k8s.io/v1" },
  ...{ Role: "rbac.authorization.k8s.io/v1", ClusterRole: "rbac.authorization.k8s.io/v1" },
  RoleBinding: "rbac.authorization.k8s.io/v1",
  ClusterRoleBinding: "rbac.authorization.k8s.io/v1",
  ValidatingWebhookConfiguration: "admissionregistration.k8s.io/v1",
  MutatingWebhookConfiguration: "admissionregistration.k8s.io/v1",
  APIService: "apiregistration.k8s.io/v1",
  ValidatingAdmissionPolicy: "admissionregistration.k8s.io/v1",
  ValidatingAdmissionPolicyBinding: "admissionregistration.k8s.io/v1",
};
const kinds = [
  ...new Set(kustomizeTable.flatMap(({ kind, fieldSpecs }) => [kind, ...fieldSpecs.map((spec) => spec.kind)])),
];
/** Kinds whose references are mappings. */
const bindings = ["RoleBinding", "ClusterRoleBinding", "ValidatingWebhookConfiguration", "APIService"];
const targets = kustomizeTable.map(({ kind }) => kind).filter((kind) => kinds.includes(kind));
const apiVersionOf = (kind: string): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 9, arbitrary: fc.constant(apiVersions[kind] ?? "v1") },
    fc.constantFrom(
      "v1",
      "v2",
      "apps/v1",
      "serving.knative.dev/v1",
      "x.test/v1",
      "x.test/v2",
      "storage.k8s.io/v1beta1",
    ),
  );

const name = fc.constantFrom("a", "a", "a", "a", "b", "b", "web", "p-a", "p-web", "a-s", "p-a-s", "web-s", "1", "x.y");
const leaf = fc.oneof(
  { weight: 40, arbitrary: name },
  { weight: 4, arbitrary: fc.array(name, { maxLength: 3 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<unknown>(null, "", 1, true, {}, [null], { name: "a" }, ["a", 1], [["a"]], "A"),
  },
);

const subject = fc.record(
  {
    kind: fc.constantFrom<unknown>("ServiceAccount", "ServiceAccount", "User", 1),
    name: fc.oneof({ weight: 9, arbitrary: name }, fc.constantFrom<unknown>(1, null, {})),
    namespace: fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom("default", "team") },
      fc.constantFrom<unknown>(1, null),
    ),
  },
  { requiredKeys: ["name"] },
);
const mapping = fc.oneof(
  { weight: 3, arbitrary: subject },
  { weight: 3, arbitrary: fc.array(subject, { maxLength: 2 }) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>({}, [{ kind: "User" }], ["a"], "a", null, [[{ name: "a" }]]) },
);

interface Reference {
  readonly segments: readonly string[];
  readonly value: unknown;
  /** Where a list of one or more stands on the way. */
  readonly lists: readonly number[];
}

const referenceIn = (kind: string): fc.Arbitrary<Reference> => {
  const paths = kustomizeTable.flatMap(({ fieldSpecs }) =>
    fieldSpecs.filter((spec) => spec.kind === kind).map(({ path }) => path),
  );
  const path = fc.oneof(
    { weight: 40, arbitrary: fc.constantFrom("spec/name", ...paths) },
    fc.constantFrom("spec/name", "spec", "metadata/labels/app", "spec/template/spec/containers", "data/name", "rules"),
  );
  return fc.record({
    segments: path.map(segmentsOf),
    value: bindings.includes(kind) ? fc.oneof(mapping, leaf) : leaf,
    lists: fc.array(fc.nat({ max: 8 }), { maxLength: 2 }),
  });
};

/** A list gets the value in each of its items. */
function put(into: unknown, [segment, ...rest]: readonly string[], value: unknown, lists: readonly number[]): unknown {
  if (segment === undefined) return value;
  const isMapping = typeof into === "object" && into !== null && !Array.isArray(into);
  const mapping: Readonly<Record<string, unknown>> = isMapping ? { ...into } : {};
  const inner = put(mapping[segment], rest, value, lists);
  const isList = segment !== "metadata" && rest.length > 0 && lists.includes(rest.length);
  return { ...mapping, [segment]: isList ? [inner, rest.length === 1 ? { [rest[0] ?? ""]: "web" } : inner] : inner };
}

const object = fc
  .constantFrom(...kinds, ...bindings, ...targets, ...targets, ...targets, "Widget")
  .chain((kind) =>
    fc.record({
      kind: fc.constant(kind),
      apiVersion: apiVersionOf(kind),
      name,
      namespace: fc.option(fc.constantFrom("default", "team"), { nil: undefined }),
      references: fc.array(referenceIn(kind), { maxLength: 4 }),
    }),
  )
  .map(({ kind, apiVersion, name: itsName, namespace, references }) => {
    const metadata = { name: itsName, ...(namespace !== undefined && { namespace }) };
    return references.reduce<unknown>((made, { segments, value, lists }) => put(made, segments, value, lists), {
      apiVersion,
      kind,
      metadata,
    });
  });

/** Objects of few names that refer to each other in the places that kustomize knows, and in others; and a spec that renames them. */
export const referringTree: fc.Arbitrary<GeneratedTree> = fc
  .record({
    objects: fc.uniqueArray(object, {
      minLength: 2,
      maxLength: 12,
      selector: (one) =>
        JSON.stringify(z.object({ kind: z.string(), metadata: z.object({ name: z.string() }) }).parse(one)),
    }),
    namePrefix: fc.oneof({ weight: 5, arbitrary: fc.constant("p-") }, fc.constantFrom(undefined, "", "1")),
    nameSuffix: fc.constantFrom(undefined, undefined, undefined, "-s", "", "0"),
    targetNamespace: fc.constantFrom(undefined, undefined, "team", "default"),
    isUntouched: fc.nat({ max: 3 }).map((chance) => chance === 0),
  })
  .map(({ objects, namePrefix, nameSuffix, targetNamespace, isUntouched }) => ({
    files: [
      {
        path: "all.yaml",
        content: Buffer.from(objects.map((one) => stringify(one, { aliasDuplicateObjects: false })).join("---\n")),
      },
    ],
    spec: isUntouched
      ? {}
      : {
          ...(namePrefix !== undefined && { namePrefix }),
          ...(nameSuffix !== undefined && { nameSuffix }),
          ...(targetNamespace !== undefined && { targetNamespace }),
        },
  }));
