import { describe, expect, test } from "vitest";
import { HttpError, type HttpErrorReason } from "../../../../lib/core/ports/http.ts";
import { type OrasStep, orasConnectionWords, orasWords } from "../../../../lib/flows/helm-chart/oras-words.ts";
import { RegistryFault } from "../../../../lib/sources/oci/registry-fault.ts";

const tags: OrasStep = { path: "/v2/app/tags/list" };
const manifest: OrasStep = {
  path: "/v2/app/manifests/1.0.0",
  copy: { operation: "FetchReference", what: "here/app:1.0.0" },
};
const layer: OrasStep = { path: "/v2/app/blobs/sha256:00", copy: { operation: "Fetch", what: "sha256:00" } };

/** The words for an answer to the request of a step. */
function words(step: OrasStep, status: number, challenge?: string, codes: readonly object[] = [], login = false) {
  const url = `http://here${step.path}${step === tags ? "?n=1000" : ""}`;
  const headers: Record<string, string> = challenge === undefined ? {} : { "www-authenticate": challenge };
  const body = Buffer.from(codes.length === 0 ? "" : JSON.stringify({ errors: codes }));
  const { refusal } = new RegistryFault({ method: "GET", url }, { url, status, headers, body }, 0);
  return orasWords(refusal, step, login);
}

const copying = 'failed to perform "FetchReference" on source: ';
const asked = `${copying}GET "http://here/v2/app/manifests/1.0.0": `;

describe("an error answer of a registry, in the words of oras-go", () => {
  test("names the code in small letters, with its detail", () => {
    const told = words(tags, 404, undefined, [{ code: "NAME_UNKNOWN", detail: { name: "app" } }]);
    expect(told).toBe(
      'GET "http://here/v2/app/tags/list": response status code 404: name unknown: repository name not known to registry: map[name:app]',
    );
  });

  test("names every error", () => {
    expect(words(manifest, 403, undefined, [{ code: "DENIED" }, { code: "UNAUTHORIZED" }])).toBe(
      `${asked}response status code 403: denied: requested access to the resource is denied; unauthorized: authentication required`,
    );
  });

  test("without a known error names the status", () => {
    expect(words(manifest, 503)).toBe(`${asked}response status code 503: Service Unavailable`);
  });

  test("names the chart or the layer that is missing", () => {
    expect(words(manifest, 404)).toBe(`${copying}here/app:1.0.0: not found`);
    expect(words(layer, 404)).toBe('failed to perform "Fetch" on source: sha256:00: not found');
  });

  const required = "response status code 401: unauthorized: authentication required";
  test.each([
    ["Basic realm=x", false, "basic credential not found"],
    ["Basic realm=x", true, required],
    ['Bearer realm="https://here/token"', false, required],
    [undefined, false, required],
  ])("says that a login is missing only after a basic challenge (%s, login: %s)", (challenge, login, why) => {
    expect(words(manifest, 401, challenge, [{ code: "UNAUTHORIZED" }], login)).toBe(`${asked}${why}`);
  });

  test("of the token service names both requests", () => {
    const url = "https://here/token?scope=repository%3Aapp%3Apull&service=here";
    const body = Buffer.from('{"errors":[{"code":"DENIED"}]}');
    const answer = { url, status: 403, headers: {}, body };
    const tokenFor = { method: "GET", url: "http://here/v2/app/manifests/1.0.0" } as const;
    const { refusal } = new RegistryFault({ method: "GET", url }, answer, 0, tokenFor);
    expect(orasWords(refusal, manifest, false)).toBe(
      `${asked}GET "${url}": response status code 403: denied: requested access to the resource is denied`,
    );
  });
});

describe("a registry that is not reached, in the words of oras-go", () => {
  const refused = "dial tcp 127.0.0.1:1: connect: connection refused";
  const failing = (reason: HttpErrorReason, url: string, why: string, hasHead = false): HttpError =>
    new HttpError(reason, `GET ${url}: ${why}`, { exchange: { method: "GET", url, why, hasHead } });

  test.each([["/v2/"], [tags.path]])("is named with the request of Helm, where %s failed", (path) => {
    const error = failing("unreachable", `http://here${path}`, refused);
    expect(orasConnectionWords(error, tags, "here")).toBe(`Get "http://here/v2/app/tags/list": ${refused}`);
  });

  test("because it does not speak TLS is named with the step of Helm", () => {
    const why = "http: server gave HTTP response to HTTPS client";
    const error = failing("protocol", "https://here/v2/", why);
    expect(orasConnectionWords(error, manifest, "here")).toBe(
      `${copying}Get "https://here/v2/app/manifests/1.0.0": ${why}`,
    );
  });

  test.each<[string, HttpError]>([
    ["a host that a redirect names", failing("unreachable", "http://cdn/v2/app/blobs/sha256:00", refused)],
    ["a connection that the network policy refuses", failing("refused", "http://here/v2/", "it is a private address")],
    ["an answer that broke off", failing("protocol", "http://here/v2/app/blobs/sha256:00", "it broke off", true)],
  ])("keeps our words for %s", (_, error) => {
    expect(orasConnectionWords(error, layer, "here")).toBe(error.message);
  });
});
