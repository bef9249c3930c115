import type { Http } from "../../core/ports/http.ts";
import type { RegistryLogin } from "../../core/ports/registry-login.ts";
import type { ArchiveLimits } from "../../sources/archive/unpack.ts";
import type { FlowDeps } from "../flow-deps.ts";

/** What the reconcile of an OCIRepository needs of the world. */
export interface OciRepositoryDeps extends FlowDeps {
  readonly http: Http;
  /** The clouds whose identity can log in to registries; a `spec.provider` that is none of them is refused. */
  readonly logins?: { readonly aws?: RegistryLogin };
  /** The address under which `status.artifact.path` is served, or would be: consumers of ours go by the digest. */
  readonly artifactUrl: (path: string) => string;
  /** Of what is unpacked; {@link defaultArchiveLimits} where absent. */
  readonly limits?: ArchiveLimits;
}
