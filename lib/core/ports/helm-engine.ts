import type { JsonObject } from "../json.ts";
import type { Manifest } from "../manifest.ts";
import type { Tenant } from "../tenant.ts";
import type { EngineLimits } from "./engine.ts";
import { PortError } from "./port-error.ts";

/** The text of one key of a ConfigMap or Secret, for one entry of `spec.valuesFrom`. */
export interface ValuesText {
  readonly text: string;
  /** Where the text is set, in the grammar of `helm --set`; undefined: it is YAML and merged at the root. */
  readonly targetPath?: string | undefined;
  /** Whether the text is set verbatim. */
  readonly isLiteral?: boolean;
}

/** The values of a release as they are composed: first the references in their order, then the inline values. */
export interface ValuesToCompose {
  readonly from: readonly ValuesText[];
  readonly inline: JsonObject;
}

export interface ChartMetadata {
  readonly name: string;
  /** With {@link ChartInput.versionSuffix}. */
  readonly version: string;
  readonly appVersion?: string;
}

interface ChartInput {
  /** Its turns and limits count for this tenant. */
  readonly tenant: Tenant;
  /** A packaged chart: gzipped tar. */
  readonly chart: Uint8Array;
  /** Appended to the version of Chart.yaml, for example `+4f4f4f4f4f4f`; empty if unset. */
  readonly versionSuffix: string;
  readonly values: ValuesToCompose;
}

export type PrepareInput = ChartInput;

/** A chart whose values may be merged over those of the previous release. */
export interface ChartOverFormer extends ChartInput {
  /**
   * The stored record whose values, and whose chart's values, apply if the new ones do not set them (`upgrade.preserveValues`); undefined:
   * none.
   */
  readonly former?: Uint8Array<ArrayBuffer> | undefined;
}

/** A chart and the values of its release, before anything is rendered. */
export interface Prepared {
  readonly chart: ChartMetadata;
  /** As Helm and Flux write it to `configDigest`, by sha256. */
  readonly configDigest: string;
  /** The merged values, with secrets in them: never shown as they are. */
  readonly values: JsonObject;
}

/** Flux's chain after the templates (reference helmrelease 12). */
export interface PostRender {
  /** `spec.postRenderers`, verbatim. */
  readonly renderers: readonly JsonObject[];
  readonly commonMetadata?: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly originLabels: Readonly<Record<string, string>>;
  readonly strategy: "combined" | "nohooks" | "separate";
}

export interface RenderInput extends ChartOverFormer {
  readonly release: { readonly name: string; readonly namespace: string; readonly revision: number };
  readonly action: "install" | "upgrade";
  readonly postRender: PostRender;
  /** As `/version` of the API server has it, for example `v1.35.4`. */
  readonly kubeVersion: string;
  /** Every group/version and every group/version/Kind of discovery, and `v1`. */
  readonly apiVersions: readonly string[];
  readonly skipsSchemaValidation: boolean;
}

/** One document of a rendered manifest, as Helm's own YAML reader splits it. */
export interface RenderedObject {
  readonly manifest: Manifest;
  /** `app/templates/configmap.yaml`. */
  readonly template: string;
}

export const hookEvents = [
  "post-delete",
  "post-install",
  "post-rollback",
  "post-upgrade",
  "pre-delete",
  "pre-install",
  "pre-rollback",
  "pre-upgrade",
  "test",
] as const;
export type HookEvent = (typeof hookEvents)[number];

export interface HookRun {
  /** RFC 3339 with nanoseconds; absent: it has not run. */
  readonly startedAt?: string;
  readonly completedAt?: string;
  readonly phase: "" | "Failed" | "Running" | "Succeeded" | "Unknown";
}

export interface Hook {
  readonly name: string;
  readonly kind: string;
  /** The template that it comes from. */
  readonly path: string;
  readonly manifest: Manifest;
  readonly events: readonly HookEvent[];
  readonly weight: number;
  /** As the record has them: empty means `before-hook-creation` once it runs. */
  readonly deletePolicies: readonly ("before-hook-creation" | "hook-failed" | "hook-succeeded")[];
  readonly lastRun: HookRun;
}

export type ReleaseStatus =
  | "deployed"
  | "failed"
  | "pending-install"
  | "pending-rollback"
  | "pending-upgrade"
  | "superseded"
  | "uninstalled"
  | "uninstalling"
  | "unknown";

/** A record of a release, read. The record itself stays the bytes that Helm wrote: JavaScript would change its numbers. */
export interface ObservedRelease {
  readonly name: string;
  readonly namespace: string;
  readonly version: number;
  readonly status: ReleaseStatus;
  readonly description: string;
  /** RFC 3339; empty where the record has none. */
  readonly firstDeployed: string;
  readonly lastDeployed: string;
  readonly deleted: string;
  readonly notes: string;
  readonly chart: ChartMetadata;
  /** `ssa`, or empty and `csa` for client-side apply. */
  readonly applyMethod: string;
  readonly hooks: readonly Hook[];
  /** The objects of the manifest, hooks not among them, in the manifest's order. */
  readonly objects: readonly RenderedObject[];
  readonly values: JsonObject;
  /** The digest of the values: `configDigest` of Flux's snapshot. */
  readonly configDigest: string;
  /** Flux's digest of the record, with {@link ociDigest}: `digest` of Flux's snapshot. */
  readonly digest: string;
  /** The given digest of the artifact; empty if there is none. */
  readonly ociDigest: string;
}

/** A record and what it says. */
export interface ReleaseRecord {
  /** The JSON that Helm stores, without its compression. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly observed: ObservedRelease;
}

export interface Rendered extends ReleaseRecord {
  /** The content of `crds/` in the chart and its enabled dependencies, by file, including documents that are not definitions. */
  readonly crds: readonly RenderedObject[];
}

/** The changes of a record. Undefined fields stay as they are. */
export interface RecordChange {
  readonly version?: number;
  readonly status?: ReleaseStatus;
  readonly description?: string;
  readonly firstDeployed?: string;
  readonly lastDeployed?: string;
  readonly deleted?: string;
  readonly applyMethod?: "csa" | "ssa";
  /** Runs and policies of hooks, by their place in {@link ObservedRelease.hooks}. */
  readonly hooks?: readonly {
    readonly index: number;
    readonly lastRun?: HookRun;
    readonly deletePolicies?: Hook["deletePolicies"];
  }[];
}

/**
 * Answers a template's `lookup`: an object, a list if there is no name, or undefined if nothing is found.
 *
 * @throws an error whose message the template's author sees, for example that the account may not read it
 */
export type Lookup = (
  query: { readonly apiVersion: string; readonly kind: string; readonly namespace: string; readonly name: string },
  signal: AbortSignal,
) => Promise<JsonObject | undefined>;

/**
 * Helm's own code in a sandbox that has nothing in reach but {@link Lookup}. All methods throw a {@link HelmEngineError}, or the reason
 * that `signal` was aborted with.
 */
export interface HelmEngine {
  /** Loads the chart and composes the values. */
  prepare(input: PrepareInput, limits: EngineLimits, signal: AbortSignal): Promise<Prepared>;
  /** The content of `crds/` in the chart and its enabled dependencies, as in {@link Rendered.crds}. Nothing is rendered. */
  definitions(input: ChartOverFormer, limits: EngineLimits, signal: AbortSignal): Promise<readonly RenderedObject[]>;
  /** The `configDigest` that a release of these values over those of a stored record would have (`upgrade.preserveValues`). */
  reusedDigest(
    record: Uint8Array<ArrayBuffer>,
    options: { readonly tenant: Tenant; readonly values: ValuesToCompose },
    limits: EngineLimits,
    signal: AbortSignal,
  ): Promise<string>;
  /** Renders a release: its record has status `unknown` and no times. */
  render(input: RenderInput, lookup: Lookup, limits: EngineLimits, signal: AbortSignal): Promise<Rendered>;
  /** Reads a stored record. `ociDigest`: the artifact's, as in the snapshot; empty if there is none. */
  observe(
    record: Uint8Array<ArrayBuffer>,
    options: { readonly tenant: Tenant; readonly ociDigest: string },
    limits: EngineLimits,
    signal: AbortSignal,
  ): Promise<ObservedRelease>;
  /** The record with a change, as Helm would write it. */
  amend(
    record: Uint8Array<ArrayBuffer>,
    change: RecordChange,
    options: { readonly tenant: Tenant; readonly ociDigest: string },
    limits: EngineLimits,
    signal: AbortSignal,
  ): Promise<ReleaseRecord>;
}

/**
 * `chart`: the archive is not a chart. `values`: they cannot be composed, `reference` is the place of the entry of {@link
 * ValuesToCompose.from}. `render`: a template, a schema or a post-renderer fails. `record`: it is not a release. The other reasons are
 * those of the other engine.
 */
export type HelmEngineErrorReason =
  | "broken"
  | "busy"
  | "chart"
  | "memory"
  | "output"
  | "record"
  | "render"
  | "time"
  | "unavailable"
  | "values";

/** The message is Helm's or Flux's where they have one. */
export class HelmEngineError extends PortError<HelmEngineErrorReason> {
  override readonly name = "HelmEngineError";
  readonly reference: number | undefined;

  constructor(reason: HelmEngineErrorReason, message: string, options: ErrorOptions & { reference?: number } = {}) {
    super(reason, message, options);
    this.reference = options.reference;
  }
}
