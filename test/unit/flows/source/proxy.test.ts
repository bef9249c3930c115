import { describe, expect, test } from "vitest";
import { proxyOf } from "../../../../lib/flows/source/proxy.ts";
import { secretContext } from "../git-repository/secret-context.ts";

const failure = (work: Promise<unknown>) =>
  work.then(
    () => "nothing",
    (error: unknown) => error,
  );

describe("the proxy of spec.proxySecretRef", () => {
  const what = "failed to get proxy address";
  const proxySecretRef = { name: "proxy" };
  const read = (data: Record<string, string>) => proxyOf({ proxySecretRef }, what, secretContext({ proxy: data }));

  test.each([
    [{ address: "http://proxy.example.com:3128" }, "http://proxy.example.com:3128/", "", ""],
    [{ address: "https://jane:p%40ss@proxy.example.com" }, "https://proxy.example.com/", "jane", "p@ss"],
    [
      { address: "socks5://other:x@proxy.example.com:1080", username: "jane", password: "hunter2" },
      "socks5://proxy.example.com:1080",
      "jane",
      "hunter2",
    ],
    [{ address: "http://a%40b:p%3A%25@proxy.example.com" }, "http://proxy.example.com/", "a@b", "p:%"],
    [{ address: "http://a:b@proxy.example.com", username: "jane" }, "http://proxy.example.com/", "jane", ""],
    [{ address: "http://proxy.example.com", password: "alone" }, "http://proxy.example.com/", "", ""],
    [{ address: "socks5://[::1]:1080", username: "", password: "x" }, "socks5://[::1]:1080", "", "x"],
  ])("%j", async (data, url, username, password) => {
    const proxy = await read(data);
    expect([proxy?.url.href, proxy?.username, proxy?.password?.reveal()]).toEqual([url, username, password]);
    expect(JSON.stringify(proxy)).not.toContain(password || "nothing");
  });

  test.each([
    [{}, ": key 'address' not found"],
    [{ address: "" }, ": proxy address is empty"],
    [{ address: `http://${"a".repeat(2_048)}` }, ": proxy URL exceeds maximum length of 2048 characters"],
    [
      { address: "ftp://jane:hunter2@proxy.example.com" },
      ": proxy URL must use one of the supported schemes (http, https, socks5), got 'ftp'",
    ],
    [{ address: "http://jane:hunter2@:x" }, ": failed to parse proxy address: it is not a URL"],
    [{ address: "socks5:///a" }, ": failed to parse proxy address: it names no host"],
  ])("%j is refused without a password in the text (11.1/29)", async (data, why) => {
    expect(await failure(read(data))).toMatchObject({
      reason: "AuthenticationFailed",
      message: `${what}: secret 'apps/proxy'${why}`,
    });
  });

  test("a missing Secret fails the run", async () => {
    expect(await failure(proxyOf({ proxySecretRef }, what, secretContext({})))).toMatchObject({
      message: `${what}: secret 'apps/proxy' not found`,
    });
  });
});
