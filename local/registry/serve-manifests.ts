import { answer, answerJson, type Exchange } from "./answer.ts";
import { type Manifests, maxManifestBytes } from "./manifests.ts";
import { pageOfNames, repositoryPaging, tagPaging } from "./page-of-names.ts";
import { RegistryError } from "./registry-error.ts";
import type { Reference } from "./route.ts";

/** A manifest was pushed by tag. `registry` is the `host:port` that the client spoke to. */
export interface Push {
  readonly registry: string;
  readonly repository: string;
  readonly tag: string;
  readonly digest: string;
}

export async function serveManifest(
  exchange: Exchange,
  manifests: Manifests,
  announce: (push: Omit<Push, "registry">) => Promise<void>,
  repository: string,
  reference: Reference,
): Promise<void> {
  switch (exchange.method) {
    case "GET":
    case "HEAD": {
      const { digest, mediaType, bytes } = await manifests.get(repository, reference);
      const headers = { "content-type": mediaType, "docker-content-digest": digest, etag: `"${digest}"` };
      return answer(exchange, 200, { ...headers, "content-length": bytes.length }, bytes);
    }
    case "PUT": {
      const mediaType = (exchange.request.headers["content-type"] ?? "").split(";", 1).join("").trim();
      const bytes = await readBody(exchange.request);
      const { digest, subject } = await manifests.put(repository, reference, mediaType, bytes);
      if ("tag" in reference) await announce({ repository, tag: reference.tag, digest });
      return answer(exchange, 201, {
        location: `/v2/${repository}/manifests/${digest}`,
        "docker-content-digest": digest,
        ...(subject === undefined ? {} : { "oci-subject": subject }),
      });
    }
    case "DELETE":
      await manifests.remove(repository, reference);
      return answer(exchange, 202, {});
    default:
      throw new RegistryError(405, "UNSUPPORTED", "the operation is unsupported");
  }
}

export async function serveTags(exchange: Exchange, manifests: Manifests, repository: string): Promise<void> {
  const all = await manifests.tags(repository);
  if (!(await manifests.knows(repository))) {
    throw new RegistryError(404, "NAME_UNKNOWN", "repository name not known to registry", { name: repository });
  }
  const { names: tags, next } = pageOfNames(all, pageAsked(exchange), tagPaging);
  answerJson(exchange, 200, { name: repository, tags }, linkTo(`/v2/${repository}/tags/list`, next));
}

/** The repositories of this registry: no part of the OCI specification, and answered as the CNCF registry does. */
export async function serveCatalog(exchange: Exchange, manifests: Manifests): Promise<void> {
  if (exchange.method !== "GET") throw new RegistryError(405, "UNSUPPORTED", "the operation is unsupported");
  const all = await manifests.repositories();
  const { names: repositories, next } = pageOfNames(all, pageAsked(exchange), repositoryPaging);
  answerJson(exchange, 200, { repositories }, linkTo("/v2/_catalog", next));
}

function pageAsked({ query }: Exchange): { readonly n: string | null; readonly last: string | null } {
  return { n: query.get("n"), last: query.get("last") };
}

function linkTo(path: string, next: string | undefined): Readonly<Record<string, string>> {
  return next === undefined ? {} : { link: `<${path}?${next}>; rel="next"` };
}

export async function serveReferrers(
  exchange: Exchange,
  manifests: Manifests,
  repository: string,
  digest: string,
): Promise<void> {
  const wanted = exchange.query.get("artifactType");
  const all = await manifests.referrers(repository, digest);
  const found = wanted === null ? all : all.filter((one) => "artifactType" in one && one.artifactType === wanted);
  const mediaType = "application/vnd.oci.image.index.v1+json";
  answerJson(
    exchange,
    200,
    { schemaVersion: 2, mediaType, manifests: found },
    { "content-type": mediaType, ...(wanted === null ? {} : { "oci-filters-applied": "artifactType" }) },
  );
}

async function readBody(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    // What is too much is still read, not kept: a client that cannot send its body to the end never sees the answer.
    if (bytes <= maxManifestBytes) chunks.push(chunk);
  }
  if (bytes <= maxManifestBytes) return Buffer.concat(chunks);
  throw new RegistryError(413, "SIZE_INVALID", `a manifest may have ${maxManifestBytes} bytes at most`);
}
