import { describe, expect, test } from "vitest";
import { maxAddress, type NotificationProviderSpec } from "../../../lib/api/notification-provider.ts";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import type { ProviderClass } from "../../../lib/notify/admits.ts";
import { maxHeadersChars, readSettings } from "../../../lib/notify/read-settings.ts";
import { pem } from "../../doubles/pem.ts";

const certificate = await pem("client.crt");
const ca = await pem("server.crt");

/** The settings of a Provider with these Secrets, as texts by their names. */
async function settings(
  spec: Partial<NotificationProviderSpec>,
  secrets: Readonly<Record<string, Readonly<Record<string, string>>>> = {},
  of: ProviderClass = "generic",
) {
  const hidden: string[] = [];
  const get: Cluster["get"] = async ({ name, namespace }) => {
    const values = secrets[name];
    if (values === undefined) return undefined;
    const data = Object.entries(values).map(([key, text]) => [key, Buffer.from(text).toString("base64")]);
    const metadata = { name, namespace, uid: "u" };
    return { apiVersion: "v1", kind: "Secret", metadata, data: Object.fromEntries(data) };
  };
  const provider = { name: "p", namespace: "n", uid: "u-1", spec: { type: "generic", ...spec } as const };
  const parts = { home: { get }, hide: (value: string) => void hidden.push(value), class: of };
  return { hidden, ...(await readSettings(provider, parts, new AbortController().signal)) };
}
const secretRef = { name: "login" };
const withLogin = (login: Readonly<Record<string, string>>, of?: ProviderClass) =>
  settings({ secretRef }, { login }, of);

describe("the settings of a Provider", () => {
  test("without Secrets come from its spec", async () => {
    const given = { address: "http://a", channel: "#c", username: "u" };
    expect(await settings(given)).toMatchObject({ ...given, type: "generic", name: "p", token: "", headers: {} });
  });

  test("54: prefer the address of the Secret over that of the spec, trimmed, even if it is empty", async () => {
    const spec = { secretRef, address: "http://spec" };
    const found = async (address: string) => (await settings(spec, { login: { address } })).address;
    expect([await found(" http://secret\n"), await found("")]).toEqual(["http://secret", ""]);
  });

  test("54: with an address of more than 2048 bytes are refused", async () => {
    const characters = (count: number) => withLogin({ address: "é".repeat(count) });
    expect((await characters(maxAddress / 2)).address).toHaveLength(maxAddress / 2);
    await expect(characters(maxAddress / 2 + 1)).rejects.toThrow(
      `invalid address in secret: address exceeds maximum length of ${maxAddress} bytes`,
    );
  });

  test("54: prefer the proxy of proxySecretRef, then that of the Secret, then that of the spec", async () => {
    const spec = { secretRef, proxy: "http://spec:1" };
    const hostOf = async (...given: Parameters<typeof settings>) => (await settings(...given)).proxy?.url.host;
    const login = { proxy: " http://login:2 " };
    const proxySecretRef = { name: "proxy" };
    expect(await hostOf(spec, { login: {} })).toBe("spec:1");
    expect(await hostOf(spec, { login })).toBe("login:2");
    expect(await hostOf({ ...spec, proxySecretRef }, { login, proxy: { address: "socks5://proxy:3" } })).toBe(
      "proxy:3",
    );
  });

  test("take a proxy's login from its Secret, or from its address", async () => {
    const proxySecretRef = { name: "proxy" };
    const found = async (proxy: Readonly<Record<string, string>>) => {
      const { proxy: made } = await settings({ proxySecretRef }, { proxy });
      return [made?.username, made?.password?.reveal()];
    };
    expect(await found({ address: "http://p:1", username: "u", password: "w" })).toEqual(["u", "w"]);
    expect(await found({ address: "http://u:w%20x@p:1" })).toEqual(["u", "w x"]);
  });

  test.each([
    [{}, "failed to get proxy URL: secret 'n/proxy': key 'address' not found"],
    [{ address: "" }, "failed to get proxy URL: secret 'n/proxy': proxy address is empty"],
    [
      { address: "ftp://p" },
      "failed to get proxy URL: secret 'n/proxy': proxy URL must use one of the supported schemes (http, https, socks5), got 'ftp'",
    ],
  ])("with the proxy %o are refused", async (proxy, text) => {
    await expect(settings({ proxySecretRef: { name: "proxy" } }, { proxy })).rejects.toThrow(text);
  });

  test("keep the token unchanged, and prefer the name in the Secret over that of the spec", async () => {
    const login = { token: " t\n", username: "own", password: "w" };
    expect(await settings({ secretRef, username: "spec" }, { login })).toMatchObject(login);
  });

  test("have no login if the Secret has only a username or only a password", async () => {
    const login = { token: "t", password: "w", headers: "a: b" };
    expect(await settings({ secretRef, username: "spec" }, { login })).toMatchObject({
      ...{ token: "", password: "", username: "spec" },
      headers: { a: "b" },
    });
    await expect(withLogin(login, "commit-status")).rejects.toThrow(
      "failed to get TLS config: secret 'n/login': malformed basic auth - has 'password' but missing 'username'",
    );
  });

  test("have headers up to a limit", async () => {
    const headers = (count: number) => withLogin({ headers: `a: ${"b".repeat(count - 3)}` });
    expect(Object.keys((await headers(maxHeadersChars)).headers)).toEqual(["a"]);
    await expect(headers(maxHeadersChars + 1)).rejects.toThrow(
      "failed to read headers from secret: they have more than 65536 characters",
    );
  });

  test("may have texts, numbers and booleans as headers", async () => {
    const headers = "x-text: a\nx-number: 7\nx-float: 1.5\nx-yes: yes\nx-nothing:\n";
    expect((await withLogin({ headers })).headers).toEqual({
      "x-text": "a",
      "x-number": "7",
      "x-float": "1.5",
      "x-yes": "true",
      "x-nothing": "",
    });
  });

  test.each([["- a"], ["a: [b]"], ["a: {b: c}"], ["a: 'b"]])(
    "with the headers %j are refused without quoting them",
    async (headers) => {
      await expect(withLogin({ headers })).rejects.toThrow(
        /^failed to read headers from secret: it is not (YAML|a mapping of names to texts)$/,
      );
    },
  );

  test("mask every value of every Secret, and each header", async () => {
    const { hidden } = await settings(
      { secretRef, proxySecretRef: { name: "proxy" } },
      { login: { token: "t-1", headers: "a: b-1" }, proxy: { address: "http://p:1", password: "w-1" } },
    );
    expect(hidden).toEqual(["t-1", "a: b-1", "b-1", "http://p:1", "w-1"]);
  });

  test.each(["secretRef", "certSecretRef", "proxySecretRef"] as const)(
    "with a %s to a missing Secret are refused",
    async (field) => {
      await expect(settings({ [field]: { name: "none" } })).rejects.toThrow(
        "failed to get secret 'n/none': secrets \"none\" not found",
      );
    },
  );

  test("use the GitHub App of the Secret", async () => {
    const login = { githubAppID: "7", githubAppPrivateKey: "key", githubAppInstallationOwner: "o" };
    const made = await withLogin(login);
    expect(made.githubApp).toEqual({ appId: "7", privateKey: "key", installationOwner: "o" });
    expect(made.secret).toEqual(login);
  });
});

describe("the certificates of a Provider", () => {
  const certSecretRef = { name: "tls" };

  test("69: without their key, or a key without certificate, are refused", async () => {
    await expect(settings({ certSecretRef }, { tls: { "tls.crt": certificate } })).rejects.toThrow(
      "failed to get TLS config: secret 'n/tls' contains 'tls.crt' but missing 'tls.key'",
    );
    await expect(settings({ certSecretRef }, { tls: { unrelated: "x" } })).rejects.toThrow(
      "failed to get TLS config: secret 'n/tls' must contain either 'ca.crt' or both 'tls.crt' and 'tls.key'",
    );
  });

  test("69: a CA replaces the system's CAs, also if it is in the login Secret of a git host", async () => {
    expect((await settings({ certSecretRef }, { tls: { "ca.crt": ca } })).tls).toEqual({ ca, isCaAlone: true });
    expect((await withLogin({ token: "t", "ca.crt": ca }, "commit-status")).tls).toEqual({ ca, isCaAlone: true });
    expect((await withLogin({ token: "t", "ca.crt": ca })).tls).toBeUndefined();
  });

  test("in the login Secret of a git host may be incomplete, but must be parsable", async () => {
    expect((await withLogin({ token: "t", "tls.crt": certificate }, "commit-status")).tls).toBeUndefined();
    await expect(withLogin({ token: "t", "ca.crt": "none" }, "commit-status")).rejects.toThrow(
      "failed to get TLS config: failed to parse CA certificate",
    );
  });
});
