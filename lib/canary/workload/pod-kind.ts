import type { JsonObject } from "../../core/json.ts";
import type { LiveObject } from "../../core/manifest.ts";
import type { Canary } from "../canary.ts";
import type { StepDeps } from "../canary-deps.ts";
import type { NamedKind, StepObjects } from "./step-objects.ts";
import type { Readiness, Workload } from "./workload.ts";

/** One step of one Canary. */
export interface WorkloadStep {
  readonly canary: Canary;
  readonly deps: StepDeps;
  readonly objects: StepObjects;
}

/** The inputs of readiness: thresholds and deadline of the Canary, and the time. */
export interface ReadinessTime {
  readonly canary: Canary;
  readonly clock: StepDeps["clock"];
}

/** Which of the two workloads of a Canary. */
export type Role = "primary" | "canary";

/** How many pods the primary had, as far as it is known: from the target, its autoscaler, or the last `kubectl apply` to it. */
export interface ProductionReplicas {
  readonly count: number;
  /** The number is unknown. */
  readonly isGuess: boolean;
}

/** How one kind of workload differs from the other: a Deployment, a DaemonSet. */
export interface PodKind extends NamedKind {
  /** Ends Flagger's message about a selector without a known label. */
  readonly closing: string;
  /** Flagger's word for creating a primary. */
  readonly creation: string;
  /** Fields of `spec` that the primary has from the target, besides the template. */
  readonly copiedFields: readonly string[];
  /** Throws a `StepFault` for a target from which no primary can be made. */
  check(target: LiveObject): void;
  /** The replicas of the primary; undefined where it keeps what it has. */
  replicas(target: LiveObject, role: { readonly isNew: boolean }, canary: Canary): number | undefined;
  /** The pod spec of the primary, before its configs are renamed. */
  primaryPodSpec(podSpec: JsonObject, target: string, selectorLabels: readonly string[]): JsonObject;
  /** How many pods a recreated primary needs; undefined if that is not a number. */
  productionReplicas(target: LiveObject, step: WorkloadStep): Promise<ProductionReplicas | undefined>;
  /** The objects that store earlier templates of a target: ReplicaSets or ControllerRevisions. */
  readonly revisions: NamedKind & { templateOf(revision: LiveObject): JsonObject };
  /** The template as Flagger hashes it. */
  hashed(template: JsonObject): JsonObject;
  readiness(live: LiveObject, role: Role, at: ReadinessTime): Readiness;
  scaling(step: WorkloadStep): Required<Pick<Workload, "isAtZero" | "scaleToZero" | "scaleFromZero" | "finalize">>;
}
