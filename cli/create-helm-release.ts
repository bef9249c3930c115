import { readFile } from "node:fs/promises";
import { declaredHelmChart } from "../lib/api/kinds/helm-chart.ts";
import { declaredHelmRelease } from "../lib/api/kinds/helm-release.ts";
import { declaredOciRepository } from "../lib/api/kinds/oci-repository.ts";
import type { JsonObject } from "../lib/core/json.ts";
import { applyAndWait, type CreatedOptions, objectOf, printOrApply } from "./create-object.ts";
import { checkName, withoutUndefined } from "./created-object.ts";
import { durationOf } from "./duration-option.ts";
import { dependencyOf, knownKind, readReference, splitKind } from "./object-reference.ts";
import { doneText } from "./reconcile-object.ts";
import type { Surroundings } from "./session.ts";

interface HelmReleaseOptions extends CreatedOptions {
  readonly interval: string;
  readonly releaseName?: string;
  readonly source?: string;
  readonly chart?: string;
  readonly chartVersion?: string;
  readonly chartRef?: string;
  readonly chartInterval?: string;
  readonly dependsOn?: readonly string[];
  readonly targetNamespace?: string;
  readonly storageNamespace?: string;
  readonly createTargetNamespace?: boolean;
  readonly serviceAccount?: string;
  readonly reconcileStrategy: string;
  readonly values?: readonly string[];
  readonly valuesFrom?: readonly string[];
  readonly crds?: string;
  readonly kubeconfigSecretRef?: string;
}

/** `create helmrelease`: a HelmRelease, and waits until its release is installed or upgraded. */
export async function createHelmRelease(
  name: string | undefined,
  options: HelmReleaseOptions,
  surroundings: Surroundings,
): Promise<void> {
  checkName(name);
  const manifestIn = objectOf(declaredHelmRelease, name, await specOf(options), options);
  await printOrApply(manifestIn, options, surroundings, async (manifest, session) => {
    const { terminal } = session;
    terminal.generating("generating HelmRelease");
    const done = doneText(declaredHelmRelease, await applyAndWait(manifest, { thing: "HelmRelease" }, session));
    terminal.success(`HelmRelease ${name} is ready`);
    terminal.success(done);
  });
}

async function specOf(options: HelmReleaseOptions): Promise<JsonObject> {
  const { createTargetNamespace, crds, dependsOn, serviceAccount, targetNamespace } = options;
  const createNamespace = createTargetNamespace === true ? true : undefined;
  // An install gets only Create from a policy of flux: there is nothing to replace.
  const install = withoutUndefined({ createNamespace, crds: crds === undefined ? undefined : "Create" });
  return withoutUndefined({
    ...chartOf(options),
    interval: durationOf(options.interval, "--interval"),
    releaseName: options.releaseName,
    targetNamespace,
    storageNamespace: options.storageNamespace ?? targetNamespace,
    dependsOn: dependsOn?.map(dependencyOf),
    serviceAccountName: serviceAccount,
    kubeConfig:
      options.kubeconfigSecretRef === undefined ? undefined : { secretRef: { name: options.kubeconfigSecretRef } },
    install: Object.keys(install).length === 0 ? undefined : install,
    upgrade: crds === undefined ? undefined : { crds },
    valuesFrom: options.valuesFrom?.map(valuesReferenceOf),
    values: options.values === undefined ? undefined : await readValues(options.values),
  });
}

/** `chart` or `chartRef` of the spec. */
function chartOf({ chart, chartInterval, chartRef, ...options }: HelmReleaseOptions): JsonObject {
  if (chart === undefined && chartRef === undefined) throw new Error("chart or chart-ref is required");
  if (chart !== undefined && chartRef !== undefined)
    throw new Error("cannot use --chart in combination with --chart-ref");
  if (chart === undefined) return { chartRef: chartReferenceOf(chartRef ?? "") };
  // flux makes an object without it, which its API server refuses.
  if (options.source === undefined) throw new Error("source is required with --chart");
  const spec = withoutUndefined({
    chart,
    version: options.chartVersion,
    sourceRef: sourceReferenceOf(options.source),
    reconcileStrategy: options.reconcileStrategy,
    interval: chartInterval === undefined ? undefined : durationOf(chartInterval, "--chart-interval"),
  });
  return { chart: { spec } };
}

const chartSources = ["HelmRepository", "GitRepository", "Bucket"];
const chartKinds: readonly string[] = [declaredOciRepository.kind, declaredHelmChart.kind];
const valuesKinds = ["Secret", "ConfigMap"];

function sourceReferenceOf(text: string): JsonObject {
  const { kind, ...rest } = readReference(text);
  if (kind === "" || rest.name === "")
    throw new Error(`invalid helm chart source '${text}', must be in format <kind>/<name>`);
  return { kind: knownKind(kind, chartSources, "source kind"), ...rest };
}

function chartReferenceOf(text: string): JsonObject {
  const { kind, ...rest } = readReference(text);
  if (!chartKinds.includes(kind)) {
    throw new Error(`chart reference kind '${kind}' is not supported, must be one of: ${chartKinds.join(", ")}`);
  }
  return { kind, ...rest };
}

function valuesReferenceOf(text: string): JsonObject {
  const { kind, rest } = splitKind(text);
  if (kind === "") throw new Error(`invalid Kubernetes object reference '${text}', must be in format <kind>/<name>`);
  return { kind: knownKind(kind, valuesKinds, "reference kind"), name: rest };
}

/** The values files, later ones winning. */
async function readValues(files: readonly string[]): Promise<JsonObject> {
  const [{ chartYamlMap }, { mergeMaps }] = await Promise.all([
    import("../lib/sources/helm/chart-yaml.ts"),
    import("../lib/sources/helm/merge-values.ts"),
  ]);
  let values: JsonObject = {};
  for (const file of files) {
    const bytes = await readFile(file).catch((error: unknown) => {
      throw new Error(`reading values from ${file} failed: the file cannot be read`, { cause: error });
    });
    try {
      values = mergeMaps(values, chartYamlMap(bytes));
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new Error(`converting values to JSON from ${file} failed: ${error.message}`, { cause: error });
    }
  }
  return values;
}
