import { describe, expect, test } from "vitest";
import type { MetricTemplateSpec } from "../../../../lib/api/canary.ts";
import { HttpError } from "../../../../lib/core/ports/http.ts";
import { metricWorld, type ScriptedAnswer, vector } from "./metric-world.ts";

const metric = { name: "errors", templateRef: { name: "errors" }, thresholdRange: {} };

/** One query `a  b` of a MetricTemplate with this provider. */
function ask(
  provider: Omit<MetricTemplateSpec["provider"], "type">,
  answer: ScriptedAnswer,
  secret?: Readonly<Record<string, string>>,
) {
  const secretRef = secret === undefined ? {} : { secretRef: { name: "login" } };
  return metricWorld({
    metrics: [metric],
    templates: {
      "apps/errors": { provider: { type: "prometheus", ...provider, ...secretRef }, query: "a \n b{x='~(*)!'}" },
    },
    secrets: secret === undefined ? {} : { "apps/login": secret },
    answers: [answer],
  });
}

const at = (address: string) => ({ address });
const failing = "Metric query failed for errors: ";

describe("a request to Prometheus", () => {
  test.each([
    ["http://prom.example.com:9090", "http://prom.example.com:9090/api/v1/query"],
    ["https://prom.example.com/a/b/", "https://prom.example.com/a/b/api/v1/query"],
    ["http://prom.example.com/a/../b?x=y#z", "http://prom.example.com/b/api/v1/query"],
  ])("has a path below %s", async (address, url) => {
    const { check, requests } = ask(at(address), vector("1"));
    await check();
    expect(requests.map((request) => request.url)).toEqual([`${url}?query=a+b%7Bx%3D%27~%28%2A%29%21%27%7D`]);
  });

  test("has the headers of the provider, and the login of its Secret", async () => {
    const provider = { ...at("http://prom.example.com"), headers: { "X-Scope-OrgID": ["a", "b"] } };
    const headersFor = async (secret: Readonly<Record<string, string>>) => {
      const { check, requests } = ask(provider, vector("1"), secret);
      await check();
      return requests[0]?.headers;
    };
    const own = { "x-scope-orgid": "a, b" };
    expect(await headersFor({ token: "t", username: "u", password: "p" })).toEqual({
      ...own,
      authorization: "Bearer t",
    });
    expect(await headersFor({ username: "u", password: "p" })).toEqual({ ...own, authorization: "Basic dTpw" });
    expect(await headersFor({ username: "u", password: "" })).toEqual(own);
  });

  test("uses a login from the address, and does not show its password", async () => {
    const error = new HttpError("unreachable", "GET http://prom.example.com/api/v1/query: no");
    const { check, requests } = ask(at("http://u:p%40ss@prom.example.com"), { error });
    expect(await check()).toBe(
      `${failing}request failed: Get "http://u:***@prom.example.com/api/v1/query?query=a+b%7Bx%3D%27~%28%2A%29%21%27%7D": no`,
    );
    expect(requests[0]?.headers).toEqual({ authorization: `Basic ${Buffer.from("u:p@ss").toString("base64")}` });
    expect(requests[0]?.url).toMatch(/^http:\/\/prom\.example\.com\/api/);
  });

  test("uses a login from the address even if its bytes are not UTF-8", async () => {
    const { check, requests } = ask(at("http://u:%ff%C3%BC@prom.example.com"), vector("1"));
    expect(await check()).toBe("passed");
    const login = Buffer.concat([Buffer.from("u:"), Buffer.from([0xff, 0xc3, 0xbc])]);
    expect(requests[0]?.headers).toEqual({ authorization: `Basic ${login.toString("base64")}` });
  });

  test.each([
    { headers: { "X Scope": ["a"] }, fault: 'net/http: invalid header field name "x scope"' },
    { headers: { "X-Scope": ["a\nb"] }, fault: 'net/http: invalid header field value for "X-Scope"' },
    { secret: { token: "with its line feed\n" }, fault: 'net/http: invalid header field value for "Authorization"' },
  ])("is not sent with an invalid header, and the check fails: $fault", async ({ fault, headers, secret }) => {
    const { check, requests } = ask(
      { ...at("http://prom.example.com"), ...(headers && { headers }) },
      vector("1"),
      secret,
    );
    expect(await check()).toBe(
      `${failing}request failed: Get "http://prom.example.com/api/v1/query?query=a+b%7Bx%3D%27~%28%2A%29%21%27%7D": ${fault}`,
    );
    expect(requests).toEqual([]);
  });

  test("leaves out headers that the client sets itself, and sends values in UTF-8", async () => {
    const headers = { Host: ["other"], "Content-Length": ["5"], "X-Team": [" ü "] };
    const { check, requests } = ask({ ...at("http://prom.example.com"), headers }, vector("1"));
    await check();
    expect(requests[0]?.headers).toEqual({ "x-team": Buffer.from("ü").toString("latin1") });
  });

  test("skips verification of the certificate if the provider says so", async () => {
    const { check, requests } = ask({ ...at("https://prom.example.com"), insecureSkipVerify: true }, vector("1"));
    await check();
    expect(requests[0]?.tls).toEqual({ insecure: true });
  });
});

describe("the value of an answer of Prometheus", () => {
  const valueOf = async (answer: ScriptedAnswer): Promise<unknown> => {
    const { check, values } = ask(at("http://prom.example.com"), answer);
    const text = await check();
    return text === "passed" ? values[0]?.[1] : text.replace(failing, "");
  };
  const none = "Halt advancement no values found for custom metric: errors: no values found";

  test.each([
    ["of one series", vector("1.5"), 1.5],
    ["of several series is that of the last", vector("1", "2"), 2],
    ["in the future is accepted", { body: '{"data":{"result":[{"value":[9999999999,"3"]}]}}' }, 3],
    ["that is not a text is skipped", { body: '{"data":{"result":[{"value":[1,"1"]},{"value":[1,2]}]}}' }, 1],
    ["that is not a number at the end", vector("1", "NaN"), none],
    ["that is infinite", vector("+Inf"), Number.POSITIVE_INFINITY],
    ["of no series", vector(), none],
    ["without data", { body: "{}" }, none],
    ["that is null", { body: "null" }, none],
    ["without a value", { body: '{"data":{"result":[{"metric":{}}]}}' }, none],
    [
      "of a range",
      { body: '{"data":{"resultType":"matrix","result":[{"values":[[1,"1"]]}]}}' },
      "query returned multiple values",
    ],
    ["that cannot be parsed", vector("x"), 'strconv.ParseFloat: parsing "x": invalid syntax'],
    ["of an error", { status: 400, body: "bad query" }, "error response: Status 400 Bad Request: bad query"],
  ])("%s", async (_title, answer, value) => {
    expect(await valueOf(answer)).toBe(value);
  });

  test.each([["<html>"], [""], ['{"data":{"result":[1,"1"]}}'], ["[]"]])("cannot be read from %j", async (body) => {
    expect(await valueOf({ body })).toMatch(/^error unmarshaling result: .*, '/s);
  });

  test("is quoted up to a limit", async () => {
    expect(String(await valueOf({ status: 500, body: "x".repeat(100_000) })).length).toBeLessThan(1_200);
  });

  test("is not read if it is too long", async () => {
    const error = new HttpError("too-large", "GET http://prom.example.com/api/v1/query: the answer is too long");
    expect(await valueOf({ error })).toBe("error reading body: the answer is too long");
  });
});
