import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { HttpError, type HttpRequest } from "../../../../lib/core/ports/http.ts";
import { downloadArtifact } from "../../../../lib/flows/source/external-artifact.ts";
import { defaultArchiveLimits } from "../../../../lib/sources/archive/unpack.ts";
import { never } from "../../../contract/state-back-end.ts";

const url = "http://source-watcher.flux-system.svc/app.tar.gz";
const body = Buffer.from("the archive");
const digestBy = (algorithm: string): string => `${algorithm}:${createHash(algorithm).update(body).digest("hex")}`;

/** A server with one answer, and the requests that it got. */
function server(answer: { readonly status: number } | HttpError) {
  const asked: HttpRequest[] = [];
  return {
    asked,
    send: async (request: HttpRequest) => {
      asked.push(request);
      if (answer instanceof HttpError) throw answer;
      return { url, headers: {}, body, ...answer };
    },
  };
}

test.each(["sha256", "sha384", "sha512"])("an external artifact is verified by its digest of %s", async (algorithm) => {
  const http = server({ status: 200 });
  expect(await downloadArtifact({ url, digest: digestBy(algorithm) }, http, never)).toBe(body);
  expect(http.asked).toEqual([
    { method: "GET", url, timeoutMs: 60_000, maxBytes: defaultArchiveLimits.maxPackedBytes, maxRedirects: 5 },
  ]);
  const other = `${algorithm}:${"0".repeat(64)}`;
  await expect(downloadArtifact({ url, digest: other }, http, never)).rejects.toMatchObject({
    reason: "ArtifactFailed",
    retry: "interval",
    message: `failed to verify archive: computed digest doesn't match provided '${other}' (check whether file size exceeds max download size)`,
  });
});

test.each(["blake3", "md5", "sha1"])(
  "an external artifact with a digest of %s is not downloaded",
  async (algorithm) => {
    const http = server({ status: 200 });
    await expect(downloadArtifact({ url, digest: `${algorithm}:abc` }, http, never)).rejects.toMatchObject({
      reason: "ArtifactFailed",
      message: `failed to verify archive: digest '${algorithm}:abc' is not one of sha256, sha384, sha512`,
    });
    expect(http.asked).toEqual([]);
  },
);

test.each([
  [401, "401 Unauthorized", "interval"],
  [429, "429 Too Many Requests", "backoff"],
  [500, "500 Internal Server Error", "backoff"],
  [799, "799", "backoff"],
])("a download of an external artifact with the status %d fails the run", async (status, text, retry) => {
  const digest = digestBy("sha256");
  await expect(downloadArtifact({ url, digest }, server({ status }), never)).rejects.toMatchObject({
    reason: "ArtifactFailed",
    message: `failed to download archive from ${url} (status: ${text})`,
    retry,
  });
});

test("a missing external artifact counts as no artifact", async () => {
  expect(await downloadArtifact({ url, digest: digestBy("sha256") }, server({ status: 404 }), never)).toBeUndefined();
});

test.each([
  ["refused", "interval"],
  ["too-large", "interval"],
  ["unreachable", "backoff"],
  ["timeout", "backoff"],
] as const)("a download that is %s is retried (%s)", async (reason, retry) => {
  const error = new HttpError(reason, `GET ${url}: no`);
  await expect(downloadArtifact({ url, digest: digestBy("sha256") }, server(error), never)).rejects.toMatchObject({
    reason: "ArtifactFailed",
    message: `failed to download archive: GET ${url}: no`,
    retry,
  });
});

test("an error that is not an HTTP answer is rethrown", async () => {
  const http = { send: () => Promise.reject(new Error("the run ends")) };
  await expect(downloadArtifact({ url, digest: digestBy("sha256") }, http, never)).rejects.toThrow("the run ends");
});
