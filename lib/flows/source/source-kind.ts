import type { z } from "zod";
import type { Artifact, SourceSpec, SourceStatus } from "../../api/source.ts";
import type { Digest } from "../../core/digest.ts";
import type { Cause } from "../../core/event-relation.ts";
import type { EventReason } from "../../core/failure.ts";
import type { Subscription } from "../../core/follows.ts";
import type { JsonObject } from "../../core/json.ts";
import type { OutdatedReason, StoredReason } from "./source-conditions.ts";
import type { SourceContext, SourceTraits } from "./source-context.ts";

/**
 * What one kind of source adds to the common flow (`source-flow.ts`): what its specs may contain, what the origin holds now, and how
 * the content is pulled. Each function throws a `Failure` with Flux's reason and text.
 */
export interface SourceKind<Spec extends SourceSpec> extends SourceTraits {
  readonly spec: z.ZodType<Spec>;
  /** The shared fields and those that {@link Resolved.observed} sets. */
  readonly status: z.ZodType<SourceStatus>;
  /** Refuses a spec before its run begins: unsupported fields, and unsafe settings. */
  check(spec: Spec): void;
  /** The topics that announce changes of the origin, and the part of them that the spec follows. Subscribed before it resolves. */
  topics(spec: Spec, ctx: SourceContext): readonly Subscription[];
  /** Asks the origin what it holds now, as cheaply as it can be asked; an unchanged source is not pulled. */
  resolve(spec: Spec, ctx: SourceContext): Promise<Resolved>;
}

/** The present content of a source's origin. */
export interface Resolved {
  /** As `status.artifact.revision` shows it, for example `<tag>@sha256:<digits>`. */
  readonly revision: string;
  /** The name of the artifact's file, for example `<commit>.tar.gz`. */
  readonly file: string;
  /**
   * Fields of the status: settings and includes that the artifact depends on. If the status has other values, the
   * artifact is pulled again at the same revision.
   */
  readonly observed: object;
  /** Fields of the status that the artifact does not depend on: set by every successful run. */
  readonly noted?: object;
  /** The objects that it is made from. */
  readonly madeFrom?: readonly Cause[];
  /** Whether the content is pulled again at the same revision, for a reason that no field of the status shows. */
  readonly isStale?: boolean;
  /** The reasons that a kind has in place of `Succeeded` and `NewRevision`. The events NewArtifact and Succeeded have that of `stored` too. */
  readonly reasons?: { readonly stored: StoredReason; readonly outdated: OutdatedReason };
  readonly messages: {
    /** Says what is new, for example `new upstream revision '…'`. */
    readonly outdated: string;
    /** The message of the conditions ArtifactInStorage and Ready. */
    readonly stored: string;
    /** The message of the events NewArtifact and Succeeded, unless {@link Pulled.message} is set. */
    event(artifact: Artifact): string | Promise<string>;
    /** The event of a run that found nothing new, if it is not `ArtifactUpToDate`. */
    readonly unchanged?: { readonly reason: EventReason; readonly message: string };
  };
  /** Whether the origin's events announce its pushes, so that the interval should find none. */
  readonly isAnnounced: boolean;
  /** A note to the next run, in `FlowResult.carried`: it is lost when a run fails. */
  readonly carried?: JsonObject;
  /**
   * Brings the content. Called only if the stored artifact is another. Calls `announce` once nothing speaks against taking the
   * content, which then shows in the status what is new: `outdated` of the messages, or a text that only the content tells.
   */
  pull(announce: (outdated?: string) => Promise<void>): Promise<Pulled>;
  /** Called in the end, whether the content was pulled or not. */
  close?(): Promise<void>;
}

/** The pulled revision, if the origin has changed between {@link SourceKind.resolve} and {@link Resolved.pull}. */
export type Taken = Pick<Resolved, "file" | "messages" | "revision">;

/** The content of a source, packed as consumers read it. */
export interface Pulled {
  readonly bytes: Uint8Array;
  readonly digest: Digest;
  /** Annotations of the origin, for `status.artifact.metadata`. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Links in the content, which were not followed. */
  readonly links: readonly string[];
  /** Fields of the status that differ from {@link Resolved.observed} after the pull. */
  readonly observed?: object;
  /** The pulled revision, if it differs from the resolved one. */
  readonly taken?: Taken;
  /** The message of the event NewArtifact, if it depends on the content: the subject of a commit, for example. */
  readonly message?: string;
  /** The message of the conditions ArtifactInStorage and Ready, if it depends on the content. */
  readonly stored?: string;
}
