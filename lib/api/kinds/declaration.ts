import type { z } from "zod";
import type { ObjectRef } from "../../core/object-ref.ts";

/**
 * The declaration of a kind that Sluice reconciles, once for all its users: watch and sweep, definitions, status and events, command line.
 * Plain data, so that all of them load it fast; `Kind` in `lib/flows` adds the flow.
 */
export interface KindDeclaration {
  readonly group: string;
  readonly kind: string;
  /** In lower case, as in URLs. */
  readonly plural: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly description: string;
  /** Every version that Flux has ever served, all with one schema. The first is stored, and our flow reads it. */
  readonly versions: readonly [string, ...string[]];
  /** The columns of `kubectl get`. */
  readonly columns: readonly Column[];
  /** Loaded on demand: they need a parser, and the command line works without it. */
  readonly schemas: () => Promise<KindSchemas>;
  /** The field manager with which the flow writes to its own object: finalizer, conditions, status. */
  readonly statusManager: string;
  /** The Flux controller that users expect as the reporter of the object's events. */
  readonly eventSource: string;
  /** Whether objects of other kinds take their content from it. */
  readonly isSource: boolean;
  /**
   * Paths of references to the source that an object takes its content from; an object uses one of them. Absent if the kind takes content
   * from no source.
   */
  readonly sourceRefs?: readonly (readonly string[])[];
  /** The annotation that pauses an object, with this value in any case; absent: `spec.suspend` does. */
  readonly pausedBy?: { readonly annotation: string; readonly value: string };
  /** Annotations that trigger a run when they change, even though the spec does not. */
  readonly followedAnnotations?: readonly [string, ...string[]];
  /**
   * The condition that reports the state of an object, if that is not `Ready`. Such a kind's status differs from Flux's: it does not show
   * its generation and request.
   */
  readonly readyCondition?: string;
  readonly words: KindWords;
  /** Whether the kind has no status: its definition has none, and a run shows nothing. */
  readonly isStatusless?: boolean;
  /** Whether an object runs too if our finalizer was added to it or removed from it. */
  readonly isFinalizerFollowed?: boolean;
  /** Whether objects of other kinds use its spec, and run when it is new or gone. */
  readonly isSpecFollowed?: boolean;
  /**
   * Whether an object with this spec is never reconciled, so that a command need not wait for it. Absent for a kind without such objects.
   */
  readonly isStatic?: (spec: unknown) => boolean;
  /** What the command line prints for a static object, which has no conditions. */
  readonly staticMessage?: string;
}

export interface KindSchemas {
  readonly spec: z.ZodType;
  /** Absent for a kind without status. */
  readonly status?: z.ZodType;
}

/** A column of a table that `kubectl get` shows. */
export interface Column {
  readonly name: string;
  readonly type: "boolean" | "date" | "integer" | "string";
  readonly jsonPath: string;
  /** 1: only in the wide table. */
  readonly priority?: 1;
}

/** How the command line names a kind and its objects, in flux's words. */
export interface KindWords {
  /** The word that stands before both, where it is not `source`: `artifact` in `get artifact generators`, `image` in `get image policy`. */
  readonly parent?: "artifact" | "image";
  /** The subcommand for one object, `kustomization` in `reconcile kustomization`. The words for sources follow `source`. */
  readonly one: string;
  /** The subcommand for many, `kustomizations` in `get kustomizations`. */
  readonly many: string;
  /** Further names of both. */
  readonly aliases: readonly string[];
  /** The plural in descriptions: `OCIRepositories`. */
  readonly plural: string;
  /** Path of the object's revision; a number is an index in a list. */
  readonly revision: readonly string[];
  /** Where the revision is if there is none at that path. */
  readonly revisionElse?: readonly string[];
  /** The verb for a successful run with that revision: `applied`. */
  readonly done: string;
  /** The columns of `get` between name and readiness, where they are not both. */
  readonly shown?: readonly ShownColumn[];
  /** The name of an object in progress lines, if it differs from the subcommand: `image update automation`. */
  readonly called?: string;
}

/** A column of `get`: one that most kinds have, or the text at a path of the object. */
export type ShownColumn =
  | "revision"
  | "suspended"
  | "source"
  | {
      readonly title: string;
      readonly path: readonly string[];
      /** Whether only `-o wide` shows it. */
      readonly isWide?: boolean;
    };

export const ageColumn: Column = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };
export const readyColumn: Column = {
  name: "Ready",
  type: "string",
  jsonPath: '.status.conditions[?(@.type=="Ready")].status',
};
export const statusColumn: Column = {
  name: "Status",
  type: "string",
  jsonPath: '.status.conditions[?(@.type=="Ready")].message',
};

/** The type of the condition that says how an object of the kind is doing. */
export function readyConditionOf({ readyCondition = "Ready" }: Pick<KindDeclaration, "readyCondition">): string {
  return readyCondition;
}

/** Whether the status of an object shows its generation and request, as with Flux. */
export function hasFluxStatus({
  isStatusless,
  readyCondition,
}: Pick<KindDeclaration, "isStatusless" | "readyCondition">): boolean {
  return isStatusless !== true && readyCondition === undefined;
}

/** A kind in one version, as the API server is asked for its objects. */
export interface ServedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** The kind in the version that our flow reads. */
export function servedKind({ group, kind, versions: [version] }: KindDeclaration): ServedKind {
  return { group, version, kind };
}

/** Whether the annotations of an object pause it; false for a kind that `spec.suspend` pauses. */
export function isPausedBy(
  pausedBy: KindDeclaration["pausedBy"],
  annotations: Readonly<Record<string, string>> = {},
): boolean {
  return pausedBy !== undefined && annotations[pausedBy.annotation]?.toLowerCase() === pausedBy.value;
}

/** The kind of this object; undefined if it is not in the list. */
export function kindOf<Each extends Pick<KindDeclaration, "group" | "kind">>(
  { group, kind }: Pick<ObjectRef, "group" | "kind">,
  kinds: readonly Each[],
): Each | undefined {
  return kinds.find((each) => each.kind === kind && each.group === group);
}
