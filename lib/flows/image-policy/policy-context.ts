import type { ImagePolicyStatus } from "../../api/image-policy.ts";
import type { ImageRepositorySpec } from "../../api/image-repository.ts";
import type { LiveObject } from "../../core/manifest.ts";
import type { ImageTags } from "../../core/ports/image-tags.ts";
import type { Run } from "../../core/ports/run.ts";
import type { WorkKey } from "../../core/work-key.ts";
import type { FlowDeps } from "../flow-deps.ts";
import type { RunContext } from "../run-context.ts";

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

/** The ImagePolicy of one run. */
export type PolicyContext = RunContext<ImagePolicyStatus, ImagePolicyDeps>;
