import { describe, expect, test } from "vitest";
import { file, seenSources } from "../seen-sources.ts";
import { ociRepository } from "../source-world.ts";

const { world, url, condition } = seenSources();

function proxySecret(data: Readonly<Record<string, string>>) {
  const encoded = Object.entries(data).map(([key, text]) => [key, btoa(text)]);
  const metadata = { name: "proxy", namespace: "apps" };
  world().apply({ apiVersion: "v1", kind: "Secret", metadata, data: Object.fromEntries(encoded) });
}

const proxySecretRef = { name: "proxy" };

describe("the proxy of an OCIRepository", () => {
  test("carries every request, with the login of the proxy", async () => {
    await world().push("latest", file);
    proxySecret({ address: "http://proxy.example.com:3128", username: "jane", password: "hunter2" });
    const { http } = world().deps;
    const send = http.send.bind(http);
    http.send = ({ proxy: _proxy, ...request }, signal) => {
      world().sent.push({ ...request, proxy: _proxy });
      return send(request, signal);
    };
    world().apply(ociRepository("app", { url: url(), proxySecretRef }));
    await world().run();
    expect(condition("app", "Ready")).toMatchObject({ status: "True" });
    const through = world().sent.filter(({ proxy }) => proxy !== undefined);
    expect(through.length).toBeGreaterThan(3);
    expect(through.length * 2, "each request is seen twice: with its proxy, and sent without").toBe(
      world().sent.length,
    );
    const [first] = through;
    const login = [first?.proxy?.url.href, first?.proxy?.username, first?.proxy?.password?.reveal()];
    expect(login).toEqual(["http://proxy.example.com:3128/", "jane", "hunter2"]);
  });

  test.each([
    [undefined, "secret 'apps/proxy' not found"],
    [{}, "secret 'apps/proxy': key 'address' not found"],
    [
      { address: "ftp://x" },
      "secret 'apps/proxy': proxy URL must use one of the supported schemes (http, https, socks5), got 'ftp'",
    ],
  ])("11.1/29: %j is refused, and no request is sent", async (data, why) => {
    if (data !== undefined) proxySecret(data);
    world().apply(ociRepository("app", { url: url(), proxySecretRef }));
    await world().run();
    const message = `failed to get proxy address: ${why}`;
    for (const type of ["FetchFailed", "Ready"]) {
      expect(condition("app", type)).toMatchObject({ reason: "AuthenticationFailed", message });
    }
    expect(world().sent).toEqual([]);
  });
});
