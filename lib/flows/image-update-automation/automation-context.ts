import { findCondition } from "../../api/condition.ts";
import type { GitRepositorySpec } from "../../api/git-repository.ts";
import type { ImageUpdateAutomationStatus } from "../../api/image-update-automation.ts";
import type { Http } from "../../core/ports/http.ts";
import type { MessageEngine } from "../../core/ports/message-engine.ts";
import type { Run } from "../../core/ports/run.ts";
import type { GitRef, GitRemote } from "../../sources/git/git-remote.ts";
import type { GitClone } from "../../sources/git/write/git-clone.ts";
import type { FlowDeps } from "../flow-deps.ts";
import type { RunContext } from "../run-context.ts";
import type { SecretContext } from "../source/secrets.ts";

/** The repository of an automation, to be read and written. */
export interface AutomationRepository extends AsyncDisposable {
  readonly remote: GitRemote;
  /** A commit of the repository, with further commits on top and references to push. Throws a `GitFault`. */
  clone(at: CloneAt, signal: AbortSignal): Promise<GitClone>;
}

export interface CloneAt {
  readonly checkout: string;
  /** The server's references as listed: a push is refused if one that it moves has changed since. */
  readonly listed: readonly GitRef[];
  /** Branches with the commit in their history, if no reference names it. */
  readonly within: readonly string[];
  /** Folders whose files are wanted, if a server can leave out the others; undefined: all. */
  readonly folders?: readonly string[];
}

/** Where an automation finds the Secrets of one namespace, and who asks for them. */
export type AccessContext = SecretContext & { readonly run: Run };

/** The outside services of the reconcile of an ImageUpdateAutomation. */
export interface AutomationDeps extends FlowDeps {
  /** Opens the repository of a GitRepository. Throws a `Failure` of the login. */
  readonly openRepository: (spec: GitRepositorySpec, access: AccessContext) => Promise<AutomationRepository>;
  /** For the APIs of git hosts. */
  readonly http: Http;
  /** Templates of commit messages. */
  readonly messages: MessageEngine;
  /** Flux's flag of this name: a GitRepository of another namespace is refused. */
  readonly noCrossNamespaceRefs: boolean;
}

/** The steps of a run after which a failure of an earlier run is over (reference image-automation 1, terminal failure). */
export type Step = "policies" | "source" | "checkout" | "update" | "push";

/** The ImageUpdateAutomation of one run. */
export interface AutomationContext extends RunContext<ImageUpdateAutomationStatus, AutomationDeps> {
  /** The steps that this run has taken. */
  readonly passed: Set<Step>;
}

/** Whether the object was ready when the run began: a run that was killed has left it reconciling. */
export function wasReady({ before: { conditions = [] } }: Pick<AutomationContext, "before">): boolean {
  const isTrue = (type: string): boolean => findCondition(conditions, type)?.status === "True";
  return isTrue("Ready") && !isTrue("Reconciling") && !isTrue("Stalled");
}
