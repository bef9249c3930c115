import { Failure } from "../../core/failure.ts";
import type { HomeCluster } from "../../core/ports/home-and-target.ts";
import type { Http } from "../../core/ports/http.ts";
import { parseImageRepository } from "../../image/image-reference.ts";
import { inRegistryWords } from "../../sources/oci/registry-words.ts";
import { registryClients } from "../../sources/oci/registry-client.ts";
import { failureOf } from "../../sources/oci/registry-fault.ts";
import type { FlowDeps } from "../flow-deps.ts";
import { type ImageRegistryParts, imageRegistry } from "../image-repository/registry.ts";
import type { ImagePolicyDeps } from "./policy-context.ts";

/** The outside services of a lookup. */
interface LookupParts extends Pick<FlowDeps, "clock" | "log">, Omit<ImageRegistryParts, "connect"> {
  readonly home: Pick<HomeCluster, "get">;
  readonly http: Http;
}

/** Looks up digests in registries, with the login, the trust, the proxy and the timeout of the repository. */
export function digestLookup(parts: LookupParts): ImagePolicyDeps["digestOfTag"] {
  const connect = registryClients(parts.http, parts.clock);
  return async ({ key, spec }, tag, run) => {
    const image = `${spec.image}:${tag}`;
    const text = (why: string): string => `failed fetching digest of ${image}: ${why}`;
    const address = parseImageRepository(spec.image);
    // Secrets are those of the repository's namespace; a cloud login is for that namespace too.
    const ctx = { home: parts.home, log: parts.log, run, namespace: key.namespace };
    const registry = await imageRegistry(address, spec, { ...parts, connect }, ctx).catch((error: unknown) => {
      throw error instanceof Failure ? new Failure("Failed", text(error.message), { cause: error }) : error;
    });
    try {
      return await registry.digestOfTag(address.repository, tag, run.signal);
    } catch (error) {
      const why = `failed fetching descriptor for "${image}": ${inRegistryWords(error, address.host)}`;
      throw failureOf("Failed", text(why), error, run.signal);
    }
  };
}
