import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Secret } from "../../../lib/core/secret.ts";
import { apiClient } from "../../../lib/kube/api-client.ts";
import type { ExecPlugin, TokenSource, UserConfig } from "../../../lib/kube/cluster-config.ts";
import { credentials } from "../../../lib/kube/credentials.ts";
import { expiryOfJwt } from "../../../lib/kube/kubeconfig.ts";
import { apiDeps, configOf, fakeApi, sendJson } from "./fake-api.ts";

const { signal } = new AbortController();
const apiVersion = "client.authentication.k8s.io/v1";
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-credentials-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

/** A credential plugin that counts its calls in a file and prints what the test says. */
async function plugin(script: string): Promise<{ readonly plugin: ExecPlugin; readonly calls: () => Promise<number> }> {
  const name = join(folder, `plugin-${crypto.randomUUID()}`);
  await writeFile(name, `echo >>"${name}.calls"\n${script}\n`);
  return {
    // By the shell: a file that another process of this machine has just inherited for writing cannot be executed itself.
    plugin: { apiVersion, command: "/bin/sh", args: [name], env: {}, installHint: undefined, cluster: undefined },
    calls: async () => (await readFile(`${name}.calls`, "utf8")).length,
  };
}

function printing(status: object): string {
  return `echo '${JSON.stringify({ apiVersion, kind: "ExecCredential", status })}'`;
}

function userOf(token: TokenSource): UserConfig {
  return { name: "u", certificate: undefined, token, impersonate: undefined };
}

const env = { PATH: process.env["PATH"] };

describe("a credential plugin", () => {
  test("runs once for concurrent requests, and again shortly before its credential expires", async () => {
    const { plugin: login, calls } = await plugin(
      printing({ token: "t", expirationTimestamp: "2030-01-01T00:10:00Z" }),
    );
    let now = Date.parse("2030-01-01T00:00:00Z");
    const identity = credentials(userOf({ kind: "exec", plugin: login }), env, { now: () => now });
    const both = await Promise.all([identity.current(signal), identity.current(signal)]);
    expect(both.map(({ headers }) => headers["authorization"])).toEqual(["Bearer t", "Bearer t"]);
    now += 9 * 60_000;
    await identity.current(signal);
    expect(await calls()).toBe(1);
    now += 31_000;
    await identity.current(signal);
    expect(await calls()).toBe(2);
  });

  test("gets the environment that Kubernetes defines, its own and Sluice's", async () => {
    const { plugin: login } = await plugin(
      `printf '{"apiVersion":"${apiVersion}","kind":"ExecCredential","status":{"token":"%s/%s/%s"}}' "$OURS" "$THEIRS" "$(echo "$KUBERNETES_EXEC_INFO" | tr -d '"')"`,
    );
    const source = { ...login, env: { THEIRS: "b" }, cluster: { server: "https://a" } };
    const identity = credentials(userOf({ kind: "exec", plugin: source }), { ...env, OURS: "a" }, apiDeps.clock);
    const { headers } = await identity.current(signal);
    expect(headers["authorization"]).toBe(
      `Bearer a/b/{kind:ExecCredential,apiVersion:${apiVersion},spec:{interactive:false,cluster:{server:https://a}}}`,
    );
  });

  test("may print a certificate", async () => {
    const { plugin: login } = await plugin(printing({ clientCertificateData: "CERT", clientKeyData: "KEY" }));
    const { certificate } = await credentials(userOf({ kind: "exec", plugin: login }), env, apiDeps.clock).current(
      signal,
    );
    expect([certificate?.cert, certificate?.key.reveal()]).toEqual(["CERT", "KEY"]);
  });

  test("whose credentials are refused runs once more", async () => {
    const { plugin: login, calls } = await plugin(printing({ token: "t" }));
    await using api = await fakeApi((_, response) => {
      sendJson(response, 401, { kind: "Status", code: 401, reason: "Unauthorized", message: "Unauthorized" });
    });
    const config = configOf(api.url, { user: userOf({ kind: "exec", plugin: login }) });
    const client = apiClient(config, { ...apiDeps, env });
    const request = { verb: "get", method: "GET", path: "/", repeatable: true } as const;
    await expect(client.send(request, signal)).rejects.toMatchObject({
      code: 401,
      reason: "Unauthorized",
      message: expect.stringMatching(/does not take the credential of u, nor a new one: Unauthorized; check that/),
    });
    expect(await calls()).toBe(2);
    client.close();
  });

  test("that still runs is stopped when the client is closed, so that the process can end", async () => {
    const { plugin: login } = await plugin("exec sleep 600");
    const client = apiClient(
      configOf(new URL("http://127.0.0.1:1"), { user: userOf({ kind: "exec", plugin: login }) }),
      {
        ...apiDeps,
        env,
      },
    );
    const asked = client.send({ verb: "get", method: "GET", path: "/", repeatable: true }, signal);
    client.close();
    await expect(asked).rejects.toMatchObject({
      reason: "Unauthorized",
      message: "credential plugin /bin/sh was stopped",
    });
  });

  test("that is missing is named with the hint in the kubeconfig", async () => {
    const missing = {
      ...(await plugin("")).plugin,
      command: join(folder, "no-such-plugin"),
      installHint: "Install it!\n",
    };
    const identity = credentials(userOf({ kind: "exec", plugin: missing }), env, apiDeps.clock);
    await expect(identity.current(signal)).rejects.toMatchObject({
      reason: "Unauthorized",
      message: `credential plugin ${missing.command} not found: Install it!`,
    });
  });

  test("that the system refuses to start is named, without its command line", async () => {
    const { plugin: login } = await plugin("");
    const tooLong = { ...login, args: [...login.args, "secret-token".repeat(200_000)] };
    const current = credentials(userOf({ kind: "exec", plugin: tooLong }), env, apiDeps.clock).current(signal);
    await expect(current).rejects.toMatchObject({
      reason: "Unauthorized",
      message: "credential plugin /bin/sh cannot be started: E2BIG",
    });
  });

  test.each([
    [
      "fails",
      "echo 'first' >&2; echo 'session expired, log in again' >&2; exit 3",
      "ended with code 3: session expired, log in again",
    ],
    ["prints no JSON", "echo secret-token", "its output is not JSON"],
    ["prints something else", "echo '{}'", "its kind is not ExecCredential"],
    [
      "speaks another version",
      `echo '{"kind":"ExecCredential","apiVersion":"v0"}'`,
      `its apiVersion is not ${apiVersion}`,
    ],
    ["prints nothing", printing({}), "it has neither a token nor a client certificate"],
    [
      "prints an invalid time",
      printing({ token: "t", expirationTimestamp: "soon" }),
      "its expirationTimestamp is not a time",
    ],
  ])("that %s is named, without its output", async (_, script, reason) => {
    const { plugin: login } = await plugin(script);
    const error = await credentials(userOf({ kind: "exec", plugin: login }), env, apiDeps.clock)
      .current(signal)
      .catch((thrown: unknown) => thrown);
    expect(String(error)).toContain(`credential plugin ${login.command}`);
    expect(String(error)).toContain(reason);
    expect(String(error)).not.toContain("secret-token");
  });
});

describe("a supplied token", () => {
  const request = { verb: "get", method: "GET", path: "/", repeatable: true } as const;

  test("is renewed in time, and once when it is refused during a run", async () => {
    let made = 0;
    let now = 0;
    let valid = "Bearer t1";
    const supply = async () => ({ token: new Secret(`t${++made}`), renewAt: now + 600_000 });
    await using api = await fakeApi((incoming, response) => {
      sendJson(response, incoming.headers.authorization === valid ? 200 : 401, {});
    });
    const user = userOf({ kind: "supplied", supply });
    const client = apiClient(configOf(api.url, { user }), { env, clock: { ...apiDeps.clock, now: () => now } });
    await client.send(request, signal);
    now = 599_999;
    await client.send(request, signal);
    expect(made).toBe(1);
    valid = "Bearer t2";
    now = 600_000;
    await client.send(request, signal);
    expect(made).toBe(2);
    valid = "Bearer t3";
    await client.send(request, signal);
    expect(made).toBe(3);
    valid = "Bearer of somebody else";
    await expect(client.send(request, signal)).rejects.toMatchObject({ code: 401, reason: "Unauthorized" });
    expect(made).toBe(4);
    client.close();
  });

  test("that cannot be supplied is reported with the reason", async () => {
    const supply = async () => {
      throw new Error("the AWS credentials have expired");
    };
    await expect(
      credentials(userOf({ kind: "supplied", supply }), env, apiDeps.clock).current(signal),
    ).rejects.toMatchObject({
      reason: "Unauthorized",
      message: "no token for u: the AWS credentials have expired",
    });
  });
});

describe("a token file", () => {
  test("is read again after a minute, and at once if its token is refused", async () => {
    const path = join(folder, "token");
    let now = 0;
    const identity = credentials(userOf({ kind: "file", path }), {}, { now: () => now });
    const current = async () => (await identity.current(signal)).headers["authorization"];
    await writeFile(path, "one\n");
    expect(await current()).toBe("Bearer one");
    await writeFile(path, "two\n");
    expect(await current()).toBe("Bearer one");
    now = 60_000;
    expect(await current()).toBe("Bearer two");
    await writeFile(path, "three\n");
    expect(identity.renew()).toBe(true);
    expect(await current()).toBe("Bearer three");
  });

  test("that is missing is named", async () => {
    const path = join(folder, "no-token");
    const identity = credentials(userOf({ kind: "file", path }), {}, apiDeps.clock);
    await expect(identity.current(signal)).rejects.toThrow(`token file ${path} cannot be read`);
  });
});

describe("a token", () => {
  test("that is refused is not sent again", () => {
    expect(credentials(userOf({ kind: "token", token: new Secret("t") }), {}, apiDeps.clock).renew()).toBe(false);
  });

  test.each([
    ["a web token with an end", `a.${Buffer.from('{"exp":1}').toString("base64url")}.b`, new Date(1000)],
    ["a web token without an end", `a.${Buffer.from("{}").toString("base64url")}.b`, undefined],
    ["three words", "a.b.c", undefined],
    ["one word", "k8s-aws-v1", undefined],
  ])("in the format of %s expires at its stated time", (_, token, expected) => {
    expect(expiryOfJwt(token)).toEqual(expected);
  });
});
