import { describe, expect, test } from "vitest";
import { HttpError } from "../../../../lib/core/ports/http.ts";
import { Secret } from "../../../../lib/core/secret.ts";
import { bucketUrl } from "../../../../lib/sources/bucket/s3-endpoint.ts";
import { type S3StoreOptions, s3Store } from "../../../../lib/sources/bucket/s3-store.ts";
import { type Answer, allOf, phase, recordedHttp } from "./recorded-http.ts";

const credentials = { accessKeyId: "AKIA", secretAccessKey: new Secret("hunter2") };

function store(answer: (url: string) => Answer, options: Partial<S3StoreOptions> = {}) {
  const { http, sent } = recordedHttp(({ url }) => answer(url));
  const address = { endpoint: "s3.test", insecure: true, bucket: "things" };
  return { sent, of: s3Store({ http, ...address, credentials, clock: { now: () => 0 }, ...options }) };
}

const error = (code: string, more = "") =>
  `<Error><Code>${code}</Code><Message>hunter2 of another</Message>${more}</Error>`;
const regionsOf = (sent: readonly { readonly headers?: Readonly<Record<string, string>> }[]) =>
  sent.map(({ headers }) => /\/19700101\/([^/]*)\/s3/.exec(headers?.["authorization"] ?? "")?.[1]);

describe("the address of a bucket", () => {
  test.each([
    ["s3.test:9000", "things", undefined, "http://s3.test:9000/things/"],
    ["s3.amazonaws.com", "things", "eu-west-1", "http://things.s3.eu-west-1.amazonaws.com/"],
    ["s3.eu-west-1.amazonaws.com", "things", undefined, "http://things.s3.eu-west-1.amazonaws.com/"],
    ["s3.cn-north-1.amazonaws.com.cn", "things", undefined, "http://things.s3.cn-north-1.amazonaws.com.cn/"],
    ["storage.googleapis.com", "things", undefined, "http://things.storage.googleapis.com/"],
    ["oss-cn-hangzhou.aliyuncs.com", "things", undefined, "http://things.oss-cn-hangzhou.aliyuncs.com/"],
  ])("for %s, %s in the region %s is %s", (endpoint, bucket, region, url) => {
    expect(bucketUrl({ endpoint, insecure: true, bucket }, region)).toBe(url);
  });

  test("a bucket name with a dot goes into the path, because no certificate covers it as a host name", () => {
    const address = { endpoint: "s3.eu-west-1.amazonaws.com", insecure: false, bucket: "a.b" };
    expect(bucketUrl(address)).toBe("https://s3.eu-west-1.amazonaws.com/a.b/");
  });
});

describe("the region of a bucket", () => {
  test.each([
    ["<LocationConstraint>eu-north-1</LocationConstraint>", "eu-north-1"],
    ["<LocationConstraint/>", "us-east-1"],
    ["<LocationConstraint>EU</LocationConstraint>", "eu-west-1"],
  ])("is requested once and then used for signing: %s", async (body, region) => {
    const { of, sent } = store((url) => (url.endsWith("?location=") ? { body } : {}));
    expect(await of.exists(phase())).toBe(true);
    await of.exists(phase());
    expect(regionsOf(sent)).toEqual(["us-east-1", region, region]);
  });

  test("is not requested if the spec or the endpoint names it", async () => {
    for (const options of [{ region: "eu-north-1" }, { endpoint: "s3.eu-north-1.amazonaws.com" }]) {
      const { of, sent } = store(() => ({}), options);
      await of.exists(phase());
      expect(regionsOf(sent)).toEqual(["eu-north-1"]);
    }
  });

  test("is taken from an error answer if the configured one is wrong, and used for all later requests", async () => {
    const { of, sent } = store(() => ({}), { region: "eu-west-1" });
    const wrong = store(
      (url) =>
        regionsOf(wrong.sent).at(-1) === "eu-west-1"
          ? { status: 400, body: error("AuthorizationHeaderMalformed", "<Region>eu-north-1</Region>") }
          : { body: url },
      { region: "eu-west-1" },
    );
    await wrong.of.get("a", 100, phase());
    await wrong.of.get("b", 100, phase());
    expect(regionsOf(wrong.sent)).toEqual(["eu-west-1", "eu-north-1", "eu-north-1"]);
    await of.exists(phase());
    expect(sent).toHaveLength(1);
  });

  test("is not taken from an answer with an invalid location", async () => {
    const { of, sent } = store(() => ({ body: "<LocationConstraint>evil.test/x</LocationConstraint>" }));
    await expect(of.exists(phase())).rejects.toThrow("its location is not a region");
    expect(sent).toHaveLength(1);
  });

  test("is refused if its host is not Amazon's and only Amazon may get the credentials", async () => {
    const body = "<LocationConstraint>evil</LocationConstraint>";
    const { of, sent } = store(() => ({ body }), { endpoint: "s3.amazonaws.com", isForAmazonOnly: true });
    await expect(of.exists(phase())).rejects.toThrow("'s3.evil.amazonaws.com' is not a host of Amazon S3");
    expect(sent).toHaveLength(1);
  });

  test("stays at the default if the location must not be read", async () => {
    const { of, sent } = store((url) =>
      url.endsWith("?location=") ? { status: 403, body: error("AccessDenied") } : {},
    );
    expect(await of.exists(phase())).toBe(true);
    expect(regionsOf(sent)).toEqual(["us-east-1", "us-east-1"]);
  });
});

describe("an error of an S3 server", () => {
  test.each<[Answer, string]>([
    [{ status: 403, body: error("SignatureDoesNotMatch") }, "The request signature we calculated does not match"],
    [{ status: 403, body: error("InvalidAccessKeyId") }, "The Access Key Id you provided does not exist"],
    [{ status: 400, body: error("OddCode") }, "Error response code OddCode."],
    [{ status: 400, body: error("odd code") }, "400 Bad Request"],
    [{ status: 503, body: "busy" }, "503 Service Unavailable"],
    [{ status: 403 }, "Access Denied."],
  ])("is reported with a known text, without the server's: %j", async (answer, text) => {
    const { of } = store(() => answer, { region: "eu-west-1" });
    const fault = await of.get("a", 100, phase()).catch((thrown: unknown) => thrown);
    expect(fault).toMatchObject({ reason: "answer", message: expect.stringContaining(text) });
    expect(String(fault)).not.toContain("hunter2");
  });

  test("for a missing object means undefined, for a missing bucket a failure", async () => {
    const absent = store(() => ({ status: 404, body: error("NoSuchKey") }), { region: "eu-west-1" });
    expect(await absent.of.get("a", 100, phase())).toBeUndefined();
    const gone = store(() => ({ status: 404, body: error("NoSuchBucket") }), { region: "eu-west-1" });
    await expect(gone.of.get("a", 100, phase())).rejects.toThrow("The specified bucket does not exist");
    expect(await gone.of.exists(phase())).toBe(false);
  });

  test("is too-large for an object above the limit", async () => {
    const { of } = store(() => ({ body: "12345" }), { region: "eu-west-1" });
    expect((await of.get("a", 5, phase()))?.bytes).toHaveLength(5);
    await expect(of.get("a", 4, phase())).rejects.toMatchObject({ reason: "too-large" });
  });

  test("a request is not sent after the timeout of its phase", async () => {
    const { of, sent } = store(() => ({}));
    await expect(of.exists(phase(0))).rejects.toMatchObject({
      reason: "timeout",
      message: 'Get "http://s3.test/things/?location=": context deadline exceeded',
    });
    expect(sent).toEqual([]);
  });

  test("of a proxy that does not connect has Go's text", async () => {
    const http = {
      send: () =>
        Promise.reject(new HttpError("unreachable", "HEAD http://s3.test/things/: dial tcp 127.0.0.1:1: refused")),
    };
    const proxy = { url: new URL("http://proxy.test") };
    const { of } = store(() => ({}), { http, proxy, region: "eu-west-1" });
    await expect(of.exists(phase())).rejects.toThrow(
      'Head "http://s3.test/things/": proxyconnect tcp: dial tcp 127.0.0.1:1: refused',
    );
  });
});

describe("a listing from an S3 server", () => {
  const page = (keys: readonly string[], more = "") =>
    `<ListBucketResult>${more}${keys.map((key) => `<Contents><Key>${key}</Key><ETag>"e"</ETag><Size>1</Size></Contents>`).join("")}</ListBucketResult>`;
  const listOf = (answer: (url: string) => Answer) => {
    const { of, sent } = store(answer, { region: "eu-west-1" });
    return { sent, all: () => allOf(of.list("p/", phase())) };
  };

  test("decodes keys only if it declares them as encoded", async () => {
    expect(await listOf(() => ({ body: page(["a%20b&amp;c"]) })).all()).toEqual([
      { key: "a%20b&c", etag: "e", size: 1 },
    ]);
    const escaped = page(["a%20b+%2B"], "<EncodingType>url</EncodingType>");
    expect(await listOf(() => ({ body: escaped })).all()).toEqual([{ key: "a b +", etag: "e", size: 1 }]);
  });

  test("follows its pages", async () => {
    const next = "<IsTruncated>true</IsTruncated><NextContinuationToken>t=1</NextContinuationToken>";
    const { all, sent } = listOf((url) => ({ body: url.includes("t%3D1") ? page(["b"]) : page(["a"], next) }));
    expect((await all()).map(({ key }) => key)).toEqual(["a", "b"]);
    expect(sent.map(({ url }) => new URL(url).searchParams.get("prefix"))).toEqual(["p/", "p/"]);
  });

  test.each([
    ["<IsTruncated>true</IsTruncated>", "it has no token for the next page"],
    ["<IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>", "no token for the next page"],
    ["<Contents><Key>a</Key></Contents>", "an object has no key, etag or size"],
    ["<Contents><Key>a</Key><ETag>e</ETag><Size>-1</Size></Contents>", "a size is not a number"],
    [
      "<EncodingType>url</EncodingType><Contents><Key>%zz</Key><ETag>e</ETag><Size>1</Size></Contents>",
      "a key is not escaped",
    ],
    ["<", "the answer is not XML"],
  ])("that does not fit the API is refused: %s", async (body, why) => {
    await expect(listOf(() => ({ body: page([], body) })).all()).rejects.toMatchObject({
      reason: "answer",
      message: expect.stringContaining(why),
    });
  });
});
