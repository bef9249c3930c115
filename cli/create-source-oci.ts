import { declaredHelmChart } from "../lib/api/kinds/helm-chart.ts";
import { declaredOciRepository } from "../lib/api/kinds/oci-repository.ts";
import type { JsonObject } from "../lib/core/json.ts";
import { applySource } from "./applied-source.ts";
import { type CreatedOptions, objectOf, printOrApply } from "./create-object.ts";
import { checkName, withoutUndefined } from "./created-object.ts";
import { durationOf } from "./duration-option.ts";
import { knownKind, splitKind } from "./object-reference.ts";
import type { Surroundings } from "./session.ts";

interface VerifyOptions {
  readonly verifyProvider?: string;
  readonly verifySecretRef?: string;
  readonly verifySubject?: string;
  readonly verifyIssuer?: string;
}

interface OciSourceOptions extends CreatedOptions, VerifyOptions {
  readonly interval: string;
  readonly fetchTimeout?: string;
  readonly provider: string;
  readonly url?: string;
  readonly tag?: string;
  readonly tagSemver?: string;
  readonly digest?: string;
  readonly secretRef?: string;
  readonly proxySecretRef?: string;
  readonly serviceAccount?: string;
  readonly certRef?: string;
  readonly ignorePaths?: readonly string[];
  readonly insecure?: boolean;
  /** `<media type>:<operation>`. */
  readonly layerSelector?: string;
}

interface ChartSourceOptions extends CreatedOptions, VerifyOptions {
  readonly interval: string;
  /** `<kind>/<name>`. */
  readonly source?: string;
  readonly chart?: string;
  readonly chartVersion?: string;
  readonly reconcileStrategy: string;
}

/** `create source oci`: an OCIRepository, and waits for its first artifact. */
export async function createSourceOci(
  name: string | undefined,
  options: OciSourceOptions,
  surroundings: Surroundings,
): Promise<void> {
  checkName(name);
  const manifestIn = objectOf(declaredOciRepository, name, ociSpec(options), options);
  await printOrApply(manifestIn, options, surroundings, (manifest, session) =>
    applySource(manifest, { thing: "OCIRepository" }, session, "no artifact was found"),
  );
}

function ociSpec(options: OciSourceOptions): JsonObject {
  const { url = "", tag, tagSemver, digest, fetchTimeout, ignorePaths } = options;
  if (url === "") throw new Error("url is required");
  const ref = withoutUndefined({ digest: given(digest), semver: given(tagSemver), tag: given(tag) });
  if (Object.keys(ref).length === 0) throw new Error("--tag, --tag-semver or --digest is required");
  return withoutUndefined({
    provider: options.provider,
    url,
    insecure: options.insecure === true ? true : undefined,
    interval: durationOf(options.interval, "--interval"),
    timeout: fetchTimeout === undefined ? undefined : durationOf(fetchTimeout, "--fetch-timeout"),
    ref,
    ignore: ignorePaths?.join("\n"),
    layerSelector: layerSelectorOf(options.layerSelector),
    serviceAccountName: given(options.serviceAccount),
    secretRef: referenceTo(options.secretRef),
    proxySecretRef: referenceTo(options.proxySecretRef),
    certSecretRef: referenceTo(options.certRef),
    verify: verifyOf(options),
  });
}

function layerSelectorOf(text = ""): JsonObject | undefined {
  if (text === "") return undefined;
  const [, mediaType = "", operation = ""] = /^([^:]*):(.*)$/s.exec(text) ?? [];
  const where = `invalid --layer-selector ${JSON.stringify(text)}`;
  if (mediaType === "" || operation === "") {
    throw new Error(`${where}: must be in the format '<media-type>:<operation>'`);
  }
  if (operation !== "extract" && operation !== "copy") {
    throw new Error(`${where}: operation must be "extract" or "copy"`);
  }
  return { mediaType, operation };
}

/** `create source chart`: a HelmChart, and waits until the chart is there. */
export async function createSourceChart(
  name: string | undefined,
  options: ChartSourceOptions,
  surroundings: Surroundings,
): Promise<void> {
  checkName(name);
  const manifestIn = objectOf(declaredHelmChart, name, chartSpec(options), options);
  await printOrApply(manifestIn, options, surroundings, async (manifest, session) => {
    session.terminal.generating("generating HelmChart source");
    await applySource(manifest, { thing: "HelmChart source", stored: "source" }, session);
  });
}

const chartSources = ["HelmRepository", "GitRepository", "Bucket"];

function chartSpec(options: ChartSourceOptions): JsonObject {
  const { source = "", chart = "" } = options;
  if (source === "") throw new Error("chart source is required");
  const { kind, rest } = splitKind(source);
  if (kind === "" || rest === "") {
    throw new Error(`invalid helm chart source '${source}', must be in format <kind>/<name>`);
  }
  const sourceRef = { kind: knownKind(kind, chartSources, "source kind"), name: rest };
  if (chart === "") throw new Error("chart name or path is required");
  return withoutUndefined({
    chart,
    version: given(options.chartVersion),
    interval: durationOf(options.interval, "--interval"),
    reconcileStrategy: options.reconcileStrategy,
    sourceRef,
    verify: verifyOf(options),
  });
}

function verifyOf({ verifyProvider, verifySecretRef, ...identity }: VerifyOptions): JsonObject | undefined {
  const match = withoutUndefined({ issuer: given(identity.verifyIssuer), subject: given(identity.verifySubject) });
  const isKeyless = Object.keys(match).length > 0;
  const missing = "a verification provider must be specified when";
  if (verifyProvider !== undefined) {
    // Both are required fields, which Go writes even if they are empty.
    const matchOIDCIdentity = isKeyless ? [{ issuer: "", subject: "", ...match }] : undefined;
    return withoutUndefined({ provider: verifyProvider, secretRef: referenceTo(verifySecretRef), matchOIDCIdentity });
  }
  if (given(verifySecretRef) !== undefined) throw new Error(`${missing} a secret is specified`);
  if (isKeyless) throw new Error(`${missing} OIDC issuer/subject is specified`);
  return undefined;
}

function given(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}

function referenceTo(name: string | undefined): JsonObject | undefined {
  return given(name) === undefined ? undefined : { name: name ?? "" };
}
