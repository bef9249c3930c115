import { describe, expect, test } from "vitest";
import { type Http, HttpError, type HttpRequest } from "../../../lib/core/ports/http.ts";
import type { ServiceAddress } from "../../../lib/core/ports/service-proxy.ts";
import { type InClusterRules, inClusterHttp, serviceOf } from "../../../lib/in-cluster/in-cluster-http.ts";

const { signal } = new AbortController();
const address = "http://alertmanager.monitoring.svc:9093/api/v2/alerts/";

/** A Provider in namespace `apps`, and what was sent to Services and elsewhere. */
function world(rules: Partial<InClusterRules> = {}) {
  const inside: { readonly service: ServiceAddress; readonly request: HttpRequest }[] = [];
  const outside: string[] = [];
  const plain: Http = {
    async send({ url }) {
      outside.push(url);
      return { url, status: 200, headers: {}, body: Buffer.from("outside") };
    },
  };
  const services: InClusterRules["services"] = {
    async send(service, request) {
      inside.push({ service, request });
      return { url: request.url, status: 200, headers: {}, body: Buffer.from("inside") };
    },
  };
  const http = inClusterHttp(plain, {
    ...{ services, namespaces: ["monitoring"], own: "apps", setting: "notification-service-namespaces" },
    ...rules,
  });
  const send = (change: Partial<HttpRequest> = {}) =>
    http.send({ method: "POST", url: address, timeoutMs: 1_000, maxBytes: 1_000, ...change }, signal);
  const faultOf = (change: Partial<HttpRequest>): Promise<string> =>
    send(change).then(
      () => "",
      (error: unknown) => (error instanceof HttpError ? `${error.reason}: ${error.message}` : String(error)),
    );
  return { inside, outside, send, faultOf };
}

describe("an address of a Provider", () => {
  test.each([
    ["http://alertmanager.monitoring.svc:9093/api", ["http", "monitoring", "alertmanager", 9093]],
    ["http://alertmanager.monitoring.svc.cluster.local:9093", ["http", "monitoring", "alertmanager", 9093]],
    ["http://hook.apps.svc.cluster.local./", ["http", "apps", "hook", 80]],
    ["https://hook.apps.svc?a=b", ["https", "apps", "hook", 443]],
    ["HTTP://Hook.Apps.SVC/", ["http", "apps", "hook", 80]],
  ])("%s names a Service of the cluster", (url, [scheme, namespace, name, port]) => {
    expect(serviceOf(url)).toEqual({ scheme, namespace, name, port });
  });

  test.each([
    "http://alertmanager.monitoring",
    "http://svc",
    "http://monitoring.svc",
    "http://pod.alertmanager.monitoring.svc",
    "http://alertmanager.monitoring.svc.example.com",
    "http://alertmanager.monitoring.svc.cluster.local.example.com",
    "http://-a.monitoring.svc",
    "http://a_b.monitoring.svc",
    `http://${"a".repeat(64)}.monitoring.svc`,
    "ftp://alertmanager.monitoring.svc",
    "https://example.com/?http://alertmanager.monitoring.svc",
    "alertmanager.monitoring.svc",
  ])("%s names no Service", (url) => {
    expect(serviceOf(url)).toBeUndefined();
  });
});

describe("a request of a Provider", () => {
  test("to a Service of a listed namespace goes through the API server", async () => {
    const { inside, outside, send } = world();
    const { body } = await send({ headers: { "content-type": "application/json", "x-api-key": "k" } });
    expect(Buffer.from(body).toString()).toBe("inside");
    expect(inside).toMatchObject([
      {
        service: { scheme: "http", namespace: "monitoring", name: "alertmanager", port: 9093 },
        request: { method: "POST", url: address, headers: { "content-type": "application/json", "x-api-key": "k" } },
      },
    ]);
    expect(outside).toEqual([]);
  });

  test("to a Service of its own namespace does too, if any namespace is listed", async () => {
    const { inside, send } = world();
    await send({ url: "http://hook.apps.svc/" });
    expect(inside.map(({ service }) => service.namespace)).toEqual(["apps"]);
  });

  test("to a Service of another namespace is refused and not sent", async () => {
    const { inside, outside, faultOf } = world();
    expect(await faultOf({ url: "http://hook.other.svc/path?token=t" })).toBe(
      "refused: POST http://hook.other.svc/path: the installation's setting notification-service-namespaces does not list namespace other",
    );
    expect([...inside, ...outside]).toEqual([]);
  });

  test.each([{ namespaces: [] }, { services: undefined }])(
    "to a Service goes directly if the setting is empty or the cluster has no proxy: %j",
    async (rules) => {
      const { inside, outside, send } = world(rules);
      await send({ url: "http://hook.apps.svc/" });
      expect([inside, outside]).toEqual([[], ["http://hook.apps.svc/"]]);
    },
  );

  test("to a host that is not a Service, or through the Provider's proxy, does not go through the API server", async () => {
    const { inside, outside, send } = world();
    await send({ url: "https://hooks.example.com/" });
    await send({ proxy: { url: new URL("http://proxy.example.com:3128") } });
    expect([inside, outside]).toEqual([[], ["https://hooks.example.com/", address]]);
  });

  test.each([
    { headers: { Authorization: "Bearer t" } },
    { headers: { authorization: "Basic dTpw" } },
    { url: "http://u:p@alertmanager.monitoring.svc:9093/" },
  ])("with a login is refused, because the API server would read it as its own: %j", async (change) => {
    const { inside, faultOf } = world();
    expect(await faultOf(change)).toContain("which takes the header Authorization for itself");
    expect(inside).toEqual([]);
  });

  test.each(["Impersonate-User", "impersonate-extra-scopes", "X-Remote-User", "sec-websocket-protocol"])(
    "with the header %s, which could impersonate a user, is refused",
    async (name) => {
      const { inside, faultOf } = world();
      expect(await faultOf({ headers: { [name]: "admin" } })).toContain(`takes the header ${name} for itself`);
      expect(inside).toEqual([]);
    },
  );

  test.each([{ ca: "pem" }, { cert: "pem", key: "pem" }])("with certificates is refused: %j", async (tls) => {
    const { inside, faultOf } = world();
    expect(await faultOf({ tls })).toContain("uses no certificates of a Provider: leave out certSecretRef");
    expect(inside).toEqual([]);
  });

  test("loses the headers of its connection", async () => {
    const { inside, send } = world();
    await send({
      headers: { Connection: "upgrade", upgrade: "websocket", "Proxy-Authorization": "p", host: "x", a: "b" },
    });
    expect(inside.map(({ request }) => request.headers)).toEqual([{ a: "b" }]);
  });

  test.each(["a/%2e%2e%2f..%2fsecrets", "..%2fsecrets", "%2E%2E%5Csecrets", "a%2f.%2fb", "%ff"])(
    "with a path that could leave the Service is refused: %s",
    async (path) => {
      const { inside, faultOf } = world();
      expect(await faultOf({ url: `http://hook.apps.svc/${path}` })).toContain("the path must not have a segment");
      expect(inside).toEqual([]);
    },
  );
});
