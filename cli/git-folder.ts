import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { basename, dirname } from "node:path";

/** The limit for git's output to one command. */
export const maxGitAnswerBytes = 1024 * 1024;
const gitTimeLimitMs = 30_000;

/** What git knows of a file or folder in the working tree of a repository. */
export interface GitFolder {
  /** The address of the remote `origin`, without credentials. Throws an Error that says why there is none. */
  readonly source: () => Promise<string>;
  /** `BRANCH@sha1:COMMIT`, with a tag in place of the branch where none is checked out, or `sha1:COMMIT` where there is no tag either. */
  readonly revision: () => Promise<string>;
  /** Whether the file or folder differs from the commit that is checked out. Files that git ignores do not count. */
  readonly isChanged: () => Promise<boolean>;
}

interface Asked {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

interface Answer {
  readonly code: number;
  readonly out: string;
  /** The first line of what git says of a failure. */
  readonly fault: string;
}

/** @param path a file, or a folder; what is in no working tree has no answers, and each of them says so */
export async function gitFolder(path: string, env: Asked["env"], signal: AbortSignal): Promise<GitFolder> {
  const isFolder = (await stat(path)).isDirectory();
  const asked: Asked = { cwd: isFolder ? path : dirname(path), env, signal };
  return {
    source: () => sourceOf(asked),
    revision: () => revisionOf(asked),
    isChanged: () => isChanged(isFolder ? "." : basename(path), asked),
  };
}

async function sourceOf(asked: Asked): Promise<string> {
  const { code, out, fault } = await ask(["remote", "get-url", "origin"], asked);
  if (code !== 0) throw new Error(fault.includes("No such remote") ? "its git repository has no remote origin" : fault);
  const source = withoutCredentials(out.trimEnd());
  if (source === undefined) throw new Error("its remote origin is not an address of git that can be shown");
  return source;
}

async function revisionOf(asked: Asked): Promise<string> {
  const inside = await ask(["rev-parse", "--git-dir"], asked);
  if (inside.code !== 0) throw new Error(inside.fault);
  const [head, branch, tag] = await Promise.all([
    ask(["rev-parse", "--verify", "--quiet", "HEAD"], asked),
    ask(["symbolic-ref", "--quiet", "--short", "HEAD"], asked),
    ask(["describe", "--tags", "--exact-match", "HEAD"], asked),
  ]);
  const commit = head.out.trimEnd();
  if (head.code !== 0) throw new Error("its git repository has no commit");
  const hash = `${commit.length === 64 ? "sha256" : "sha1"}:${commit}`;
  const name = [branch, tag].find(({ code }) => code === 0)?.out.trimEnd();
  return name === undefined ? hash : `${name}@${hash}`;
}

async function isChanged(path: string, asked: Asked): Promise<boolean> {
  const noFilters = await filtersOf(asked);
  const args = ["status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=dirty", "--", path];
  const { code, out, fault } = await ask(args, asked, noFilters);
  // What is longer than the limit is a long list of changes.
  if (out !== "") return true;
  if (code !== 0) throw new Error(fault);
  return false;
}

/**
 * The programs that would convert files before they are compared, each turned off: the repository names them. Throws an Error if git
 * does not list all of them.
 */
async function filtersOf(asked: Asked): Promise<Readonly<Record<string, string>>> {
  const { out, fault } = await ask(["config", "--null", "--name-only", "--get-regexp", "^filter\\."], asked);
  // Without a filter git answers with code 1 and says nothing.
  if (fault !== "") throw new Error(fault);
  const filters = new Set(out.split("\0").map((key) => key.slice(0, key.lastIndexOf("."))));
  filters.delete("");
  return Object.fromEntries(
    [...filters].flatMap((filter) => [
      [`${filter}.clean`, ""],
      [`${filter}.process`, ""],
      [`${filter}.required`, "false"],
    ]),
  );
}

/** A repository may be a stranger's, and what its configuration names is run by git as the user: no program, no hook, no transport. */
const safeConfig: Readonly<Record<string, string>> = {
  "core.fsmonitor": "false",
  "core.hooksPath": "/dev/null",
  "safe.bareRepository": "explicit",
  "status.submoduleSummary": "false",
};

/**
 * What `git rev-parse --local-env-vars` names: in a hook of git, or in a script that sets them, they lead to another repository than
 * that of the path. GIT_CONFIG_COUNT is not among them: it stays, and what is set here follows it.
 */
const namesOfOneRepository: readonly string[] = [
  ...["GIT_DIR", "GIT_COMMON_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"],
  ...["GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE"],
  ...["GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE"],
  ...["GIT_INTERNAL_SUPER_PREFIX"],
];

/**
 * The user's environment without {@link namesOfOneRepository}, in which git takes {@link safeConfig} before what a repository says, and
 * asks neither users nor networks.
 */
function safeEnvironment(env: Asked["env"], more: Readonly<Record<string, string>>): Asked["env"] {
  const given = Number(env["GIT_CONFIG_COUNT"] ?? 0) || 0;
  const config = Object.entries({ ...safeConfig, ...more });
  const own: Record<string, string> = {
    ...{ LC_ALL: "C", GIT_TERMINAL_PROMPT: "0", GIT_LITERAL_PATHSPECS: "1", GIT_OPTIONAL_LOCKS: "0" },
    ...{ GIT_ALLOW_PROTOCOL: "none", GIT_NO_LAZY_FETCH: "1", GIT_CONFIG_COUNT: String(given + config.length) },
  };
  for (const [at, [key, value]] of config.entries()) {
    own[`GIT_CONFIG_KEY_${given + at}`] = key;
    own[`GIT_CONFIG_VALUE_${given + at}`] = value;
  }
  const kept = Object.entries(env).filter(([name]) => !namesOfOneRepository.includes(name));
  return { ...Object.fromEntries(kept), ...own };
}

/** Runs git without a shell, on what is on disk alone. A failure of git is an answer. Throws an Error if git cannot be run or has to be stopped. */
function ask(args: readonly string[], { cwd, env, signal }: Asked, more: typeof safeConfig = {}): Promise<Answer> {
  const [question = ""] = args;
  const limits = { timeout: gitTimeLimitMs, maxBuffer: maxGitAnswerBytes, killSignal: "SIGKILL", signal } as const;
  const how = { cwd, env: { ...safeEnvironment(env, more) }, ...limits };
  return new Promise((resolve, reject) => {
    const child = execFile("git", [...args], how, (error, out, err) => {
      if (error === null) return resolve({ code: 0, out, fault: "" });
      if (signal.aborted) return reject(signal.reason);
      const { code, killed } = error;
      if (code === "ENOENT") return reject(new Error("git is not installed"));
      if (code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER") {
        return resolve({ code: 1, out, fault: `git ${question} printed more than ${maxGitAnswerBytes} bytes` });
      }
      if (killed === true) return reject(new Error(`git ${question} did not end within ${gitTimeLimitMs / 1000}s`));
      const [line = ""] = (err === "" && typeof code !== "number" ? `git ${question} was stopped` : err).split("\n");
      resolve({ code: typeof code === "number" ? code : 1, out, fault: line.replace(/^(fatal|error): /, "") });
    });
    child.stdin?.end();
  });
}

/**
 * The address of a remote without user, password, query and fragment, which may be tokens; for ssh the user stays, which is not a secret.
 * Undefined for what is neither a URL, nor `USER@HOST:PATH`, nor an absolute path. Pure.
 *
 * @internal Exported for its tests.
 */
export function withoutCredentials(remote: string): string | undefined {
  if (/^(\/|([A-Za-z0-9._-]+@)?[A-Za-z0-9._-]+:(?!:|\/\/)[^\s@]+$)/.test(remote)) return remote;
  if (!/^(https?|ssh|git|file):\/\//.test(remote) || !URL.canParse(remote)) return undefined;
  const url = new URL(remote);
  if (url.protocol !== "ssh:") url.username = "";
  url.password = "";
  url.search = "";
  url.hash = "";
  return url.href;
}
