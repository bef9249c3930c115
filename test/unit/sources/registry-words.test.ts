import { expect, test } from "vitest";
import { HttpError } from "../../../lib/core/ports/http.ts";
import { inRegistryWords } from "../../../lib/sources/oci/registry-words.ts";

const why = "http: server gave HTTP response to HTTPS client";

function words(url: string, host: string): string {
  const exchange = { method: "HEAD", url, why, hasHead: false };
  return inRegistryWords(new HttpError("protocol", `HEAD ${url}: ${why}`, { exchange }), host);
}

test("a registry that does not speak TLS is named with the request by which Flux finds it out", () => {
  expect(words("https://here.test/v2/app/manifests/1", "here.test:443")).toBe(`Get "https://here.test/v2/": ${why}`);
});

test("a host that a redirect of the registry names is not the registry", () => {
  expect(words("https://cdn.test/v2/app/blobs/x", "here.test")).toBe(`HEAD https://cdn.test/v2/app/blobs/x: ${why}`);
});
