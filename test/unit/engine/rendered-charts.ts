import type { EngineLimits } from "../../../lib/core/ports/engine.ts";
import type { Lookup, RenderInput, ValuesText } from "../../../lib/core/ports/helm-engine.ts";
import { noTenant } from "../../../lib/core/tenant.ts";
import { helmModule, wasmHelm } from "../../../lib/engine/wasm-helm.ts";
import { type Files, packed } from "../sources/helm/charts.ts";

export const forever = new AbortController().signal;

export const limits: EngineLimits = { maxCpuMs: 60_000, maxWallMs: 120_000, maxOutputBytes: 64 * 1024 * 1024 };

/** One for all tests of a file, which closes it: whatever becomes of a request, the next one works. */
export function oneHelm(): ReturnType<typeof wasmHelm> {
  return wasmHelm({ file: helmModule, threads: 1, idleMs: 60_000 });
}

/** Finds no object. */
export const nothing: Lookup = async () => undefined;

/** Of each chart that brings none. */
export const chartYaml = 'apiVersion: v2\nname: app\nversion: 1.0.0\nappVersion: "1.0"\n';

export const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\n";

/** What is rendered: these files as a chart, with its Chart.yaml, and these values. */
export async function inputOf(
  files: Files,
  { inline = {}, from = [], ...more }: Partial<RenderInput> & { inline?: object; from?: readonly ValuesText[] } = {},
): Promise<RenderInput> {
  return {
    tenant: noTenant,
    chart: await packed({ "Chart.yaml": chartYaml, ...files }),
    versionSuffix: "",
    values: { from, inline: { ...inline } },
    release: { name: "app", namespace: "retail", revision: 1 },
    action: "install",
    postRender: {
      renderers: [],
      originLabels: { "helm.toolkit.fluxcd.io/name": "app", "helm.toolkit.fluxcd.io/namespace": "retail" },
      strategy: "combined",
    },
    kubeVersion: "v1.35.4",
    apiVersions: ["v1", "apps/v1", "apps/v1/Deployment"],
    skipsSchemaValidation: false,
    ...more,
  };
}

/** Renders {@link inputOf}. */
export function rendering(helm: Pick<ReturnType<typeof wasmHelm>, "render">) {
  return async (files: Files, more: Parameters<typeof inputOf>[1] = {}, lookup: Lookup = nothing) =>
    helm.render(await inputOf(files, more), lookup, limits, forever);
}
