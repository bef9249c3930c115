import type { IncomingMessage, ServerResponse } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Conditions } from "../../../lib/api/condition.ts";
import { isJsonObject, type JsonObject } from "../../../lib/core/json.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import type { Log } from "../../../lib/core/ports/log.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { writeLog } from "../../../lib/process/write-log.ts";
import { flushPkt, pktLine } from "../../../lib/sources/git/pkt-line.ts";
import { humanLog } from "../../../local/log-lines.ts";
import { type GitRepository, gitPrograms, gitRepository, gitServer } from "../../doubles/git-server.ts";
import { fakeApi } from "../../unit/kube/fake-api.ts";
import { type CliWorld, cliWorld } from "../cli-world.ts";

/** A title of the window, a cleared screen, colours by an 8-bit character, a turned direction and a new line by a separator. */
const sequences = "\u001b]0;owned\u0007\u001b[2J\u009b31m\u007f\u202e\u2028";
/** What of `sequences` is to be seen. */
const shown = String.raw`\u001b]0;owned\u0007\u001b[2J\u009b31m\u007f\u202e\u2028`;
const token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJodW50ZXIyIn0.aHVudGVyMg";
const hostile = `${sequences} ${token}`;
const unsafe = /(?![\t\n])[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

const { signal } = new AbortController();
const ending = new AsyncDisposableStack();
const namespace = "default";
const lines: string[] = [];
let world: CliWorld;

/** Both logs of `sluice local`, for people and for programs. */
function bothLogs(): Log {
  const write = (line: string): void => void lines.push(line);
  const [human, json] = [humanLog(write, { least: "debug", clock: systemClock }), writeLog(write, "debug")];
  const both =
    (level: keyof Log): Log["info"] =>
    (message, fields) => {
      human[level](message, fields);
      json[level](message, fields);
    };
  return { debug: both("debug"), info: both("info"), warn: both("warn"), error: both("error") };
}

function answerJson(response: ServerResponse, status: number, body: JsonObject): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

/** A server that answers everything with a failure in these words. */
async function failing(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<URL> {
  const server = ending.use(await fakeApi(answer));
  return server.url;
}

async function git(of: GitRepository, before?: Parameters<typeof gitServer>[1]): Promise<string> {
  return ending.use(await gitServer(of, before)).url;
}

const kinds = {
  GitRepository: "source.toolkit.fluxcd.io",
  OCIRepository: "source.toolkit.fluxcd.io",
  Kustomization: "kustomize.toolkit.fluxcd.io",
} as const;
type Kind = keyof typeof kinds;

async function write(kind: Kind, name: string, spec: JsonObject): Promise<void> {
  const manifest = { apiVersion: `${kinds[kind]}/v1`, kind, metadata: { name, namespace }, spec };
  await world.cluster.apply({ ...manifest }, { manager: "test", force: true }, signal);
}

const source = (name: string, url: string, branch: string): Promise<void> =>
  write("GitRepository", name, { interval: "1h", timeout: "20s", url, ref: { branch } });
const kustomization = (name: string, from: string, more: JsonObject = {}): Promise<void> =>
  write("Kustomization", name, {
    ...{ interval: "1h", retryInterval: "1h", timeout: "5s", prune: true, path: "./", targetNamespace: namespace },
    ...{ sourceRef: { kind: "GitRepository", name: from }, ...more },
  });

async function told(kind: Kind, name: string): Promise<readonly string[]> {
  const events = await world.cluster.list({ group: "", version: "v1", kind: "Event", namespace }, signal);
  const of = ({ involvedObject }: LiveObject): boolean =>
    isJsonObject(involvedObject) && involvedObject["kind"] === kind && involvedObject["name"] === name;
  const ref = { group: kinds[kind], version: "v1", kind, namespace, name };
  const status = (await world.cluster.get(ref, signal))?.["status"];
  const conditions = isJsonObject(status) ? Conditions.safeParse(status["conditions"]).data : [];
  return [
    ...(conditions ?? []).map(({ message }) => message),
    ...events.filter(of).map((event) => String(event["message"])),
  ];
}

/** Where a text of a tenant or a server comes in, the object that tells it, and what is told: only some servers are quoted. */
const sources: readonly (readonly [source: string, kind: Kind, name: string, says: string])[] = [
  ["the subject of a commit", "GitRepository", "subject", `stored artifact for commit '${shown.slice(0, 50)}...'`],
  ["spec.ref.branch", "GitRepository", "branch", `couldn't find remote ref "refs/heads/${shown}`],
  ["an error text of a git server", "GitRepository", "says", "the git server broke off with an error of its own"],
  ["an error text of a registry", "OCIRepository", "registry", "DENIED: "],
  ["spec.path", "Kustomization", "path", `kustomization path not found: stat ${shown}`],
  ["a path in a kustomization.yaml", "Kustomization", "build", "yaml: control characters are not allowed"],
  ["the name of an object", "Kustomization", "named", "kustomize build failed: "],
  ["an expression in CEL", "Kustomization", "cel", `failed to parse the CEL expression ''${shown}`],
  ["the server of a kubeconfig", "Kustomization", "server", shown],
];

/** JSON without any character that YAML does not take. */
function yamlOf(value: JsonObject): string {
  return JSON.stringify(value).replaceAll(/[^ -~]/g, (odd) => `\\u${odd.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

describe.skipIf(gitPrograms === undefined)("a text from outside", () => {
  beforeAll(async () => {
    world = await cliWorld({ log: bothLogs() });
    ending.defer(() => world.close());
    const repository = ending.use(await gitRepository());
    const named = (name: string) => ({
      "a.yaml": yamlOf({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } }),
    });
    await repository.commit(named("good"), "main", `${hostile} ok`);
    await repository.commit({ "kustomization.yaml": yamlOf({ resources: [hostile] }) }, "build");
    await repository.commit(named(hostile), "named");
    const url = await git(repository);
    await source("subject", url, "main");
    await source("branch", url, hostile);
    await source("odd-build", url, "build");
    await source("odd-name", url, "named");
    const says = await git(repository, {
      before: (_request, response) => {
        response.writeHead(200, { "content-type": "application/x-git-upload-pack-advertisement" });
        response.end(`${pktLine("# service=git-upload-pack\n")}${flushPkt}${pktLine(`ERR ${hostile}`)}${flushPkt}`);
      },
    });
    await source("says", says, "main");
    const registry = await failing((_request, response) =>
      answerJson(response, 403, { errors: [{ code: "DENIED", message: hostile }] }),
    );
    await write("OCIRepository", "registry", {
      ...{ interval: "1h", timeout: "20s", insecure: true, url: `oci://${registry.host}/app`, ref: { tag: "v1" } },
    });
    const server = await failing((_request, response) =>
      answerJson(response, 422, {
        kind: "Status",
        apiVersion: "v1",
        status: "Failure",
        reason: "Invalid",
        code: 422,
        message: hostile,
      }),
    );
    const context = { name: "c", context: { cluster: "c", user: "u" } };
    const kubeconfig = {
      ...{ apiVersion: "v1", kind: "Config", "current-context": "c", contexts: [context] },
      ...{ clusters: [{ name: "c", cluster: { server: server.href } }], users: [{ name: "u", user: { token: "x" } }] },
    };
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "remote", namespace } };
    const stringData = { value: JSON.stringify(kubeconfig) };
    await world.cluster.apply({ ...secret, stringData }, { manager: "test", force: true }, signal);
    await kustomization("path", "subject", { path: `./${hostile}` });
    await kustomization("build", "odd-build");
    await kustomization("named", "odd-name");
    const current = `'${hostile}`;
    await kustomization("cel", "subject", {
      wait: true,
      healthCheckExprs: [{ apiVersion: "v1", kind: "ConfigMap", current }],
    });
    await kustomization("server", "subject", { kubeConfig: { secretRef: { name: "remote" } } });
  });
  afterAll(() => ending.disposeAsync());

  test.each(sources)(
    "is reported without control characters and without its token: %s",
    async (_source, kind, name, says) => {
      await expect.poll(async () => (await told(kind, name)).join("\n")).toContain(says);
      for (const text of await told(kind, name)) {
        expect(text).not.toMatch(unsafe);
        expect(text).not.toContain(token);
      }
    },
  );

  test("is logged in the same way, for people and for programs", () => {
    const text = lines.join("");
    expect(text).toContain(shown);
    expect(lines.filter((line) => unsafe.test(line))).toEqual([]);
    expect(text).not.toContain(token);
  });

  test("is shown in the same way by each command that lists objects or events", async () => {
    for (const args of [["get", "sources", "git"], ["get", "kustomizations"], ["events"]]) {
      const { code, out, err } = await world.sh(...args, "-n", namespace);
      expect([code, err]).toEqual([0, ""]);
      expect(out).toContain(shown);
      expect(out).not.toMatch(unsafe);
      expect(out).not.toContain(token);
    }
  });
});
