import type { ImageRepositoryStatus } from "../../api/image-repository.ts";
import { declaredImageRepository } from "../../api/kinds/image-repository.ts";
import { requestedAtAnnotation } from "../../api/names.ts";
import { type LiveObject, refOf } from "../../core/manifest.ts";
import type { HomeCluster } from "../../core/ports/home-and-target.ts";
import type { Http } from "../../core/ports/http.ts";
import type { ImageTags } from "../../core/ports/image-tags.ts";
import type { RegistryLogin } from "../../core/ports/registry-login.ts";
import type { Run } from "../../core/ports/run.ts";
import { leasedCluster } from "../../gate/leased-cluster.ts";
import type { FlowDeps } from "../flow-deps.ts";
import { type EventToRecord, reportEvent } from "../record-event.ts";
import { statusPatch } from "../status-patch.ts";
import type { Now } from "./repository-status.ts";

/** The outside services of the reconcile of an ImageRepository. */
export interface ImageRepositoryDeps extends FlowDeps {
  readonly http: Http;
  readonly imageTags: ImageTags;
  /** The clouds with an identity that can log in to registries. */
  readonly logins?: { readonly aws?: RegistryLogin };
}

/** The ImageRepository of one run, and its status from the run. */
export interface RepositoryContext {
  readonly live: LiveObject;
  readonly namespace: string;
  readonly run: Run;
  readonly deps: ImageRepositoryDeps;
  /** Takes writes only while the run holds its lease. */
  readonly home: HomeCluster;
  /** The status as the run found it. */
  readonly before: ImageRepositoryStatus;
  /** The value of the request annotation, to be copied to the status at the end of the run. */
  readonly requestedAt: string | undefined;
  /** Whether it asks for a run that no earlier one was. */
  readonly isAsked: boolean;
  now(): Now;
  /** The status as the run has changed it so far, published or not. */
  status(): ImageRepositoryStatus;
  setStatus(status: ImageRepositoryStatus): void;
  /** Writes what differs between the status and the one in the cluster. */
  publish(): Promise<void>;
  /** Publishes the outcome of the run, and that the request for it was handled. */
  conclude(status: ImageRepositoryStatus): Promise<void>;
  /** If the API server does not accept an event, it is logged and left out. */
  record(event: EventToRecord): Promise<void>;
}

const { eventSource, statusManager: manager } = declaredImageRepository;

export function repositoryContext(
  live: LiveObject,
  before: ImageRepositoryStatus,
  run: Run,
  deps: ImageRepositoryDeps,
): RepositoryContext {
  const home = leasedCluster(deps.home, run);
  const { namespace = "", generation = 0 } = live.metadata;
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
    ...{ live, namespace, run, deps, home, before, requestedAt, publish },
    isAsked: requestedAt !== undefined && requestedAt !== before.lastHandledReconcileAt,
    now: () => ({ generation, at: deps.clock.now() }),
    status: () => status,
    setStatus: (next) => {
      status = next;
    },
    conclude: (next) => {
      status = requestedAt === undefined ? next : { ...next, lastHandledReconcileAt: requestedAt };
      return publish();
    },
    record: (event) => reportEvent(home, live, event, eventSource, run, deps),
  };
}
