import { gzipSync } from "node:zlib";
import { JsonText } from "../../../lib/cel/cel.ts";
import { celLimits, celModule, wasmCel } from "../../../lib/cel/wasm-cel.ts";
import { messageOf } from "../../../lib/core/failure.ts";
import { maxJsonParts } from "../../../lib/core/json-text.ts";
import type { RenderInput } from "../../../lib/core/ports/helm-engine.ts";
import { noTenant } from "../../../lib/core/tenant.ts";
import { kustomizeModule, wasmEngine } from "../../../lib/engine/wasm-engine.ts";
import { helmModule, wasmHelm } from "../../../lib/engine/wasm-helm.ts";
import { renderLimits } from "../../../lib/flows/helm-release/actions/render.ts";
import { maxRecordBytes, secretReleaseStore } from "../../../lib/helm/secret-release-store.ts";
import { type MessageOf, templateText } from "../../../lib/image/commit-message.ts";
import { engineLimits } from "../../../lib/manifests/build/build-by-engine.ts";
import { defaultArchiveLimits } from "../../../lib/sources/archive/unpack.ts";
import { noCluster } from "../../doubles/no-cluster.ts";
import { noHelm } from "../../doubles/no-helm.ts";
import { inGateOrDeep } from "../../size.ts";
import { packed } from "../../unit/sources/helm/charts.ts";
import type { WorstInput } from "../worst-input.ts";

const signal = new AbortController().signal;
const options = { threads: 1, idleMs: 60_000 };
/** What the thread of a module may take beside the process: its memory, and what is read and written. */
const [celMiB, kustomizeMiB] = [500, 1_200];

function evaluating(name: string, expression: string, value: () => JsonText): WorstInput {
  return {
    reader: "lib/cel/wasm-cel.ts",
    name,
    memoryMiB: celMiB,
    make: async () => {
      const cel = wasmCel({ ...options, file: celModule });
      const program = await cel.compileValue(expression, ["v"], signal);
      const v = value();
      return () => program.evaluate({ v }, signal).catch(messageOf);
    },
  };
}

/** A text of about this many bytes that repeats a part. */
function list(part: string, bytes: number): JsonText {
  return new JsonText(`{"a":[${`${part},`.repeat(Math.floor((bytes - 20) / (part.length + 1)))}${part}]}`);
}

function building(name: string, tree: () => ReadonlyMap<string, Uint8Array>): WorstInput {
  return {
    reader: "lib/engine/wasm-engine.ts",
    name,
    memoryMiB: kustomizeMiB,
    make: async () => {
      const engine = wasmEngine({ ...options, file: kustomizeModule });
      const small = { files: new Map([["a.yaml", Buffer.from("")]]), folders: new Set([""]) };
      // The module is loaded once in the life of a process.
      await engine.build({ tree: small, folder: "", spec: {} }, engineLimits, signal).catch(messageOf);
      const input = { tree: { files: tree(), folders: new Set(["", "d"]) }, folder: "", spec: {} };
      return () => engine.build(input, engineLimits, signal).catch(messageOf);
    },
  };
}

/** A chart with this template, rendered with these inline values. */
function rendering(name: string, template: string, values = ""): WorstInput {
  return {
    reader: "lib/engine/wasm-helm.ts",
    name,
    memoryMiB: kustomizeMiB,
    make: async () => {
      const helm = wasmHelm({ ...options, file: helmModule });
      const chart = await packed({
        "Chart.yaml": "apiVersion: v2\nname: app\nversion: 1.0.0\n",
        "templates/a.yaml": template,
      });
      const common = { tenant: noTenant, chart, versionSuffix: "" };
      const input: RenderInput = {
        ...common,
        values: { from: values === "" ? [] : [{ text: values }], inline: {} },
        release: { name: "app", namespace: "apps", revision: 1 },
        action: "install",
        postRender: { renderers: [], originLabels: {}, strategy: "combined" },
        ...{ kubeVersion: "v1.35.4", apiVersions: ["v1"], skipsSchemaValidation: false },
      };
      // The module is loaded once in the life of a process.
      await helm.prepare({ ...common, values: { from: [], inline: {} } }, renderLimits, signal);
      return () => helm.render(input, async () => undefined, renderLimits, signal).catch(messageOf);
    },
  };
}

/** A template of a commit message, with as many changes as are given. */
function writing(name: string, template: string, files = 1): WorstInput {
  return {
    reader: "lib/engine/wasm-helm.ts",
    name,
    memoryMiB: kustomizeMiB,
    make: async () => {
      const helm = wasmHelm({ ...options, file: helmModule });
      const object = { apiVersion: "v1", kind: "Pod", namespace: "apps", name: "web" };
      const change = { oldValue: "web:1", newValue: "web:2", setter: "apps:web" };
      const changes = Array.from({ length: files }, (_, at) => ({
        path: `${at}.yaml`,
        objects: [{ object, changes: [{ ...change, oldValue: `web:${at}` }] }],
      }));
      const of: MessageOf = { cluster: "", automation: { namespace: "apps", name: "a" }, values: {}, changes };
      // The module is loaded once in the life of a process.
      await templateText("{{ .AutomationObject }}", { ...of, changes: [] }, helm, signal);
      return () => templateText(template, of, helm, signal).catch(messageOf);
    },
  };
}

/** A Secret of a release whose record inflates to this many bytes. */
function readingRelease(name: string, bytes: number): WorstInput {
  return {
    reader: "lib/helm/secret-release-store.ts",
    name,
    memoryMiB: kustomizeMiB,
    make: async () => {
      const release = Buffer.from(gzipSync(Buffer.alloc(bytes)).toString("base64")).toString("base64");
      const metadata = { name: "a", namespace: "apps", uid: "u", labels: { version: "1" } };
      const secret = { apiVersion: "v1", kind: "Secret", metadata, type: "helm.sh/release.v1", data: { release } };
      const cluster = { ...noCluster, get: async () => secret };
      const deps = { cluster, helm: noHelm, clock: { now: () => 0 }, tenant: noTenant };
      const store = secretReleaseStore({ name: "a", storageNamespace: "apps" }, deps);
      return () => store.read(1, "", signal).catch(messageOf);
    },
  };
}

/** With the manifest around it, more than is read of what a chart renders. */
const tooMuchOutput = inGateOrDeep(renderLimits.maxOutputBytes, 100_000_000);
const bigConfigMap = (text: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: "${text}"}\n`;
/** Each level is ten of the one before. */
const aliasBomb = Array.from({ length: 9 }, (_, level) =>
  level === 0
    ? "l0: &l0 [x, x, x, x, x, x, x, x, x, x]"
    : `l${level}: &l${level} [${Array(10)
        .fill(`*l${level - 1}`)
        .join(", ")}]`,
).join("\n");

const kustomization = (text: string): [string, Uint8Array] => ["kustomization.yaml", Buffer.from(text)];

/** What is handed to kustomize and CEL, and what they answer. */
export const engineReaders: readonly WorstInput[] = [
  evaluating("values of 16 MiB", "size(v)", () => list("{}", celLimits.maxInputBytes)),
  evaluating("a result of 600,000 lists and commas", `[${"v,".repeat(29)}v]`, () => list("{}", 30_000)),
  evaluating("as many lists and commas in a result as are read", `[${"v,".repeat(9)}v]`, () =>
    list("[]", 3 * (maxJsonParts / 20) - 300),
  ),
  rendering("a template of too much output", bigConfigMap(`{{ repeat ${tooMuchOutput} "x" }}`)),
  rendering("a template of 20 MB of output", bigConfigMap('{{ repeat 6000000 "x" }}')),
  rendering("a template that includes itself", '{{ define "x" }}{{ include "x" . }}{{ end }}{{ include "x" . }}'),
  rendering("values of aliases that expand", bigConfigMap("{{ .Values.l0 }}"), aliasBomb),
  writing("a message that repeats itself", '{{ len (repeat 100000000 "x") }}{{ repeat 100000000 "x" }}'),
  writing("a message that calls itself", '{{ define "x" }}{{ template "x" . }}{{ end }}{{ template "x" . }}'),
  writing("a message of 20,000 changes", "{{ range .Changed.Changes }}{{ .OldValue }}{{ end }}", 20_000),
  readingRelease("a record that inflates to 1 GiB", 1024 * 1024 * 1024),
  readingRelease("a record of the greatest size", maxRecordBytes),
  building("an artifact of 150 MiB in 100,000 files", () => {
    const count = defaultArchiveLimits.maxEntries - 10;
    const content = Buffer.alloc(Math.floor((150 * 1024 * 1024) / count), "a");
    const files = Array.from({ length: count }, (_, at): [string, Uint8Array] => [`d/${at}`, content]);
    return new Map([...files, kustomization("resources: []")]);
  }),
];
