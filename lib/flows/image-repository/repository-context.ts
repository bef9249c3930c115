import type { ImageRepositoryStatus } from "../../api/image-repository.ts";
import type { Http } from "../../core/ports/http.ts";
import type { ImageTags } from "../../core/ports/image-tags.ts";
import type { RegistryLogin } from "../../core/ports/registry-login.ts";
import type { FlowDeps } from "../flow-deps.ts";
import type { RunContext } from "../run-context.ts";

/** The outside services of the reconcile of an ImageRepository. */
export interface ImageRepositoryDeps extends FlowDeps {
  readonly http: Http;
  readonly imageTags: ImageTags;
  /** The clouds with an identity that can log in to registries. */
  readonly logins?: { readonly aws?: RegistryLogin };
}

/** The ImageRepository of one run. */
export type RepositoryContext = RunContext<ImageRepositoryStatus, ImageRepositoryDeps>;
