import { ownPrefix, userPrefix } from "./metadata-keys.ts";
import type { NotificationEvent } from "./notification-event.ts";
import type { MakeProvider } from "./provider.ts";

/** Which events a type of Provider takes: see {@link admits}. */
export type ProviderClass = "change-request" | "commit-status" | "generic" | "other";

/** A type of Provider. */
export interface ProviderType {
  readonly make: MakeProvider;
  readonly class: ProviderClass;
}

/**
 * Whether a Provider of this class takes the event (reference notifications 13): generic ones take all; those of commit statuses an event of a
 * commit, an update of a commit status and errors; those of change requests an event of one; all others what is no update of a commit status.
 *
 * @param event with its metadata as the emitter wrote it
 */
export function admits(of: ProviderClass, { involvedObject, metadata = {}, severity }: NotificationEvent): boolean {
  const isUpdate = metadata[`${ownPrefix(involvedObject)}commit_status`] === "update";
  const names = (key: string): boolean => (metadata[`${userPrefix}${key}`] ?? "") !== "";
  switch (of) {
    case "generic":
      return true;
    case "commit-status":
      return names("commit") || isUpdate || severity === "error";
    case "change-request":
      return names("change_request") && !isUpdate;
    case "other":
      return !isUpdate;
  }
}
