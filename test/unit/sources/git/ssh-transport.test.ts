import { createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { homeNetwork, networkPolicy } from "../../../../lib/core/network/network-policy.ts";
import { dialer } from "../../../../lib/http/dial.ts";
import type { GitBytes, GitTransport } from "../../../../lib/sources/git/git-transport.ts";
import { knownHostKeys } from "../../../../lib/sources/git/known-hosts.ts";
import { type SshAccess, sshTransport } from "../../../../lib/sources/git/ssh-transport.ts";
import { portOnLoopback } from "../../../doubles/port-on-loopback.ts";
import { newSshKey, type RunCommand, type SshServerOptions, sshServer } from "../../../doubles/ssh-server.ts";

const [hostKey, otherHostKey, key, otherKey] = await Promise.all([newSshKey(), newSshKey(), newSshKey(), newSshKey()]);
const user = { name: "git", key };
const never = new AbortController().signal;

async function serverAnd(
  options: Partial<SshServerOptions>,
  access: Partial<SshAccess> = {},
  path = "/team/app.git",
  login = "",
) {
  const server = await sshServer({ hostKey, user, ...options });
  const transport = sshTransport(
    {
      url: new URL(`ssh://${login}127.0.0.1:${server.port}${path}`),
      key,
      hostKeys: knownHostKeys(server.knownHosts, { host: "127.0.0.1", port: server.port }),
      ...access,
    },
    dialer({ network: homeNetwork }),
  );
  return {
    server,
    transport,
    async [Symbol.asyncDispose]() {
      await transport[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** All that is said until the end, or the fault that ends it. */
async function rest(bytes: GitBytes): Promise<string> {
  let text = "";
  for (;;) {
    const { done, value } = await bytes.next();
    if (done === true) return text;
    text += Buffer.from(value).toString();
  }
}

async function next(bytes: GitBytes): Promise<string> {
  const { done, value } = await bytes.next();
  return done === true ? "the end" : Buffer.from(value).toString();
}

const faultOf = (transport: GitTransport, signal = never) =>
  transport
    .greet(signal)
    .then(rest, (error: unknown) => error)
    .catch((error: unknown) => error);

test("the client offers no key exchange in which the server chooses the prime", async () => {
  const offered = Promise.withResolvers<string>();
  const server = createServer((socket) => {
    let said = "";
    socket.on("error", () => undefined);
    socket.write("SSH-2.0-test\r\n");
    socket.on("data", (bytes) => {
      said += bytes.toString("latin1");
      // The last of the lists of algorithms has come.
      if (!/none.*none/s.test(said)) return;
      offered.resolve(said);
      socket.destroy();
    });
  });
  const port = await portOnLoopback(server);
  const access = {
    url: new URL(`ssh://127.0.0.1:${port}/app.git`),
    key,
    hostKeys: knownHostKeys("", { host: "x", port }),
  };
  await using transport = sshTransport(access, dialer({ network: homeNetwork }));
  expect(await faultOf(transport)).toBeInstanceOf(Error);
  expect(await offered.promise).toContain("diffie-hellman-group16-sha512");
  expect(await offered.promise).not.toContain("group-exchange");
  server.close();
});

describe("git over SSH", () => {
  test("runs git-upload-pack with the path quoted as git does, requests version 2, and answers in one channel", async () => {
    const ran: unknown[] = [];
    const run: RunCommand = (command, channel, env) => {
      ran.push(command, Object.fromEntries(env));
      channel.write("hello ");
      channel.on("data", (bytes: Buffer) => {
        channel.write(bytes.toString().toUpperCase());
        channel.exit(0);
        channel.end();
      });
    };
    await using both = await serverAnd({ run }, {}, "/it's%20team!/app.git");
    const greeting = await both.transport.greet(never);
    expect(await next(greeting)).toBe("hello ");
    const answer = await both.transport.send(Buffer.from("done"), 2, never);
    expect(answer).toBe(greeting);
    expect(await rest(answer)).toBe("DONE");
    expect(ran).toEqual([String.raw`git-upload-pack '/it'\''s team'\!'/app.git'`, { GIT_PROTOCOL: "version=2" }]);
  });

  test("greets again in a new channel of the same connection, and dispose closes the connection", async () => {
    let count = 0;
    const run: RunCommand = (_command, channel) => {
      count++;
      channel.write(`greeting ${count}`);
    };
    const both = await serverAnd({ run });
    for (const wanted of ["greeting 1", "greeting 2"]) {
      const greeting = await both.transport.greet(never);
      expect(await next(greeting)).toBe(wanted);
    }
    expect(both.server.connections()).toBe(1);
    await both.transport[Symbol.asyncDispose]();
    await expect.poll(() => both.server.connections()).toBe(0);
    await both.server[Symbol.asyncDispose]();
  });

  test("passes on everything that the server sends, in order, with back-pressure", async () => {
    const line = `${"x".repeat(65_535)}\n`;
    const run: RunCommand = (_command, channel) => {
      channel.write(line.repeat(100), () => {
        channel.exit(0);
        channel.end();
      });
    };
    await using both = await serverAnd({ run });
    expect((await rest(await both.transport.greet(never))).length).toBe(100 * line.length);
  });

  test("logs in as the user of the URL", async () => {
    const run: RunCommand = (_command, channel) => {
      channel.exit(0);
      channel.end("in");
    };
    await using both = await serverAnd({ run, user: { name: "APKA 1", key } }, {}, "/app.git", "APKA%201@");
    expect(await rest(await both.transport.greet(never))).toBe("in");
  });
});

describe("an SSH failure is reported without credentials and without the server's text:", () => {
  test.each([
    ["a path in a home folder", "/~me/app.git", "git-upload-pack '~me/app.git'"],
    ["a path with an invalid escape", "/a%zz", "git-upload-pack '/a%zz'"],
  ])("%s is passed on as git does", async (_what, path, command) => {
    let ran = "";
    const run: RunCommand = (asked, channel) => {
      ran = asked;
      channel.exit(0);
      channel.end();
    };
    await using both = await serverAnd({ run }, {}, path);
    await rest(await both.transport.greet(never));
    expect(ran).toBe(command);
  });

  test("a changed host key", async () => {
    await using both = await serverAnd({ hostKey: otherHostKey });
    const hostKeys = knownHostKeys(
      `[127.0.0.1]:${both.server.port} ${hostKey.type} ${hostKey.getPublicSSH().toString("base64")}`,
      { host: "127.0.0.1", port: both.server.port },
    );
    await using changed = await serverAnd({ hostKey: otherHostKey }, { hostKeys });
    expect(await faultOf(changed.transport)).toMatchObject({
      reason: "host-key",
      message: "ssh: handshake failed: knownhosts: key mismatch",
    });
  });

  test("a host that known_hosts does not list", async () => {
    const hostKeys = knownHostKeys("", { host: "127.0.0.1", port: 22 });
    await using both = await serverAnd({}, { hostKeys });
    expect(await faultOf(both.transport)).toMatchObject({
      reason: "host-key",
      message: "ssh: handshake failed: knownhosts: key is unknown",
    });
  });

  test("a host without a key of a known type", async () => {
    const rsa = `127.0.0.1 ssh-rsa ${Buffer.from("\0\0\0\u0007ssh-rsa").toString("base64")}`;
    await using both = await serverAnd({}, { hostKeys: knownHostKeys(rsa, { host: "127.0.0.1", port: 22 }) });
    expect(await faultOf(both.transport)).toMatchObject({
      reason: "host-key",
      message: "ssh: handshake failed: ssh: no common algorithm for host key",
    });
  });

  test.each([
    ["no common key exchange", { kex: ["diffie-hellman-group1-sha1"] }, "protocol", "key exchange"],
    ["no common algorithm for its key", { hostKey: ["rsa-sha2-256"] }, "host-key", "host key"],
  ] as const)("a host that has %s", async (_what, algorithms, reason, missing) => {
    await using both = await serverAnd({}, { algorithms });
    const message = `ssh: handshake failed: ssh: no common algorithm for ${missing}`;
    expect(await faultOf(both.transport)).toMatchObject({ reason, message });
  });

  test.each([
    ["a wrong user", "other@", key],
    ["a key that the host rejects", "", otherKey],
  ])("%s", async (_what, login, own) => {
    await using both = await serverAnd({}, { key: own }, "/app.git", login);
    expect(await faultOf(both.transport)).toMatchObject({
      reason: "authentication",
      message:
        "ssh: handshake failed: ssh: unable to authenticate, attempted methods [none publickey], no supported methods remain",
    });
  });

  test("a server that refuses the command", async () => {
    await using both = await serverAnd({ run: undefined });
    expect(await faultOf(both.transport)).toMatchObject({
      reason: "authorization",
      message: "ssh: command git-upload-pack '/team/app.git' failed",
    });
  });

  test.each([
    ["ERROR: Repository not found.\n", "not-found", "repository not found"],
    ["remote: hunter2 is not welcome\n", "protocol", "git-upload-pack has ended with exit code 128"],
  ])("a command that fails with %j", async (said, reason, message) => {
    const run: RunCommand = (_command, channel) => {
      channel.stderr.write(said);
      channel.exit(128);
      channel.end();
    };
    await using both = await serverAnd({ run });
    expect(await faultOf(both.transport)).toMatchObject({ reason, message });
  });

  test.each([
    "ERROR: The key you are authenticating with has been marked as read only.\n",
    "ERROR: Permission to team/app.git denied to deploy key\n",
    "remote: ERROR: You are not allowed to push code to this project.\n",
  ])("a key without write access, by the host's text %j", async (said) => {
    const run: RunCommand = (command, channel) => {
      expect(command).toBe("git-receive-pack '/team/app.git'");
      channel.stderr.write(said);
      channel.exit(1);
      channel.end();
    };
    await using both = await serverAnd({ run }, { service: "git-receive-pack" });
    expect(await faultOf(both.transport)).toMatchObject({
      reason: "authorization",
      message: "authorization failed: the key may not write to the repository",
    });
  });

  test("a connection that is cut off", async () => {
    const run: RunCommand = (_command, channel) => void channel.write("PACK");
    await using both = await serverAnd({ run });
    const greeting = await both.transport.greet(never);
    await greeting.next();
    both.server.breakConnections();
    await expect(greeting.next()).rejects.toMatchObject({ reason: "protocol", message: "the connection broke off" });
  });

  test("a server that closes the channel without an exit code", async () => {
    const run: RunCommand = (_command, channel) => channel.close();
    await using both = await serverAnd({ run });
    expect(await faultOf(both.transport)).toMatchObject({ reason: "protocol", message: "the connection broke off" });
  });

  test("a server that is down", async () => {
    await using both = await serverAnd({}, { url: new URL("ssh://127.0.0.1:1/team/app.git") });
    expect(await faultOf(both.transport)).toMatchObject({
      reason: "unreachable",
      message: "dial tcp 127.0.0.1:1: connect: connection refused",
    });
  });

  test("an address that the network policy refuses, before a connection is opened", async () => {
    await using both = await serverAnd({});
    const access = { url: new URL(both.transport.url), key, hostKeys: knownHostKeys("", { host: "a", port: 22 }) };
    await using inFunctions = sshTransport(access, dialer({ network: networkPolicy({ allow: [] }, "functions") }));
    expect(await faultOf(inFunctions)).toMatchObject({
      reason: "refused",
      message: "127.0.0.1 is a loopback address: Sluice never connects there",
    });
    expect(both.server.connections()).toBe(0);
  });

  test("a URL without a repository", async () => {
    await using both = await serverAnd({}, {}, "/");
    expect(await faultOf(both.transport)).toMatchObject({ reason: "not-found" });
  });
});

describe("an abort of git over SSH", () => {
  test("stops the handshake with a silent server", async () => {
    await using both = await serverAnd({ isSilent: true });
    const abort = new AbortController();
    const fault = faultOf(both.transport, abort.signal);
    await expect.poll(() => both.server.connections()).toBe(1);
    abort.abort(new Error("late"));
    expect(await fault).toEqual(new Error("late"));
    await expect.poll(() => both.server.connections()).toBe(0);
  });

  test("stops a read from a hanging command", async () => {
    await using both = await serverAnd({ run: (_command, channel) => void channel.write("a") });
    const abort = new AbortController();
    const greeting = await both.transport.greet(abort.signal);
    await greeting.next();
    const waiting = greeting.next();
    abort.abort(new Error("late"));
    await expect(waiting).rejects.toThrow("late");
  });

  test("of an earlier request does not stop a later one", async () => {
    const run: RunCommand = (_command, channel) => {
      channel.write("a");
      channel.on("data", () => channel.write("b"));
    };
    await using both = await serverAnd({ run });
    const first = new AbortController();
    const greeting = await both.transport.greet(first.signal);
    await greeting.next();
    first.abort(new Error("late"));
    await both.transport.send(Buffer.from("go on"), 2, never);
    expect(await next(greeting)).toBe("b");
  });

  test("before the start throws its reason at once", async () => {
    await using both = await serverAnd({});
    expect(await faultOf(both.transport, AbortSignal.abort(new Error("late")))).toEqual(new Error("late"));
    expect(both.server.connections()).toBe(0);
  });
});
