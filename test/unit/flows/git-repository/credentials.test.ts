import { generateKeyPairSync } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ApiError } from "../../../../lib/core/ports/cluster.ts";
import { httpCredentials, loginSecret, sshCredentials } from "../../../../lib/flows/git-repository/credentials.ts";
import type { SecretContext } from "../../../../lib/flows/source/secrets.ts";
import { pem } from "../../../doubles/pem.ts";
import { secretContext } from "./secret-context.ts";

const secretRef = { name: "login" };
const failure = (work: Promise<unknown>) =>
  work.then(
    () => "nothing",
    (error: unknown) => error,
  );
const thrown = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return error;
  }
};
const https = new URL("https://git.example.com/app.git");
const key = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs1", format: "pem" });
const encrypted = await readFile(join(import.meta.dirname, "../../../fixtures/ssh/encrypted"), "utf8");

describe("the Secret of spec.secretRef", () => {
  test("a missing Secret fails with Flux's text, and the run retries (11.2/40)", async () => {
    expect(await failure(loginSecret({ secretRef }, secretContext({})))).toMatchObject({
      reason: "AuthenticationFailed",
      retry: "backoff",
      message: `failed to get secret 'apps/login': failed to get secret 'apps/login': secrets "login" not found`,
    });
  });

  test("without a reference no Secret is read", async () => {
    expect(await loginSecret({}, secretContext({}))).toBeUndefined();
  });

  test("a Secret that Sluice is forbidden to read is reported as forbidden", async () => {
    const forbidden = new ApiError({ code: 403, reason: "Forbidden", message: `secrets "login" is forbidden` });
    const ctx: SecretContext = { ...secretContext({}), home: { get: () => Promise.reject(forbidden) } };
    expect(await failure(loginSecret({ secretRef }, ctx))).toMatchObject({
      reason: "AuthenticationFailed",
      message: `failed to get secret 'apps/login': failed to get secret 'apps/login': secrets "login" is forbidden`,
    });
  });

  test("an empty Secret name counts as no reference", async () => {
    expect(await failure(loginSecret({ secretRef: { name: "" } }, secretContext({})))).toMatchObject({
      message: "failed to get secret 'apps/': failed to get secret 'apps/': resource name may not be empty",
    });
  });
});

describe("an HTTP login", () => {
  const read = (data: Record<string, string> | undefined, url = https) => {
    const { username, password, bearerToken } = httpCredentials(url, data && new Map(Object.entries(data)));
    return [username, password.reveal(), bearerToken?.reveal()];
  };
  const withLogin = new URL("https://jane:p%40ss@git.example.com/app.git");

  test.each([
    ["basic", { username: "jane", password: "hunter2" }, https, ["jane", "hunter2", undefined]],
    ["basic without password", { username: "token" }, https, ["token", "", undefined]],
    ["bearer", { bearerToken: "token" }, https, ["", "", "token"]],
    ["bearer wins over basic", { bearerToken: "t", username: "jane", password: "x" }, https, ["", "", "t"]],
    ["none", undefined, https, ["", "", undefined]],
    ["the URL's own", undefined, withLogin, ["jane", "p@ss", undefined]],
    ["the Secret's before the URL's", { username: "a", password: "b" }, withLogin, ["a", "b", undefined]],
    ["the login in the URL if the Secret has none", { username: "a" }, withLogin, ["a", "p@ss", undefined]],
    ["bearer beside the URL's", { bearerToken: "t" }, withLogin, ["jane", "p@ss", "t"]],
  ])("%s", (_what, data, url, login) => {
    expect(read(data, url)).toEqual(login);
  });

  const odd = "a@b:/%?#é +";
  test.each([
    [{ username: odd, password: odd }, ""],
    [{ username: odd }, `x:${encodeURIComponent(odd)}@`],
    [{ password: odd }, `${encodeURIComponent(odd)}:x@`],
    [undefined, `${encodeURIComponent(odd)}:${encodeURIComponent(odd)}@`],
  ])("with the Secret %j and a login '%s' in the URL sends the right Authorization header", (data, login) => {
    expect(read(data, new URL(`https://${login}git.example.com/app.git`))).toEqual([odd, odd, undefined]);
  });

  test.each(["http", "https"])("a password without a username is refused with the scheme in the text: %s", (scheme) => {
    expect(thrown(() => read({ password: "hunter2" }, new URL(`${scheme}://git.example.com`)))).toMatchObject({
      reason: "AuthenticationFailed",
      retry: "backoff",
      message: `failed to configure authentication options: invalid '${scheme}' auth option: 'password' requires 'username' to be set`,
    });
  });
});

describe("the CA and client certificate in the Secret", async () => {
  const trust = (data: Record<string, string>) => httpCredentials(https, new Map(Object.entries(data))).tls;
  const [ca, cert, certKey] = await Promise.all([pem("server.crt"), pem("client.crt"), pem("client.key")]);

  test("reads the CA from its current key, or from the deprecated one", () => {
    expect(trust({ "ca.crt": ca, caFile: cert })).toEqual({ ca });
    expect(trust({ "ca.crt": "", caFile: ca })).toEqual({ ca });
  });

  test("ignores a CA that cannot be parsed, as recorded from Flux", () => {
    expect(trust({ "ca.crt": "hunter2" })).toEqual({});
  });

  test("uses a client certificate only together with its key", () => {
    expect(trust({ "tls.crt": cert, "tls.key": certKey })).toEqual({ cert, key: certKey });
    expect(trust({ "tls.crt": cert })).toEqual({});
  });

  test.each([
    ["of another key", ca, certKey, "tls: private key does not match public key"],
    ["that is not PEM", "x", certKey, "tls: failed to find any PEM data in certificate input"],
    ["whose key is not PEM", ca, "y", "tls: failed to find any PEM data in key input"],
  ])(
    "a certificate %s fails the connection, and the message quotes neither certificate nor key",
    (_what, cert, itsKey, unusable) => {
      const secret = new Map(Object.entries({ "tls.crt": cert, "tls.key": itsKey }));
      expect(httpCredentials(new URL("https://git.example.test/app.git"), secret)).toMatchObject({ tls: {}, unusable });
    },
  );
});

describe("an SSH login", () => {
  const run = { key: { cluster: "home" }, signal: new AbortController().signal };
  const read = (data: Record<string, string> | undefined, its: typeof run = run) =>
    sshCredentials(data && new Map(Object.entries(data)), { secretRef }, { namespace: "apps", run: its });

  test("a run that is aborted does not blame the key", async () => {
    const ended = { ...run, signal: AbortSignal.abort(new Error("over")) };
    const data = { identity: encrypted, known_hosts: "x", password: "secret" };
    await expect(read(data, ended)).rejects.toThrow("over");
  });

  test.each([
    ["no Secret at all, 11.2/41", undefined, "identity"],
    ["no key", { known_hosts: "x" }, "identity"],
    ["no known hosts", { identity: key.toString() }, "known_hosts"],
  ])("%s", async (_what, data, missing) => {
    expect(await failure(read(data))).toMatchObject({
      reason: "AuthenticationFailed",
      retry: "backoff",
      message: expect.stringMatching(
        `^failed to configure authentication options: invalid 'ssh' auth option: '${missing}' is required; name a Secret `,
      ),
    });
  });

  test("an encrypted key without a password is refused, naming the Secret and the field (11.2/42)", async () => {
    expect(await failure(read({ identity: encrypted, known_hosts: "x" }))).toMatchObject({
      reason: "AuthenticationFailed",
      message: "SSH identity key is encrypted but no 'password' field was provided in the secret 'apps/login'",
    });
  });

  test("an encrypted key with its password works, and so does an unencrypted key", async () => {
    for (const data of [{ identity: encrypted, password: "secret" }, { identity: key.toString() }]) {
      expect(await read({ ...data, known_hosts: "x" })).toMatchObject({
        knownHosts: "x",
        key: { comment: expect.anything() },
      });
    }
  });

  test("a key that cannot be parsed fails only when connecting, as in Flux", async () => {
    expect((await read({ identity: "hunter2", known_hosts: "x" })).key).toEqual(new Error("ssh: no key found"));
  });
});
