import { createServer, type IncomingMessage, request as send, type ServerResponse } from "node:http";
import { join } from "node:path";
import { silentLog } from "../../doubles/silent-log.ts";
import { serveGit } from "../../../local/demo/git-http-backend.ts";
import { startRegistry } from "../../../local/registry/start-registry.ts";
import { closeServer } from "../../doubles/close-server.ts";
import { type GitRepository, gitRepository } from "../../doubles/git-server.ts";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";
import { etagOf, type S3Server, s3Server } from "../../doubles/s3-server.ts";
import { tlsFront } from "../../doubles/tls-front.ts";

/** Every login of the scenarios. */
export const user = "golden";
export const password = "golden-password";
const login = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
const written = "Thu, 01 Jan 2026 00:00:00 GMT";

/** What a path of the HTTP server answers. */
export type Answer = string | Uint8Array | ((request: IncomingMessage, response: ServerResponse) => void);

/** The origins that both sides read from: `127.0.0.1:PORT` each. */
export interface SourceHosts {
  /** Files by path. Those below `/closed/` need the login. */
  readonly http: string;
  readonly https: string;
  readonly registry: string;
  readonly secureRegistry: string;
  /** The same, for the login only. */
  readonly closedRegistry: string;
  readonly git: string;
  readonly s3: string;
  readonly files: Map<string, Answer>;
  readonly buckets: S3Server["buckets"];
  /** The repository at `/NAME.git`, made if there is none; those named `closed-…` need the login. */
  readonly repository: (name: string) => Promise<GitRepository>;
}

/** @param open ends them */
export async function sourceHosts(folder: string, open: AsyncDisposableStack): Promise<SourceHosts> {
  const files = new Map<string, Answer>();
  const pages = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://here");
    if (pathname.startsWith("/closed/") && request.headers.authorization !== login) return refuse(response);
    const found = files.get(pathname);
    if (found === undefined) return void response.writeHead(404).end();
    if (typeof found === "function") return found(request, response);
    response.end(found);
  });
  const http = `127.0.0.1:${await portOnLoopback(pages)}`;
  open.defer(() => closeServer(pages));
  const https = open.use(await tlsFront(http)).address;
  const started = await startRegistry({
    folder: join(folder, "registry"),
    port: 0,
    log: silentLog,
    onPush: () => undefined,
  });
  open.defer(() => started.close());
  const registry = started.address;
  const closed = createServer((request, response) =>
    request.headers.authorization === login ? forward(registry, request, response) : refuse(response),
  );
  const closedRegistry = `127.0.0.1:${await portOnLoopback(closed)}`;
  open.defer(() => closeServer(closed));
  const secureRegistry = open.use(await tlsFront(registry)).address;
  const { git, repository } = await gitHost(open);
  const s3 = open.use(await s3Server());
  s3.accessKeyId = user;
  s3.instead = (request, response) => answerHead(s3, request, response);
  return {
    ...{ http, https, registry, secureRegistry, closedRegistry, git, s3: s3.endpoint },
    ...{ files, buckets: s3.buckets, repository },
  };
}

function refuse(response: ServerResponse): void {
  response.writeHead(401, { "www-authenticate": 'Basic realm="golden"' }).end();
}

function forward(to: string, request: IncomingMessage, response: ServerResponse): void {
  const [host = "", port = ""] = to.split(":");
  const onward = send({ host, port, method: request.method, path: request.url, headers: request.headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.pipe(response);
  });
  onward.on("error", () => response.destroy());
  request.pipe(onward);
}

async function gitHost(open: AsyncDisposableStack) {
  const repositories = new Map<string, Promise<GitRepository>>();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [, name = "", rest = ""] = /^\/([^/]+)\.git(\/.*)$/.exec(request.url ?? "") ?? [];
    const found = await repositories.get(name);
    if (found === undefined) return void response.writeHead(404).end();
    if (name.startsWith("closed-") && request.headers.authorization !== login) return refuse(response);
    request.url = `/repository.git${rest}`;
    serveGit(found.root, request, response);
  };
  const server = createServer((request, response) => void answer(request, response));
  const git = `127.0.0.1:${await portOnLoopback(server)}`;
  open.defer(() => closeServer(server));
  const repository = async (name: string): Promise<GitRepository> => {
    const made = repositories.get(name) ?? gitRepository().then((one) => open.use(one));
    repositories.set(name, made);
    return made;
  };
  return { git, repository };
}

/** What minio's client asks before it downloads an object. */
function answerHead({ buckets }: S3Server, request: IncomingMessage, response: ServerResponse): boolean {
  const { pathname, search } = new URL(request.url ?? "/", "http://s3");
  const [, bucket = "", ...rest] = pathname.split("/").map(decodeURIComponent);
  const bytes = buckets.get(bucket)?.get(rest.join("/"));
  const isLoggedIn = request.headers.authorization?.includes(`Credential=${user}/`) === true;
  if (request.method === "HEAD" && rest.join("/") !== "" && bytes === undefined && isLoggedIn) {
    response.writeHead(404).end();
    return true;
  }
  if (bytes === undefined || search !== "" || !isLoggedIn) return false;
  const headers = { etag: `"${etagOf(bytes)}"`, "last-modified": written, "content-length": bytes.length };
  response.writeHead(200, headers).end(request.method === "HEAD" ? undefined : bytes);
  return true;
}
