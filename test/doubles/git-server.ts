import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { gitEnvironment, serveGit } from "../../local/demo/git-http-backend.ts";
import { closeServer } from "./close-server.ts";
import { writeObject, writeTree } from "./loose-git-objects.ts";
import { portOnLoopback } from "./port-on-loopback.ts";

/** Tests that need git skip without it. */
export { gitPrograms } from "../../local/demo/git-http-backend.ts";

const run = promisify(execFile);

const when = "1700000000 +0000";

/** Without the user's own configuration of git, and with the same authors and times in every run. */
const environment = {
  ...gitEnvironment,
  GIT_AUTHOR_NAME: "A",
  GIT_AUTHOR_EMAIL: "a@example.com",
  GIT_AUTHOR_DATE: when,
  GIT_COMMITTER_NAME: "C",
  GIT_COMMITTER_EMAIL: "c@example.com",
  GIT_COMMITTER_DATE: when,
} as const;

/** A bare repository in a temporary folder. */
export interface GitRepository extends AsyncDisposable {
  /** The folder that holds it; its name is `repository.git`. */
  readonly root: string;
  /** Runs git in it, and answers what it prints, without the last line feed. */
  git(...args: string[]): Promise<string>;
  /** Runs git with this on its standard input. */
  feed(input: string | Uint8Array, ...args: string[]): Promise<string>;
  /** Commits files, by path, on a branch, and answers the commit's id. Files of former commits that are not named go. */
  commit(files: Readonly<Record<string, string>>, branch?: string, message?: string): Promise<string>;
}

export async function gitRepository(...options: string[]): Promise<GitRepository> {
  const root = await mkdtemp(join(tmpdir(), "sluice-test-git-"));
  const folder = join(root, "repository.git");
  const git = async (...args: string[]): Promise<string> => {
    const { stdout } = await run("git", args, { cwd: folder, env: environment, maxBuffer: 2 ** 30 });
    return stdout.replace(/\n$/, "");
  };
  const feed = async (input: string | Uint8Array, ...args: string[]): Promise<string> => {
    const running = run("git", args, { cwd: folder, env: environment, maxBuffer: 2 ** 30 });
    running.child.stdin?.end(input);
    return (await running).stdout.replace(/\n$/, "");
  };
  await mkdir(folder);
  await git("init", "--quiet", "--bare", "--initial-branch=main", ...options);
  return {
    root,
    git,
    feed,
    async commit(files, branch = "main", message = "change") {
      const ref = join(folder, "refs/heads", branch);
      // A ref that was packed has no file.
      const parse = () => git("rev-parse", "--verify", "--quiet", `refs/heads/${branch}`).catch(() => "");
      const parent = (await readFile(ref, "utf8").catch(parse)).trimEnd();
      const head = `tree ${await writeTree(folder, files)}\n${parent === "" ? "" : `parent ${parent}\n`}`;
      const people = `author A <a@example.com> ${when}\ncommitter C <c@example.com> ${when}\n`;
      const commit = await writeObject(folder, "commit", `${head}${people}\n${message}\n`);
      await mkdir(dirname(ref), { recursive: true });
      await writeFile(ref, `${commit}\n`);
      return commit;
    },
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
}

/** A request that a server was sent, with its body as it came. */
export interface GitRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
}

export interface GitServer extends AsyncDisposable {
  /** Of the repository. */
  readonly url: string;
  readonly seen: GitRequest[];
}

export interface GitServerOptions {
  /** Speaks version 0, whatever it is asked for. */
  readonly isOld?: boolean;
  /** Answers a request itself where it does not call `next`. */
  readonly before?: (request: IncomingMessage, response: ServerResponse, next: () => void) => void;
}

/** Serves a repository by git's own smart HTTP on loopback. */
export async function gitServer(
  { root }: Pick<GitRepository, "root">,
  { isOld = false, before = (_request, _response, next) => next() }: GitServerOptions = {},
): Promise<GitServer> {
  const seen: GitRequest[] = [];
  const serve: RequestListener = (request, response) => {
    const { method = "", url = "", headers } = request;
    seen.push({ method, path: url, headers });
    before(request, response, () => serveGit(root, request, response, isOld ? 0 : undefined));
  };
  const server = createServer(serve);
  const port = await portOnLoopback(server);
  return {
    url: `http://127.0.0.1:${port}/repository.git`,
    seen,
    [Symbol.asyncDispose]: () => closeServer(server),
  };
}
