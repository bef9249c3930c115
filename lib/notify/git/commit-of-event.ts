import { reasonInWords } from "../describe-event.ts";
import type { NotificationEvent } from "../notification-event.ts";

/** The state and text of a commit status for an event. */
export interface StatusOfEvent {
  /** Forty characters. */
  readonly commit: string;
  /** In the words of the host. */
  readonly state: string;
  /** The reason in words: `reconciliation succeeded`. */
  readonly description: string;
}

/** The states of a host, and its error for an event without one. */
export interface HostStates {
  readonly info: string;
  readonly error: string;
  /** For events of reason `Progressing`. Without it they have no status. */
  readonly progressing?: string;
  readonly unknown: string;
}

/**
 * The status for an event; undefined if it gets none. The revision is the first of `commit`, `originRevision` and `revision` in the
 * metadata. Throws Flux's text.
 *
 * @param words before the text about a revision without a commit
 */
export function statusOfEvent(event: NotificationEvent, states: HostStates, words = ""): StatusOfEvent | undefined {
  const isProgressing = event.reason === "Progressing";
  if (isProgressing && states.progressing === undefined) return undefined;
  const { commit, originRevision, revision } = event.metadata ?? {};
  const text = commit ?? originRevision ?? revision;
  if (text === undefined) throw new Error("missing revision metadata");
  return {
    commit: commitOf(text, words),
    state: isProgressing && states.progressing !== undefined ? states.progressing : stateOf(event, states),
    description: reasonInWords(event),
  };
}

function stateOf({ severity }: NotificationEvent, { info, error, unknown }: HostStates): string {
  if (severity === "info") return info;
  if (severity === "error") return error;
  throw new Error(unknown);
}

/** The commit in a revision such as `main@sha1:<hash>`, `main/<hash>` or `<hash>`. Throws Flux's text if there is none. */
export function commitOf(revision: string, words = ""): string {
  const separator = revision.includes(":") ? ":" : "/";
  const hash = revision.slice(revision.lastIndexOf(separator) + 1);
  if (Buffer.byteLength(hash) !== 40)
    throw new Error(`${words}failed to extract commit hash from '${revision}' revision`);
  return hash;
}

/** `kustomization/apps`. */
export function nameInStatus({ involvedObject: { kind, name } }: NotificationEvent): string {
  return `${kind}/${name}`.toLowerCase();
}

/** The ID of a commit status, which no provider works without. */
export function requiredCommitStatus(commitStatus: string | undefined): string {
  if (commitStatus === undefined || commitStatus === "") throw new Error("commit status cannot be empty");
  return commitStatus;
}
