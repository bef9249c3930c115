import type { ImagePolicyStatus } from "../../api/image-policy.ts";
import type { ImageRepositorySpec } from "../../api/image-repository.ts";
import { declaredImagePolicy } from "../../api/kinds/image-policy.ts";
import { requestedAtAnnotation } from "../../api/names.ts";
import { type LiveObject, refOf } from "../../core/manifest.ts";
import type { HomeCluster } from "../../core/ports/home-and-target.ts";
import type { ImageTags } from "../../core/ports/image-tags.ts";
import type { Run } from "../../core/ports/run.ts";
import type { WorkKey } from "../../core/work-key.ts";
import { leasedCluster } from "../../gate/leased-cluster.ts";
import type { FlowDeps } from "../flow-deps.ts";
import { type EventToRecord, reportEvent } from "../record-event.ts";
import { statusPatch } from "../status-patch.ts";

export const manager = declaredImagePolicy.statusManager;

/** The ImageRepository that a policy refers to. */
export interface ReferredRepository {
  readonly key: WorkKey;
  readonly live: LiveObject;
  readonly spec: ImageRepositorySpec;
}

/** The outside services of the reconcile of an ImagePolicy. */
export interface ImagePolicyDeps extends Omit<FlowDeps, "artifacts" | "records"> {
  readonly imageTags: Pick<ImageTags, "get">;
  /** Flux's flag of this name: repositories of other namespaces than the object's are refused. */
  readonly noCrossNamespaceRefs: boolean;
  /** Looks up the digest of a tag with the login of the repository. Throws a `Failure` in Flux's words. */
  readonly digestOfTag: (repository: ReferredRepository, tag: string, run: Run) => Promise<string>;
}

/** The ImagePolicy of one run, and its status from the run. */
export interface PolicyContext {
  readonly live: LiveObject;
  readonly namespace: string;
  readonly run: Run;
  readonly deps: ImagePolicyDeps;
  /** Takes writes only while the run holds its lease. */
  readonly home: HomeCluster;
  /** The status as the run found it. */
  readonly before: ImagePolicyStatus;
  /** The value of the request annotation, to be copied to the status at the end of the run. */
  readonly requestedAt: string | undefined;
  now(): { readonly generation: number; readonly at: number };
  /** Writes what differs from the status in the cluster. Answers whether anything does. */
  publish(status: ImagePolicyStatus): Promise<boolean>;
  /** Publishes the outcome of the run, and that the request for it was handled. */
  conclude(status: ImagePolicyStatus): Promise<boolean>;
  /** The status as it was last published. */
  status(): ImagePolicyStatus;
  /** If the API server does not accept an event, it is logged and left out. */
  record(event: EventToRecord): Promise<void>;
}

export function policyContext(
  live: LiveObject,
  before: ImagePolicyStatus,
  run: Run,
  deps: ImagePolicyDeps,
): PolicyContext {
  const home = leasedCluster(deps.home, run);
  const { namespace = "", generation = 0 } = live.metadata;
  const requestedAt = live.metadata.annotations?.[requestedAtAnnotation];
  let written = before;
  const publish = async (status: ImagePolicyStatus): Promise<boolean> => {
    const body = statusPatch(written, status);
    if (body === undefined) return false;
    const options = { manager, subresource: "status" };
    await home.patch(refOf(live), { type: "merge", body: { status: body } }, options, run.signal);
    written = status;
    return true;
  };
  return {
    ...{ live, namespace, run, deps, home, before, requestedAt, publish },
    now: () => ({ generation, at: deps.clock.now() }),
    conclude: (status) =>
      publish(requestedAt === undefined ? status : { ...status, lastHandledReconcileAt: requestedAt }),
    status: () => written,
    record: (event) => reportEvent(home, live, event, declaredImagePolicy.eventSource, run, deps),
  };
}
