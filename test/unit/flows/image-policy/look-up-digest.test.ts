import { expect, test } from "vitest";
import { ImageRepositorySpec } from "../../../../lib/api/image-repository.ts";
import type { LiveObject } from "../../../../lib/core/manifest.ts";
import { HttpError, type HttpRequest, type HttpResponse } from "../../../../lib/core/ports/http.ts";
import type { Run } from "../../../../lib/core/ports/run.ts";
import { digestLookup } from "../../../../lib/flows/image-policy/look-up-digest.ts";
import { partOf } from "../../../doubles/part-of.ts";
import { silentLog } from "../../../doubles/silent-log.ts";
import { steppedClock } from "../../../doubles/stepped-clock.ts";

const image = "registry.example/team/app";
const digest = `sha256:${"a".repeat(64)}`;
const { signal } = new AbortController();
const key = {
  cluster: "here",
  group: "image.toolkit.fluxcd.io",
  kind: "ImageRepository",
  namespace: "images",
  name: "app",
};
const run = partOf<Run>({ key: { ...key, kind: "ImagePolicy", namespace: "apps" }, signal });

/** Looks up a tag of a repository with this spec; `answer` is the registry. */
async function look(
  answer: (request: HttpRequest) => Partial<HttpResponse>,
  spec: Readonly<Record<string, unknown>> = {},
  secret?: LiveObject,
) {
  const asked: string[] = [];
  const read: string[] = [];
  const lookup = digestLookup({
    clock: steppedClock(),
    log: silentLog,
    home: {
      get: async ({ kind, name, namespace }) => {
        read.push(`${kind} ${namespace}/${name}`);
        return secret;
      },
    },
    http: {
      async send(request) {
        asked.push(`${request.method} ${request.url} ${request.headers?.["authorization"] ?? ""}`.trim());
        return { url: request.url, status: 200, headers: {}, body: new Uint8Array(), ...answer(request) };
      },
    },
  });
  const repository = {
    key,
    live: partOf<LiveObject>({}),
    spec: ImageRepositorySpec.parse({ image, interval: "1h", ...spec }),
  };
  return { asked, read, found: await lookup(repository, "1.2.0", run).catch((error: unknown) => error) };
}

test("a digest is looked up with HEAD on the manifest of the tag", async () => {
  const { asked, found } = await look(() => ({ headers: { "docker-content-digest": digest } }));
  expect(found).toBe(digest);
  expect(asked).toEqual([`HEAD https://${image.replace("/", "/v2/")}/manifests/1.2.0`]);
});

test("a digest is looked up over plain HTTP if the repository is insecure and HTTPS does not answer", async () => {
  const answer = ({ url }: HttpRequest) => {
    if (url.startsWith("https:")) throw new HttpError("unreachable", "connect: connection refused");
    return { headers: { "docker-content-digest": digest } };
  };
  const { asked, found } = await look(answer, { insecure: true });
  expect(found).toBe(digest);
  expect(asked.at(-1)).toBe(`HEAD http://${image.replace("/", "/v2/")}/manifests/1.2.0`);
});

test("a digest is looked up with the login of the repository, read from the repository's namespace", async () => {
  const config = { auths: { "registry.example": { username: "u", password: "p" } } };
  const data = { ".dockerconfigjson": Buffer.from(JSON.stringify(config)).toString("base64") };
  const secret = partOf<LiveObject>({ type: "kubernetes.io/dockerconfigjson", data });
  const answer = ({ headers }: HttpRequest) =>
    headers?.["authorization"] === undefined
      ? { status: 401, headers: { "www-authenticate": 'Basic realm="r"' } }
      : { headers: { "docker-content-digest": digest } };
  const { asked, found, read } = await look(answer, { secretRef: { name: "login" } }, secret);
  expect(found).toBe(digest);
  expect(read).toEqual(["Secret images/login"]);
  expect(asked.at(-1)).toMatch(`Basic ${Buffer.from("u:p").toString("base64")}`);
});

test("a missing login fails the lookup of a digest with Flux's text", async () => {
  const { found } = await look(() => ({}), { secretRef: { name: "login" } });
  expect(found).toMatchObject({
    reason: "Failed",
    retry: "backoff",
    message: `failed fetching digest of ${image}:1.2.0: failed to configure authentication options: secrets "login" not found`,
  });
});

test("a registry that does not answer fails the lookup of a digest, which is retried", async () => {
  const { found } = await look(({ method, url }) => {
    const why = "dial tcp 10.0.0.1:443: connect: connection refused";
    const exchange = { method, url, why, hasHead: false };
    throw new HttpError("unreachable", `${method} ${url}: ${why}`, { exchange });
  });
  expect(found).toMatchObject({
    reason: "Failed",
    retry: "backoff",
    message: `failed fetching digest of ${image}:1.2.0: failed fetching descriptor for "${image}:1.2.0": Get "https://registry.example/v2/": dial tcp 10.0.0.1:443: connect: connection refused`,
  });
});
