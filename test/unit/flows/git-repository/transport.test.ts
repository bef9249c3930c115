import { createServer } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { homeNetwork } from "../../../../lib/core/network/network-policy.ts";
import { Secret } from "../../../../lib/core/secret.ts";
import type { AccessSpec } from "../../../../lib/flows/git-repository/credentials.ts";
import { gitTransport } from "../../../../lib/flows/git-repository/transport.ts";
import { dialer } from "../../../../lib/http/dial.ts";
import { httpClient } from "../../../../lib/http/http-client.ts";
import { defaultGitLimits } from "../../../../lib/sources/git/git-remote.ts";
import type { SshAlgorithms } from "../../../../lib/sources/git/ssh-transport.ts";
import { portOnLoopback } from "../../../doubles/port-on-loopback.ts";
import { newSshKey, sshServer } from "../../../doubles/ssh-server.ts";
import { secretContext } from "./secret-context.ts";

const http = httpClient({ network: homeNetwork });
const never = new AbortController().signal;
/** Headers of the requests that came: it answers none of them as git does. */
const asked: (string | undefined)[] = [];
const server = createServer((request, response) => {
  asked.push(request.headers.authorization);
  response.writeHead(401).end("hunter2");
});
let port: number;
beforeAll(async () => {
  port = await portOnLoopback(server);
});
afterAll(() => {
  http.close();
  server.close();
});

const connections = {
  http,
  dial: dialer({ network: homeNetwork }),
  logins: { github: () => Promise.resolve(new Secret("ghs_token")), aws: undefined },
};

async function open(
  url: string,
  spec: AccessSpec,
  secrets: Parameters<typeof secretContext>[0] = {},
  sshAlgorithms: SshAlgorithms = {},
) {
  const { run, ...ctx } = secretContext(secrets);
  const key = { cluster: "c", group: "", kind: "GitRepository", namespace: "apps", name: "app" };
  const context = { ...ctx, run: { ...run, key } };
  return gitTransport(url, spec, defaultGitLimits, { ...connections, sshAlgorithms }, context);
}

/** The header of the first request for the repository. */
async function loginOf(spec: AccessSpec, login: Readonly<Record<string, string>>, userinfo = "") {
  const transport = await open(`http://${userinfo}127.0.0.1:${port}/app.git`, spec, { login });
  await expect(transport.greet(never)).rejects.toMatchObject({ reason: "authentication" });
  expect(transport.url).toBe(`http://127.0.0.1:${port}/app.git`);
  const header = asked.at(-1);
  return header?.startsWith("Basic ") === true ? Buffer.from(header.slice(6), "base64").toString() : header;
}

const secretRef = { name: "login" };

describe("GitRepository over HTTP", () => {
  test.each([
    ["basic", { secretRef }, { username: "jane", password: "pässword" }, "", "jane:pässword"],
    ["bearer", { secretRef }, { bearerToken: "token" }, "", "Bearer token"],
    ["the URL's own", {}, {}, "jane:p%40ss@", "jane:p@ss"],
    ["none", {}, {}, "", undefined],
    [
      "a GitHub App's, not the Secret's",
      { secretRef, provider: "github" } as const,
      { username: "jane", password: "x", githubAppID: "1", githubAppPrivateKey: "k", githubAppInstallationID: "2" },
      "",
      "x-access-token:ghs_token",
    ],
  ])("the login is %s", async (_what, spec, login, userinfo, header) => {
    expect(await loginOf(spec, login, userinfo)).toBe(header);
  });

  test("a token together with a login in the URL is refused with Flux's text, without showing either", async () => {
    const opened = open(
      `http://jane:hunter2@127.0.0.1:${port}/app.git`,
      { secretRef },
      { login: { bearerToken: "t" } },
    );
    await expect(opened).rejects.toMatchObject({
      reason: "GitOperationFailed",
      message: "failed to checkout and determine revision: basic auth and bearer token cannot be set at the same time",
    });
  });

  test("a rotated Secret is read again by the next run", async () => {
    expect(await loginOf({ secretRef }, { username: "jane", password: "old" })).toBe("jane:old");
    expect(await loginOf({ secretRef }, { username: "jane", password: "new" })).toBe("jane:new");
  });

  test("no error text contains a credential", async () => {
    const spec = { secretRef };
    const login = { username: "jane", password: "hunter2" };
    const transport = await open(`http://jane:hunter2@127.0.0.1:${port}/app.git`, spec, { login });
    const fault: unknown = await transport.greet(never).catch((error: unknown) => error);
    expect(String(fault)).not.toMatch(/hunter2|jane/);
    expect(String(fault instanceof Error ? fault.cause : "")).not.toMatch(/hunter2|jane/);
  });
});

test("a certificate without its key fails the connection before any request", async () => {
  const login = { "tls.crt": "x", "tls.key": "y" };
  const transport = await open(`https://127.0.0.1:${port}/app.git`, { secretRef }, { login });
  const fault = { reason: "tls", message: "tls: failed to find any PEM data in certificate input" };
  await expect(transport.greet(never)).rejects.toMatchObject(fault);
  await expect(transport.send(new Uint8Array(), 2, never)).rejects.toMatchObject(fault);
});

describe("GitRepository over SSH", async () => {
  const [hostKey, key] = await Promise.all([newSshKey(), newSshKey()]);
  const run = (_command: string, channel: { exit(code: number): void; end(text: string): void }) => {
    channel.exit(0);
    channel.end("hello");
  };

  test("logs in with the Secret's key, to a host that its known_hosts lists", async () => {
    await using host = await sshServer({ hostKey, user: { name: "git", key }, run });
    const login = { identity: key.getPrivatePEM(), known_hosts: host.knownHosts };
    await using transport = await open(`ssh://git@127.0.0.1:${host.port}/app.git`, { secretRef }, { login });
    const { value } = await (await transport.greet(never)).next();
    expect(Buffer.from(value instanceof Uint8Array ? value : []).toString()).toBe("hello");
  });

  test("offers a host only the algorithms that the installation allows", async () => {
    await using host = await sshServer({ hostKey, user: { name: "git", key }, run });
    const login = { identity: key.getPrivatePEM(), known_hosts: host.knownHosts };
    const chosen = { kex: ["diffie-hellman-group1-sha1"] } as const;
    await using transport = await open(`ssh://git@127.0.0.1:${host.port}/app.git`, { secretRef }, { login }, chosen);
    await expect(transport.greet(never)).rejects.toThrow("no common algorithm for key exchange");
  });

  test.each([
    [{ identity: "hunter2" }, "ssh: no key found"],
    [{ known_hosts: "hunter2" }, "knownhosts: knownhosts: missing host pattern"],
  ])("reports a connection error as Flux's client does: %j", async (change, why) => {
    const login = { identity: key.getPrivatePEM(), known_hosts: "# none", ...change };
    await expect(open("ssh://git@127.0.0.1/app.git", { secretRef }, { login })).rejects.toMatchObject({
      reason: "GitOperationFailed",
      message: `failed to checkout and determine revision: unable to construct auth method with options: ${why}`,
    });
  });

  test("provider aws is refused, because CodeCommit logins need an HTTPS URL", async () => {
    const login = { identity: key.getPrivatePEM(), known_hosts: "# none" };
    await expect(
      open("ssh://git-codecommit.eu-west-1.amazonaws.com/v1/repos/app", { secretRef, provider: "aws" }, { login }),
    ).rejects.toMatchObject({
      reason: "AuthenticationFailed",
      message: "failed to configure authentication options: AWS CodeCommit authentication requires an HTTPS Git URL",
    });
  });
});
