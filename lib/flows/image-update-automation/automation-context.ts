import { findCondition } from "../../api/condition.ts";
import type { GitRepositorySpec } from "../../api/git-repository.ts";
import type { ImageUpdateAutomationStatus } from "../../api/image-update-automation.ts";
import { declaredImageUpdateAutomation } from "../../api/kinds/image-update-automation.ts";
import { requestedAtAnnotation } from "../../api/names.ts";
import { type LiveObject, refOf } from "../../core/manifest.ts";
import type { HomeCluster } from "../../core/ports/home-and-target.ts";
import type { Http } from "../../core/ports/http.ts";
import type { MessageEngine } from "../../core/ports/message-engine.ts";
import type { Run } from "../../core/ports/run.ts";
import { leasedCluster } from "../../gate/leased-cluster.ts";
import type { GitRef, GitRemote } from "../../sources/git/git-remote.ts";
import type { GitClone } from "../../sources/git/write/git-clone.ts";
import type { FlowDeps } from "../flow-deps.ts";
import { type EventToRecord, reportEvent } from "../record-event.ts";
import type { SecretContext } from "../source/secrets.ts";
import { statusPatch } from "../status-patch.ts";

export const manager = declaredImageUpdateAutomation.statusManager;

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

/** The ImageUpdateAutomation of one run, and its status from the run. */
export interface AutomationContext {
  readonly live: LiveObject;
  readonly name: string;
  readonly namespace: string;
  readonly run: Run;
  readonly deps: AutomationDeps;
  /** Takes writes only while the run holds its lease. */
  readonly home: HomeCluster;
  /** The status as the run found it. */
  readonly before: ImageUpdateAutomationStatus;
  /** The value of the request annotation, to be copied to the status at the end of the run. */
  readonly requestedAt: string | undefined;
  now(): { readonly generation: number; readonly at: number };
  /** The steps that this run has taken. */
  readonly passed: Set<Step>;
  /** The status as the run has changed it so far, published or not. */
  status(): ImageUpdateAutomationStatus;
  setStatus(status: ImageUpdateAutomationStatus): void;
  /** Writes what differs between the status and the one in the cluster. */
  publish(): Promise<void>;
  /** Publishes the outcome of the run, and that the request for it was handled. */
  conclude(status: ImageUpdateAutomationStatus): Promise<void>;
  /** If the API server does not accept an event, it is logged and left out. */
  record(event: EventToRecord): Promise<void>;
}

export function automationContext(
  live: LiveObject,
  before: ImageUpdateAutomationStatus,
  run: Run,
  deps: AutomationDeps,
): AutomationContext {
  const home = leasedCluster(deps.home, run);
  const { name, namespace = "", generation = 0 } = live.metadata;
  const requestedAt = live.metadata.annotations?.[requestedAtAnnotation];
  let written = before;
  let status = before;
  const publish = async (): Promise<void> => {
    const body = statusPatch(written, status);
    if (body === undefined) return;
    const options = { manager, subresource: "status" };
    await home.patch(refOf(live), { type: "merge", body: { status: body } }, options, run.signal);
    written = status;
  };
  return {
    ...{ live, name, namespace, run, deps, home, before, requestedAt, publish },
    now: () => ({ generation, at: deps.clock.now() }),
    passed: new Set(),
    status: () => status,
    setStatus: (next) => {
      status = next;
    },
    conclude: (next) => {
      status = requestedAt === undefined ? next : { ...next, lastHandledReconcileAt: requestedAt };
      return publish();
    },
    record: (event) => reportEvent(home, live, event, declaredImageUpdateAutomation.eventSource, run, deps),
  };
}

/** Whether the object was ready when the run began: a run that was killed has left it reconciling. */
export function wasReady({ before: { conditions = [] } }: Pick<AutomationContext, "before">): boolean {
  const isTrue = (type: string): boolean => findCondition(conditions, type)?.status === "True";
  return isTrue("Ready") && !isTrue("Reconciling") && !isTrue("Stalled");
}
