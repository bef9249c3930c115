import { execFile, spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { json } from "node:stream/consumers";
import { promisify } from "node:util";
import { z } from "zod";
import { gitEnvironment, serveGit } from "../../local/demo/git-http-backend.ts";
import { closeServer } from "./close-server.ts";
import { portOnLoopback } from "./port-on-loopback.ts";
import { newSshKey, type RunCommand, sshServer } from "./ssh-server.ts";

const run = promisify(execFile);

/** A repository with what the host knows of it. */
export interface HostedRepository {
  isPrivate: boolean;
  readonly keys: { title: string; key: string; isReadOnly: boolean }[];
  readonly hooks: { url: string; secret: string }[];
  readonly teams: Map<string, unknown>;
}

/** Requests that the API refuses: status and body by `POST repos/acme/fleet/keys`. */
export type Refusals = Map<string, { readonly status: number; readonly body: unknown }>;

/** A host of git repositories on loopback: real git behind HTTP and ssh, with the few requests of the APIs of GitHub and GitLab that bootstrap makes. */
export interface Hosting extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`. */
  readonly origin: string;
  /** `127.0.0.1:PORT`. */
  readonly ssh: string;
  /** The only token that it takes, of the user `jane` in the organization `acme`. */
  readonly token: string;
  /** By `owner/name`. */
  readonly repositories: Map<string, HostedRepository>;
  /** The requests to the API, as `POST repos/acme/fleet/keys`, in their order. */
  readonly asked: string[];
  readonly refusals: Refusals;
  /** Runs git in the bare repository. */
  git(repository: string, ...args: readonly string[]): Promise<string>;
  create(repository: string, options: { readonly isPrivate: boolean; readonly branch?: string }): Promise<void>;
  /** Commits a file to a branch, as another user. No webhook is called. */
  commit(repository: string, path: string, text: string, branch?: string): Promise<void>;
  /** Has every push to it declined with these words, as a protected branch. */
  protect(repository: string, words: string): Promise<void>;
  unprotect(repository: string): Promise<void>;
  /** Runs once, before the next push begins: another user is faster. */
  beforePush: (() => Promise<void>) | undefined;
}

/** GitLab's groups by their IDs; the first is the user. */
const groups = ["jane", "acme", "ops", "acme/platform"];
const Json = z.record(z.string(), z.unknown());
const CreatedKey = z.object({
  title: z.string(),
  key: z.string(),
  read_only: z.boolean().optional(),
  can_push: z.boolean().optional(),
});
const CreatedHook = z.object({
  url: z.string().optional(),
  token: z.string().optional(),
  config: z.object({ url: z.string(), secret: z.string() }).optional(),
});

export async function hosting(): Promise<Hosting> {
  const root = await mkdtemp(join(tmpdir(), "sluice-test-hosting-"));
  const token = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
  const repositories: Hosting["repositories"] = new Map();
  const asked: string[] = [];
  const refusals: Refusals = new Map();
  const folderOf = (repository: string): string => join(root, `${repository}.git`);
  const git = async (repository: string, ...args: readonly string[]): Promise<string> =>
    (await run("git", [...args], { cwd: folderOf(repository), env: gitEnvironment })).stdout.trim();

  const create: Hosting["create"] = async (repository, { isPrivate, branch = "main" }) => {
    await mkdir(folderOf(repository), { recursive: true });
    await git(repository, "init", "--quiet", "--bare", `--initial-branch=${branch}`);
    await git(repository, "config", "http.receivepack", "true");
    repositories.set(repository, { isPrivate, keys: [], hooks: [], teams: new Map() });
  };

  /** Calls each webhook about a push to `main`, as the host does. */
  const announce = async (repository: string): Promise<void> => {
    const after = await git(repository, "rev-parse", "main");
    const body = JSON.stringify({ ref: "refs/heads/main", after, repository: { full_name: repository } });
    for (const { url, secret } of repositories.get(repository)?.hooks ?? []) {
      const signature = createHmac("sha256", secret).update(body).digest("hex");
      const headers = {
        "content-type": "application/json",
        "x-github-event": "push",
        "x-hub-signature-256": `sha256=${signature}`,
        "x-gitlab-event": "Push Hook",
        "x-gitlab-token": secret,
      };
      await fetch(url, { method: "POST", headers, body });
    }
  };

  const api = async (method: string, path: string, body: Readonly<Record<string, unknown>>) => {
    const notFound = { status: 404, body: { message: "Not Found" } };
    const [, ofProject] = /^projects\/([^/]+)/.exec(path) ?? [];
    const [, ofRepo] = /^repos\/([^/]+\/[^/]+)/.exec(path) ?? [];
    const name = ofRepo ?? (ofProject === undefined ? undefined : decodeURIComponent(ofProject));
    const rest = path.replace(/^(?:repos\/[^/]+\/[^/]+|projects\/[^/]+)/, "");
    const isGitLab = ofProject !== undefined;
    if (path === "user") return { status: 200, body: { login: "jane", username: "jane" } };
    const [, org] = /^orgs\/([^/]+)\/repos$/.exec(path) ?? [];
    if (path === "user/repos" || org !== undefined || path === "projects") {
      const isPrivate = body["private"] === true || body["visibility"] === "private";
      const owner = org ?? groups[Number(body["namespace_id"] ?? 0)] ?? "";
      await create(`${owner}/${String(body["name"])}`, { isPrivate });
      return { status: 201, body: { private: isPrivate, visibility: isPrivate ? "private" : "public" } };
    }
    const [, group] = /^groups\/(.+)$/.exec(path) ?? [];
    const id = groups.indexOf(decodeURIComponent(group ?? ""));
    if (group !== undefined) return id > 0 ? { status: 200, body: { id } } : notFound;
    const [, team, ofTeam] = /^orgs\/[^/]+\/teams\/([^/]+)\/repos\/(.+)$/.exec(path) ?? [];
    const repository = repositories.get(ofTeam ?? name ?? "");
    if (repository === undefined) return notFound;
    if (team !== undefined) {
      if (method === "GET") return repository.teams.has(team) ? { status: 204, body: undefined } : notFound;
      repository.teams.set(team, body["permission"]);
      return { status: 204, body: undefined };
    }
    if (rest === "/share") {
      repository.teams.set(String(body["group_id"]), body["group_access"]);
      return { status: 201, body: {} };
    }
    if (rest === "") {
      if (method !== "GET") repository.isPrivate = body["private"] === true || body["visibility"] === "private";
      const { isPrivate, teams } = repository;
      const shared = [...teams.keys()].map((id) => ({ group_id: Number(id) }));
      const visibility = isPrivate ? "private" : "public";
      return { status: 200, body: { private: isPrivate, visibility, shared_with_groups: shared } };
    }
    if (rest === "/keys" || rest === "/deploy_keys") {
      if (method === "POST") {
        const { title, key, read_only, can_push } = CreatedKey.parse(body);
        repository.keys.push({ title, key, isReadOnly: isGitLab ? can_push !== true : read_only === true });
        return { status: 201, body: {} };
      }
      const keys = repository.keys.map(({ isReadOnly, ...key }) => ({
        ...{ ...key, read_only: isReadOnly, can_push: !isReadOnly },
      }));
      return { status: 200, body: keys };
    }
    if (rest === "/hooks") {
      if (method === "POST") {
        const { url = "", token: secret = "", config = { url, secret } } = CreatedHook.parse(body);
        repository.hooks.push(config);
        return { status: 201, body: {} };
      }
      const hooks = repository.hooks.map(({ url }) => ({ url, push_events: true, active: true, config: { url } }));
      return { status: 200, body: hooks };
    }
    return notFound;
  };

  const answerApi = async (request: IncomingMessage, response: ServerResponse, path: string): Promise<void> => {
    const { method = "GET", headers } = request;
    const isKnown = headers.authorization === `Bearer ${token}` || headers["private-token"] === token;
    const sent = method === "GET" ? {} : Json.parse(await json(request));
    asked.push(`${method} ${path}`);
    const refused = isKnown
      ? refusals.get(`${method} ${path}`)
      : { status: 401, body: { message: `Bad credentials ${headers.authorization ?? ""}` } };
    const { status, body } = refused ?? (await api(method, path, sent));
    response.writeHead(status, { "content-type": "application/json" });
    response.end(body === undefined ? undefined : JSON.stringify(body));
  };

  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://host");
    const [, path] = /^\/api\/v[34]\/(.+)$/.exec(pathname) ?? [];
    if (path !== undefined) {
      answerApi(request, response, path).catch(() => response.destroy());
      return;
    }
    const [, repository = ""] = /^\/(.+)\.git\//.exec(pathname) ?? [];
    const login = Buffer.from(request.headers.authorization?.replace(/^Basic /, "") ?? "", "base64").toString();
    const mayRead = login.endsWith(`:${token}`) || repositories.get(repository)?.isPrivate === false;
    if (!mayRead) {
      response.writeHead(401, { "www-authenticate": "Basic realm=git" }).end();
      return;
    }
    if (!repositories.has(repository)) {
      response.writeHead(404).end();
      return;
    }
    if (pathname.endsWith("/git-receive-pack")) {
      response.once("finish", () => {
        announce(repository).catch(() => undefined);
      });
    }
    const isPush = request.url?.endsWith("service=git-receive-pack") === true;
    const faster = isPush ? host.beforePush : undefined;
    if (isPush) host.beforePush = undefined;
    (faster?.() ?? Promise.resolve()).then(
      () => serveGit(root, request, response),
      () => response.destroy(),
    );
  });

  const runGit: RunCommand = (command, channel, env) => {
    const [, service = "", path = ""] = /^(git-upload-pack|git-receive-pack) '\/?(.+)'$/.exec(command) ?? [];
    const folder = folderOf(path.replace(/\.git$/, ""));
    if (service === "" || !existsSync(folder)) {
      channel.exit(128);
      channel.end();
      return;
    }
    const protocol = env.get("GIT_PROTOCOL");
    const child = spawn(service, [folder], {
      env: { ...gitEnvironment, ...(protocol === undefined ? {} : { GIT_PROTOCOL: protocol }) },
      stdio: ["pipe", "pipe", "ignore"],
    });
    channel.pipe(child.stdin);
    child.stdin.on("error", () => undefined);
    child.stdout.pipe(channel, { end: false });
    child.once("close", (code) => {
      channel.exit(code ?? 1);
      channel.end();
    });
  };
  const knows = (publicKey: Buffer): boolean =>
    [...repositories.values()].some(({ keys }) =>
      keys.some(({ key }) => key.split(" ")[1] === publicKey.toString("base64")),
    );
  const ssh = await sshServer({
    ...{ hostKey: await newSshKey(), user: { name: "git", key: await newSshKey() } },
    ...{ knows, run: runGit },
  });
  const port = await portOnLoopback(server);
  const hook = (repository: string): string => join(folderOf(repository), "hooks/pre-receive");

  const host: Hosting = {
    beforePush: undefined,
    origin: `http://127.0.0.1:${port}`,
    ssh: `127.0.0.1:${ssh.port}`,
    ...{ token, repositories, asked, refusals, git, create },
    async commit(repository, path, text, branch = "main") {
      const work = await mkdtemp(join(tmpdir(), "sluice-test-work-"));
      const env = { ...gitEnvironment, GIT_AUTHOR_NAME: "B", GIT_AUTHOR_EMAIL: "b@example.com" };
      const committer = { GIT_COMMITTER_NAME: "B", GIT_COMMITTER_EMAIL: "b@example.com" };
      const inWork = (...args: readonly string[]) =>
        run("git", [...args], { cwd: work, env: { ...env, ...committer } });
      try {
        await inWork("clone", "--quiet", folderOf(repository), ".");
        await inWork("checkout", "--quiet", "-B", branch);
        await mkdir(dirname(join(work, path)), { recursive: true });
        await writeFile(join(work, path), text);
        await inWork("add", "--all");
        await inWork("commit", "--quiet", "--message", `change ${path}`);
        await inWork("push", "--quiet", "origin", branch);
      } finally {
        await rm(work, { recursive: true, force: true });
      }
    },
    async protect(repository, words) {
      await mkdir(join(folderOf(repository), "hooks"), { recursive: true });
      await writeFile(hook(repository), `#!/bin/sh\necho '${words}' >&2\nexit 1\n`);
      await chmod(hook(repository), 0o755);
    },
    unprotect: (repository) => rm(hook(repository)),
    async [Symbol.asyncDispose]() {
      await closeServer(server);
      await ssh[Symbol.asyncDispose]();
      await rm(root, { recursive: true, force: true });
    },
  };
  return host;
}
