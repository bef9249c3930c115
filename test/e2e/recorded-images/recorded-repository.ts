import { z } from "zod";
import { type GitRepository, type GitServer, gitRepository, gitServer } from "../../doubles/git-server.ts";
import type { Left } from "./automation-recording.ts";

type ReadCommit = Left["git"]["commits"][number];

const link = z.object({ link: z.string() });
/** Of our commits in the recordings. */
const own = "Golden <golden@example.test>";
const firstSeconds = Date.UTC(2026, 0, 1) / 1_000;

/** A repository of real git with the commits of a recording. */
export class RecordedRepository implements AsyncDisposable {
  readonly #repository: GitRepository;
  readonly #server: GitServer;
  /** Commits of ours by what the recording calls them. */
  readonly #names = new Map<string, string>();
  /** What was read of a commit, which never changes: each reading is several processes of git, and {@link left} is asked often. */
  readonly #read = new Map<string, ReadCommit | undefined>();
  #commits = 0;

  private constructor(repository: GitRepository, server: GitServer) {
    this.#repository = repository;
    this.#server = server;
  }

  static async open(): Promise<RecordedRepository> {
    const repository = await gitRepository();
    await repository.git("config", "http.receivepack", "true");
    await repository.git("config", "receive.advertisePushOptions", "true");
    return new RecordedRepository(repository, await gitServer(repository));
  }

  get url(): string {
    return this.#server.url;
  }

  /** The commits that were seen so far, with their names in the recording. */
  get names(): ReadonlyMap<string, string> {
    return this.#names;
  }

  /** Commits these files on the head of main, as the recording did. */
  async publish(name: string, message: string, files: Readonly<Record<string, unknown>>): Promise<void> {
    this.#commits += 1;
    const parent = this.#commits === 1 ? "" : "from refs/heads/main^0\n";
    const added = addedFile(files);
    const entries = Object.entries(added ?? files).map(([path, file]) => {
      const target = link.safeParse(file).data?.link;
      const text = target ?? z.string().parse(file);
      return `M ${target === undefined ? "100644" : "120000"} inline ${path}\n${dataOf(text)}`;
    });
    const head = `commit refs/heads/main\ncommitter ${own} ${firstSeconds + 60 * this.#commits} +0000\n`;
    const stream = `${head}${dataOf(`${message}\n`)}${parent}${added === undefined ? "deleteall\n" : ""}${entries.join("")}\n`;
    await this.#repository.feed(stream, "fast-import", "--quiet", "--force");
    this.#names.set(name, await this.#repository.git("rev-parse", "refs/heads/main"));
  }

  /** Moves a reference to a commit that the recording names; undefined: deletes it. */
  async move(ref: string, name: string | undefined): Promise<void> {
    if (name === undefined) await this.#repository.git("update-ref", "-d", ref);
    else await this.#repository.git("update-ref", ref, this.#names.get(name) ?? "");
  }

  /** The references, and the commits of automations since the last call with `isSeen`. */
  async left(known: ReadonlySet<string>): Promise<Left["git"]> {
    const lines = (await this.#repository.git("for-each-ref", "--format=%(refname) %(objectname)")).split("\n");
    const refs = Object.fromEntries(lines.map((line) => line.split(" ", 2)).map(([ref = "", oid = ""]) => [ref, oid]));
    const oids = (await this.#repository.git("rev-list", "--all", "--reverse", "--topo-order")).split("\n");
    const commits: ReadCommit[] = [];
    for (const oid of oids) {
      if (known.has(oid)) continue;
      if (!this.#read.has(oid)) this.#read.set(oid, await this.#commit(oid));
      const commit = this.#read.get(oid);
      // The caller gives it the name of the recording.
      if (commit !== undefined) commits.push({ ...commit });
    }
    return { refs, commits };
  }

  /** Gives the commits of automations that are new the names of the recording. */
  name(commits: Left["git"]["commits"], names: readonly string[]): void {
    for (const [index, { commit }] of commits.entries()) this.#names.set(names[index] ?? commit, commit);
  }

  /** Undefined for a commit of the recording. */
  async #commit(oid: string): Promise<ReadCommit | undefined> {
    // To the byte, behind a line of its own.
    const answer = await this.#repository.feed(`${oid}\n`, "cat-file", "--batch");
    const raw = answer.slice(answer.indexOf("\n") + 1);
    const end = raw.indexOf("\n\n");
    const headers = raw.slice(0, end).split("\n").slice(1);
    const valuesOf = (name: string): readonly string[] =>
      headers.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1));
    const [author = "", committer = ""] = [...valuesOf("author"), ...valuesOf("committer")];
    if (author.startsWith(own)) return undefined;
    const others = headers.filter((line) => !/^(?:parent|author|committer) /.test(line));
    const changes = await this.#repository.git("diff-tree", "-r", "--no-commit-id", oid);
    const entries = changes.split("\n").map((line) => /^:\d+ (\d+) \w+ \w+ (\w)\t(.*)$/.exec(line) ?? []);
    const files: Record<string, string> = {};
    for (const [, , , path = ""] of entries) files[path] = await this.#repository.git("show", `${oid}:${path}`);
    return {
      commit: oid,
      parents: [...valuesOf("parent")],
      author: withoutTime(author),
      committer: withoutTime(committer),
      ...(others.length === 0 ? {} : { more: others.join("\n") }),
      signature: "none",
      message: raw.slice(end + 2),
      modes: entries.map(([, mode = "", change = "", path = ""]) => `${change} ${mode} ${path}`),
      files,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
    await this.#repository[Symbol.asyncDispose]();
  }
}

function dataOf(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}\n`;
}

function withoutTime(person: string): string {
  return person.replace(/\d+ \+0000$/, "<time> +0000");
}

/**
 * Of a commit that keeps all files and adds one, which the recording has as the single characters of `as now, with note.txt: 1`: that file.
 * Of any other commit: undefined.
 */
function addedFile(files: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> | undefined {
  const [, path, content] = /^as now, with (\S+): (.*)$/s.exec(Object.values(files).join("")) ?? [];
  return path === undefined || content === undefined ? undefined : { [path]: content };
}
