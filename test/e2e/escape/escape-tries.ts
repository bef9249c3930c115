import type { JsonObject } from "../../../lib/core/json.ts";
import type { Files } from "../../unit/manifests/build-files.ts";

/** What a build should not be able to read. */
export interface Targets {
  /** Absolute path of a file with the canary in it, outside of every artifact. */
  readonly file: string;
  /** The process id of Sluice, which has the canary in its environment. */
  readonly pid: number;
  /** A URL of a server that answers with the canary, and counts who asks. */
  readonly url: string;
}

/** One artifact, or one spec, that tries to bring content into the cluster that is not in the artifact. */
export interface EscapeTry {
  readonly name: string;
  readonly files: Files;
  readonly spec?: JsonObject;
}

const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: harmless\ndata:\n  a: b\n";
const component = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n";
const noHash = "generatorOptions: {disableNameSuffixHash: true}\n";

/** Every way by which a kustomization names a file, with `PATH` in the place of the name. */
const places: readonly { readonly place: string; readonly text: string }[] = [
  { place: "resources", text: "resources: [PATH]\n" },
  { place: "resources in other letters", text: "Resources: [PATH]\n" },
  { place: "resources with a long s", text: "re\u017fource\u017f: [PATH]\n" },
  { place: "bases", text: "bases: [PATH]\n" },
  { place: "components", text: "resources: [a.yaml]\ncomponents: [PATH]\n" },
  { place: "crds", text: "resources: [a.yaml]\ncrds: [PATH]\n" },
  { place: "configurations", text: "resources: [a.yaml]\nconfigurations: [PATH]\n" },
  { place: "openapi", text: "resources: [a.yaml]\nopenapi: {path: PATH}\n" },
  { place: "patches", text: "resources: [a.yaml]\npatches: [{path: PATH, target: {kind: ConfigMap}}]\n" },
  { place: "patchesStrategicMerge", text: "resources: [a.yaml]\npatchesStrategicMerge: [PATH]\n" },
  {
    place: "patchesJson6902",
    text: "resources: [a.yaml]\npatchesJson6902: [{path: PATH, target: {version: v1, kind: ConfigMap, name: harmless}}]\n",
  },
  { place: "replacements", text: "resources: [a.yaml]\nreplacements: [{path: PATH}]\n" },
  { place: "configMapGenerator.files", text: `${noHash}configMapGenerator: [{name: leak, files: [k=PATH]}]\n` },
  {
    place: "configMapGenerator.file\u017f",
    text: `${noHash}configMapGenerator: [{name: leak, file\u017f: [k=PATH]}]\n`,
  },
  { place: "configMapGenerator.envs", text: `${noHash}configMapGenerator: [{name: leak, envs: [PATH]}]\n` },
  { place: "configMapGenerator.env\u017f", text: `${noHash}configMapGenerator: [{name: leak, env\u017f: [PATH]}]\n` },
  { place: "configMapGenerator.env", text: `${noHash}configMapGenerator: [{name: leak, env: PATH}]\n` },
  { place: "secretGenerator.files", text: `${noHash}secretGenerator: [{name: leak, files: [k=PATH]}]\n` },
  { place: "secretGenerator.envs", text: `${noHash}secretGenerator: [{name: leak, envs: [PATH]}]\n` },
  { place: "generators", text: "generators: [PATH]\n" },
  { place: "transformers", text: "resources: [a.yaml]\ntransformers: [PATH]\n" },
  { place: "validators", text: "resources: [a.yaml]\nvalidators: [PATH]\n" },
  { place: "helmCharts.valuesFile", text: "helmCharts: [{name: x, repo: 'https://127.0.0.1:1', valuesFile: PATH}]\n" },
  { place: "helmGlobals.chartHome", text: "helmGlobals: {chartHome: PATH}\nhelmCharts: [{name: x}]\n" },
  {
    place: "an inline generator's files",
    text: "generators:\n- |\n  apiVersion: builtin\n  kind: ConfigMapGenerator\n  metadata: {name: leak}\n  files: [k=PATH]\n  options: {disableNameSuffixHash: true}\n",
  },
  {
    place: "an inline generator's file\u017f",
    text: "generators:\n- |\n  apiVersion: builtin\n  kind: ConfigMapGenerator\n  metadata: {name: leak}\n  file\u017f: [k=PATH]\n  options: {disableNameSuffixHash: true}\n",
  },
  {
    place: "an inline generator after a bare carriage return",
    text: 'generators: ["# harmless\\rapiVersion: builtin\\rkind: ConfigMapGenerator\\rmetadata: {name: leak}\\renvs: [PATH]\\r"]\n',
  },
  {
    place: "an inline patch transformer",
    text: "resources: [a.yaml]\ntransformers: ['{apiVersion: builtin, kind: PatchTransformer, metadata: {name: x}, path: PATH}']\n",
  },
  {
    place: "an inline chart",
    text: "generators: ['{apiVersion: builtin, kind: HelmChartInflationGenerator, metadata: {name: x}, name: x, valuesFile: PATH}']\n",
  },
];

/** Spellings by which a judge of words and an engine that reads them have come to different paths. */
function spellings(file: string): readonly { readonly spelling: string; readonly path: string }[] {
  const up = `../../../../../../../../..${file}`;
  return [
    { spelling: "a path with many ups", path: up },
    { spelling: "a space behind it", path: `"${file} "` },
    { spelling: "a space before it", path: `" ${up}"` },
    { spelling: "a no-break space before it", path: `"\u00a0${file}"` },
    { spelling: "a brace in it", path: `"{/../../../../../../../../..${file}"` },
    { spelling: "a line feed in it", path: `"x\\n/../../../../../../../../..${file}"` },
    { spelling: "a carriage return in it", path: `"x\\r/../../../../../../../../..${file}"` },
    { spelling: "a NUL in it", path: `"${file}\\0"` },
    { spelling: "a scheme", path: `"file://${file}"` },
    { spelling: "doubled slashes", path: `"/${file.replaceAll("/", "//")}"` },
  ];
}

/** At least a hundred tries, each with a name of its own. */
export function escapeTries({ file, pid, url }: Targets): readonly EscapeTry[] {
  const inPlace = (text: string, path: string): Files => ({
    "kustomization.yaml": text.replaceAll("PATH", path),
    "a.yaml": configMap,
  });
  const everywhere = places.flatMap(({ place, text }) => [
    { name: `${place}: an absolute path`, files: inPlace(text, file) },
    { name: `${place}: the environment of Sluice`, files: inPlace(text, `/proc/${pid}/environ`) },
    { name: `${place}: a URL`, files: inPlace(text, `${url}/canary`) },
  ]);
  const spelled = ["configMapGenerator.files", "resources", "patchesStrategicMerge"].flatMap((wanted) =>
    places
      .filter(({ place }) => place === wanted)
      .flatMap(({ place, text }) =>
        spellings(file).map(({ spelling, path }) => ({
          name: `${place}: ${spelling}`,
          files: inPlace(text.replace("k=PATH", "PATH"), path),
        })),
      ),
  );
  return [
    ...everywhere,
    ...spelled,
    ...bySpec(file, url),
    ...byFolders(file),
    ...byRemoteBase(url),
    ...byProgram(file),
  ];
}

/** What the Kustomization itself brings, which no artifact has to hold. */
function bySpec(file: string, url: string): readonly EscapeTry[] {
  const files = { "a.yaml": configMap };
  const withFile = { ...files, "kustomization.yaml": "resources: [a.yaml]\n" };
  const patch = (text: string): JsonObject => ({ patches: [{ patch: text, target: { kind: "ConfigMap" } }] });
  return [
    { name: "spec.patches: a path in place of a patch", files, spec: patch(file) },
    { name: "spec.patches: a path in place of a patch, beside a kustomization", files: withFile, spec: patch(file) },
    { name: "spec.patches: a URL in place of a patch", files, spec: patch(`${url}/canary`) },
    { name: "spec.components: an absolute path", files, spec: { components: [file] } },
    { name: "spec.components: a path with many ups", files, spec: { components: [`../../../../../../..${file}`] } },
    { name: "spec.components: a URL", files, spec: { components: [`${url}/canary`] } },
    { name: "spec.components: a space before a URL", files, spec: { components: [` ${url}/canary`] } },
    { name: "spec.components: a repository without a scheme", files, spec: { components: ["127.0.0.1/x.git"] } },
    { name: "spec.path: many ups", files, spec: { path: `../../../../../..${file}` } },
    { name: "spec.path: an absolute path", files, spec: { path: file } },
    { name: "spec.images: a name with a path", files, spec: { images: [{ name: file, newName: file }] } },
    { name: "spec.namePrefix: a path", files, spec: { namePrefix: `../../..${file}/` } },
  ];
}

/** A folder in between names what the top does not. */
function byFolders(file: string): readonly EscapeTry[] {
  const leaking = `${noHash}configMapGenerator: [{name: leak, files: [k=${file}]}]\n`;
  return [
    { name: "a base that leaks", files: { "kustomization.yaml": "resources: [b]\n", "b/kustomization.yaml": leaking } },
    {
      name: "a base that leaks, found in a folder without a kustomization file",
      files: { "a.yaml": configMap, "b/kustomization.yaml": leaking },
    },
    {
      name: "a component that leaks",
      files: { "kustomization.yaml": "components: [c]\n", "c/kustomization.yaml": `${component}${leaking}` },
    },
    {
      name: "a component of the spec that leaks",
      files: { "d/a.yaml": configMap, "c/kustomization.yaml": `${component}${leaking}` },
      spec: { path: "d", components: ["../c"] },
    },
    {
      name: "a folder whose name ends in a space",
      files: { "kustomization.yaml": 'resources: ["sub "]\n', "sub /kustomization.yaml": leaking },
    },
    {
      name: "a folder whose name begins with a no-break space",
      files: { "kustomization.yaml": 'resources: ["\u00a0sub"]\n', "\u00a0sub/kustomization.yaml": leaking },
    },
    {
      name: "a generator in a folder of its own",
      files: {
        "kustomization.yaml": "generators: [g]\n",
        "g/kustomization.yaml": "resources: [g.yaml]\n",
        "g/g.yaml": `apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata:\n  name: leak\nfiles: [k=${file}]\n`,
      },
    },
    {
      name: "a generator that a patch turns",
      files: {
        "kustomization.yaml": "generators: [g]\n",
        "g/kustomization.yaml": `resources: [g.yaml]\npatches: [{patch: '[{op: add, path: /envs, value: ["${file}"]}]', target: {kind: ConfigMapGenerator}}]\n`,
        "g/g.yaml": "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata:\n  name: leak\n",
      },
    },
    {
      name: "two kustomization files, of which kustomize refuses one",
      files: { "kustomization.yaml": "", Kustomization: leaking },
    },
    {
      name: "an alias that holds the path",
      files: {
        "kustomization.yaml": `namePrefix: &p "x"\nconfigMapGenerator: [{name: leak, files: [&f "k=${file}", *f]}]\n`,
      },
    },
    {
      name: "a merge key that holds the path",
      files: { "kustomization.yaml": `x: &x {files: [k=${file}]}\nconfigMapGenerator: [{<<: *x, name: leak}]\n` },
    },
    { name: "a field given twice", files: { "kustomization.yaml": `resources: []\nresources: [${file}]\n` } },
    { name: "a second document", files: { "kustomization.yaml": `resources: []\n---\nresources: [${file}]\n` } },
  ];
}

function byRemoteBase(url: string): readonly EscapeTry[] {
  const { host } = new URL(url);
  return [
    `${url}/x.git`,
    `git::${url}/x`,
    `git::ssh://${host}/x`,
    `git@127.0.0.1:x/y`,
    `ssh://git@${host}/x/y`,
    `${host}/x/y.git?ref=main`,
    `${host}/x/y//sub?ref=main`,
    `github.com/x/y//sub?ref=main&timeout=1s`,
    `oci://${host}/x/y`,
    `https://${host}/x/y?submodules=0`,
    "http://169.254.169.254/latest/meta-data/",
    "http://127.0.0.1:9001/2018-06-01/runtime/invocation/next",
  ].map((base) => ({
    name: `a remote base: ${base.replace(host, "HOST")}`,
    files: { "kustomization.yaml": `resources: ["${base}"]\n` },
  }));
}

/** Plugins that would run a program. */
function byProgram(file: string): readonly EscapeTry[] {
  const annotated = (annotation: string): string =>
    `generators:\n- |\n  apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: leak\n    annotations:\n      ${annotation}\n`;
  const shell = `{exec: {path: /bin/sh, args: ["-c", "cat ${file}"]}}`;
  return [
    {
      name: "an exec function",
      files: { "kustomization.yaml": annotated(`config.kubernetes.io/function: '${shell}'`) },
    },
    {
      name: "an exec function by its other name",
      files: { "kustomization.yaml": annotated(`config.k8s.io/function: '${shell}'`) },
    },
    {
      name: "an exec function in the artifact",
      files: {
        "kustomization.yaml": annotated("config.kubernetes.io/function: '{exec: {path: ./run.sh}}'"),
        "run.sh": `#!/bin/sh\ncat ${file}\n`,
      },
    },
    {
      name: "a container function with a mount",
      files: {
        "kustomization.yaml": annotated(
          `config.kubernetes.io/function: '{container: {image: x, mounts: [{type: bind, src: ${file}, dst: /x}]}}'`,
        ),
      },
    },
    {
      name: "a Starlark function",
      files: {
        "kustomization.yaml": annotated(`config.kubernetes.io/function: '{starlark: {path: ${file}, name: x}}'`),
      },
    },
    {
      name: "a Go plugin",
      files: {
        "kustomization.yaml": "generators: [g.yaml]\n",
        "g.yaml": "apiVersion: someteam.example.com/v1\nkind: Leak\nmetadata:\n  name: x\n",
      },
    },
    {
      name: "a chart",
      files: {
        "kustomization.yaml": "helmCharts: [{name: x, releaseName: x}]\n",
        "charts/x/Chart.yaml": "apiVersion: v2\nname: x\nversion: 1.0.0\n",
      },
    },
  ];
}
