import { spawn, spawnSync } from "node:child_process";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";

/** The folder of git's own programs; undefined where there is no git with `http-backend`. */
export const gitPrograms: string | undefined = findPrograms();

function findPrograms(): string | undefined {
  const { status, stdout } = spawnSync("git", ["--exec-path"], { encoding: "utf8" });
  if (status !== 0) return undefined;
  const folder = stdout.trim();
  return spawnSync(join(folder, "git-http-backend"), { env: {} }).error === undefined ? folder : undefined;
}

/** The environment of git's programs: without the configuration of the user who runs them. */
export const gitEnvironment = {
  PATH: process.env["PATH"] ?? "",
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
} as const;

/**
 * Answers a request by one run of `git http-backend`, which is a CGI program, for the repositories in a folder.
 *
 * @param version 0: answers in the first version of the protocol, whatever is asked for
 */
export function serveGit(root: string, request: IncomingMessage, response: ServerResponse, version?: 0): void {
  const { pathname, search } = new URL(request.url ?? "/", "http://git");
  const { headers } = request;
  const child = spawn(join(gitPrograms ?? "", "git-http-backend"), {
    env: {
      ...gitEnvironment,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      PATH_INFO: decodeURIComponent(pathname),
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: request.method ?? "GET",
      CONTENT_TYPE: headers["content-type"] ?? "",
      CONTENT_LENGTH: headers["content-length"] ?? "",
      HTTP_CONTENT_ENCODING: headers["content-encoding"] ?? "",
      ...(version === 0 ? {} : { GIT_PROTOCOL: headers["git-protocol"]?.toString() ?? "" }),
      REMOTE_ADDR: "127.0.0.1",
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
  response.once("close", () => child.kill());
  child.stdin.on("error", () => undefined);
  request.pipe(child.stdin);
  let head = Buffer.alloc(0);
  const readHead = (chunk: Buffer): void => {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf("\r\n\r\n");
    if (end === -1) return;
    child.stdout.off("data", readHead);
    let status = 200;
    for (const line of head.toString("latin1", 0, end).split("\r\n")) {
      const [, name = "", value = ""] = /^([^:]+): *(.*)$/.exec(line) ?? [];
      if (name.toLowerCase() === "status") status = Number.parseInt(value, 10);
      else response.setHeader(name, value);
    }
    response.writeHead(status);
    response.write(head.subarray(end + 4));
    child.stdout.pipe(response);
  };
  child.stdout.on("data", readHead);
}
