import { describe, expect, test } from "vitest";
import { HttpError } from "../../../../lib/core/ports/http.ts";
import { orasConnectionWords, orasWithoutLogin, orasWords } from "../../../../lib/flows/helm-chart/oras-words.ts";

describe("an error answer of a registry, in the words of oras-go", () => {
  test.each([
    [
      404,
      "GET http://here/v2/app/tags/list?n=1000: NAME_UNKNOWN: repository name not known to registry; map[name:app]",
      'GET "http://here/v2/app/tags/list": response status code 404: name unknown: repository name not known to registry: map[name:app]',
    ],
    [
      403,
      "GET http://here/v2/app/manifests/1.0.0: DENIED: requested access to the resource is denied",
      'GET "http://here/v2/app/manifests/1.0.0": response status code 403: denied: requested access to the resource is denied',
    ],
    [
      503,
      "GET http://here/v2/app/manifests/1.0.0: unexpected status code 503 Service Unavailable",
      'GET "http://here/v2/app/manifests/1.0.0": response status code 503: Service Unavailable',
    ],
  ])("%s: %s", (status, message, words) => {
    expect(orasWords({ status, message })).toBe(words);
  });

  test("that asks for a login, where there is none, names only the request", () => {
    const message = "GET http://here/v2/app/tags/list?n=1000: UNAUTHORIZED: authentication required";
    expect(orasWithoutLogin({ message })).toBe('GET "http://here/v2/app/tags/list": basic credential not found');
  });
});

describe("a registry that is not reached, in the words of oras-go", () => {
  const path = "/v2/app/tags/list";
  const refused = "dial tcp 127.0.0.1:1: connect: connection refused";

  test.each([["/v2/"], [path]])("is named with the first request of Helm, where %s failed", (failed) => {
    const error = new HttpError("unreachable", `GET http://here${failed}: ${refused}`);
    expect(orasConnectionWords(error, path)).toBe(`Get "http://here/v2/app/tags/list": ${refused}`);
  });

  test("keeps our words for a later request, and for a connection that the network policy refuses", () => {
    const later = new HttpError("unreachable", `GET http://here/v2/app/blobs/x: ${refused}`);
    const forbidden = new HttpError("refused", "GET http://here/v2/: it is a private address");
    expect([orasConnectionWords(later, path), orasConnectionWords(forbidden, path)]).toEqual([undefined, undefined]);
  });
});
