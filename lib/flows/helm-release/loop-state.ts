import type { HelmReleaseStatus } from "../../api/helm-release-status.ts";
import type { EndedAction } from "./action-end.ts";
import type { ActionWait, ReleaseActions } from "./attempt/action.ts";
import type { ReleaseAttempt } from "./attempt/attempt.ts";
import type { Carried } from "./carried.ts";

/** An action of Helm. */
export type ActionName = EndedAction["name"];

/** Each type of action runs at most once a pass; nothing runs after a remediation (reference helmrelease 8.3). */
type ActionType = "drift" | "release" | "remediate" | "test" | "unlock";

/** The type of each action. */
export const typeOf = {
  install: "release",
  upgrade: "release",
  rollback: "remediate",
  uninstall: "remediate",
  test: "test",
} as const satisfies Record<ActionName, ActionType>;

/** Where a pass stands. */
export interface Loop {
  readonly attempt: ReleaseAttempt;
  readonly actions: ReleaseActions;
  readonly carried: Carried;
  readonly isForced: boolean;
  readonly ran: ReadonlySet<string>;
  readonly wait: ActionWait | undefined;
  readonly startedAt: number | undefined;
  readonly status: HelmReleaseStatus;
}
