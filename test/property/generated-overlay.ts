import fc from "fast-check";
import type { BuildSpec } from "../../lib/manifests/build-spec.ts";
import type { Files } from "../unit/manifests/build-files.ts";
import { generatedTree } from "./generated-tree.ts";

/** A folder with a kustomization file that uses a little of everything, and the fields of a spec that change its output. */
export interface GeneratedOverlay {
  readonly files: Files;
  readonly spec: BuildSpec;
}

const label = fc.constantFrom("app", "tier", "a.test/b");
const text = fc.constantFrom("x", "on", "1", "a b", "0755", "y", "");
const texts = fc.dictionary(label, text, { minKeys: 1, maxKeys: 2 });
const generator = fc.record(
  {
    name: fc.constantFrom("one", "two"),
    literals: fc.uniqueArray(fc.constantFrom("A=1", "B=x=y", "C=", "d='q'", 'e="q"'), { maxLength: 3 }),
    files: fc.uniqueArray(fc.constantFrom("data.txt", "named.txt=data.txt", "bytes.bin"), { maxLength: 2 }),
    envs: fc.uniqueArray(fc.constant("names.env"), { maxLength: 1 }),
    options: fc.record(
      { labels: texts, immutable: fc.boolean(), disableNameSuffixHash: fc.boolean() },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: ["name"] },
);
const selector = fc.record(
  { kind: fc.constantFrom("ConfigMap", "Deployment", "Service", ".*"), name: fc.constantFrom("a.*", ".*") },
  { requiredKeys: ["kind"] },
);
const patch = fc.constantFrom(
  '[{"op": "add", "path": "/metadata/annotations", "value": {"patched": "yes"}}]',
  "- op: add\n  path: /metadata/labels\n  value: {patched: 'on'}\n",
  "- op: remove\n  path: /metadata/namespace\n",
);
const fileSettings = fc.record(
  {
    namespace: fc.constantFrom("team", "default"),
    namePrefix: fc.constant("file-"),
    nameSuffix: fc.constant("-file"),
    labels: fc.array(fc.record({ pairs: texts, includeSelectors: fc.boolean() }), { maxLength: 2 }),
    commonLabels: texts,
    commonAnnotations: texts,
    configMapGenerator: fc.uniqueArray(generator, { maxLength: 2, selector: ({ name }) => name }),
    secretGenerator: fc.uniqueArray(generator, { maxLength: 1, selector: ({ name }) => name }),
    generatorOptions: fc.record({ labels: texts, disableNameSuffixHash: fc.boolean() }, { requiredKeys: [] }),
    images: fc.array(fc.record({ name: fc.constantFrom("nginx", "app"), newTag: fc.constantFrom("v1", "1.10") }), {
      maxLength: 1,
    }),
    replicas: fc.array(fc.record({ name: fc.stringMatching(/^[a-z]$/), count: fc.nat({ max: 3 }) }), { maxLength: 1 }),
    patches: fc.array(fc.record({ patch, target: selector }), { maxLength: 2 }),
    sortOptions: fc.constantFrom({ order: "legacy" }, { order: "fifo" }),
    buildMetadata: fc.subarray(["originAnnotations", "transformerAnnotations"]),
    unknown: fc.constant("left out, as Flux does"),
  },
  { requiredKeys: [] },
);

export const generatedOverlay: fc.Arbitrary<GeneratedOverlay> = fc
  .record({
    tree: generatedTree,
    settings: fileSettings,
    component: fc.boolean(),
    patches: fc.array(fc.record({ patch, target: selector }), { maxLength: 1 }),
    buildMetadata: fc.subarray<"originAnnotations" | "transformerAnnotations">(["originAnnotations"]),
  })
  .map(({ tree, settings, component, patches, buildMetadata }) => {
    const resources = tree.files.map(({ path }) => `./base/${path}`);
    const components = component ? ["component"] : [];
    const named = tree.files.map(({ path, content }) => [`base/${path}`, content] as const);
    return {
      spec: { ...tree.spec, ...(tree.spec.images && { images: [...tree.spec.images] }), patches, buildMetadata },
      files: {
        ...Object.fromEntries(named),
        "kustomization.yaml": JSON.stringify({ resources, components, ...settings }),
        "component/kustomization.yaml":
          "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nnameSuffix: -c\n",
        "data.txt": "some text\nof two lines\n",
        "names.env": "# a comment\nC=3\nD=\n",
        "bytes.bin": Buffer.from([0, 255, 1, 254]),
      },
    };
  });
