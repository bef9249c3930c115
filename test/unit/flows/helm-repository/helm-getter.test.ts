import { describe, expect, test } from "vitest";
import { type Http, HttpError, type HttpErrorReason, type HttpRequest } from "../../../../lib/core/ports/http.ts";
import { Secret } from "../../../../lib/core/secret.ts";
import { getFile, HelmFetchError } from "../../../../lib/flows/helm-repository/helm-getter.ts";
import { untilDeadline } from "../../../deadline.ts";

/** The request that a file of `https://charts.test/a` is asked for with. */
async function asked(url: string, repository: { passCredentials?: boolean; timeout?: string } = {}, status = 200) {
  const sent: HttpRequest[] = [];
  const http: Pick<Http, "send"> = {
    async send(request) {
      sent.push(request);
      return { url: request.url, status, headers: {}, body: Buffer.alloc(0) };
    },
  };
  const credentials = { username: "ann", password: new Secret("s3cret") };
  const file = { url, repository: { url: "https://charts.test/a", ...repository }, credentials, maxBytes: 1_000 };
  await getFile(file, http, untilDeadline());
  return sent[0];
}

const login = { authorization: `Basic ${Buffer.from("ann:s3cret").toString("base64")}` };

describe("a file of a Helm repository", () => {
  test.each([
    ["https://charts.test/b/app.tgz", login],
    ["http://charts.test/app.tgz", {}],
    ["https://charts.test:8443/app.tgz", {}],
    ["https://other.test/app.tgz", {}],
  ])("%s is requested with %j", async (url, headers) => {
    expect((await asked(url))?.headers).toEqual(headers);
    expect((await asked(url, { passCredentials: true }))?.headers).toEqual(login);
  });

  test("a login in the URL that is not percent-encoded is sent as it is", async () => {
    const authorization = `Basic ${Buffer.from("a%zz:b").toString("base64")}`;
    expect((await asked("https://a%zz:b@charts.test/x"))?.headers).toEqual({ authorization });
  });

  test("has a timeout of one minute, or the timeout of the repository", async () => {
    expect((await asked("https://charts.test/x"))?.timeoutMs).toBe(60_000);
    expect((await asked("https://charts.test/x", { timeout: "5s" }))?.timeoutMs).toBe(5_000);
  });

  const named = 'Get "https://charts.test/x": ';
  const dialed = "dial tcp 127.0.0.1:1: connect: connection refused";
  const late = "context deadline exceeded";
  const brokeOff = "the answer broke off: aborted";
  const elsewhere = "redirected to an address that is not followed";
  test.each<[HttpErrorReason, string, boolean, string]>([
    ["unreachable", dialed, false, `${named}${dialed}`],
    ["protocol", "socket hang up", false, `${named}EOF`],
    ["redirect", "too many redirects", true, `${named}stopped after 10 redirects`],
    ["redirect", elsewhere, true, `GET https://charts.test/x: ${elsewhere}`],
    ["protocol", brokeOff, true, `GET https://charts.test/x: ${brokeOff}`],
    ["timeout", "no answer", false, `${named}${late} (Client.Timeout exceeded while awaiting headers)`],
    ["timeout", "no answer", true, `${late} (Client.Timeout or context cancellation while reading body)`],
  ])("without an answer fails in the words of Go's client (%s: %s, head: %s)", async (reason, why, hasHead, words) => {
    const url = "https://charts.test/x";
    const exchange = { method: "GET", url, why, hasHead };
    const error = new HttpError(reason, `GET ${url}: ${why}`, { exchange });
    const http = { send: () => Promise.reject(error) };
    const file = {
      url: "https://charts.test/x",
      repository: { url: "https://charts.test" },
      credentials: {},
      maxBytes: 1,
    };
    await expect(getFile(file, http, untilDeadline())).rejects.toThrow(new HelmFetchError(words));
  });

  test("to which the network policy refuses a connection is named without Go's words", async () => {
    const error = new HttpError("refused", "GET https://charts.test/x: it is a private address");
    const http = { send: () => Promise.reject(error) };
    const file = {
      url: "https://charts.test/x",
      repository: { url: "https://charts.test" },
      credentials: {},
      maxBytes: 1,
    };
    await expect(getFile(file, http, untilDeadline())).rejects.toThrow(new HelmFetchError(error.message));
  });

  test("that is missing fails with Helm's text, without the query of the URL", async () => {
    const failing = asked("https://charts.test/x?sig=s3cret", {}, 403);
    await expect(failing).rejects.toThrow(
      new HelmFetchError("failed to fetch https://charts.test/x?… : 403 Forbidden", { status: 403 }),
    );
  });
});
