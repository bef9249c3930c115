import { createHash } from "node:crypto";
import { GitFault } from "../../lib/sources/git/git-fault.ts";
import type { GitObject, GitObjectType } from "../../lib/sources/git/git-object.ts";
import type { GitObjects, GitRef, GitRemote } from "../../lib/sources/git/git-remote.ts";

/** A file by its text; an executable, a link or a commit of another repository. */
export type MemoryFile =
  | string
  | Uint8Array
  | { readonly exec: string }
  | { readonly link: string }
  | { readonly commit: string };

/** A git repository in memory, and what was asked of it. */
export type MemoryGit = ReturnType<typeof memoryGit>;

interface Committed {
  readonly message?: string;
  /** Seconds since 1970. */
  readonly at?: number;
  /** Signs the commit: a header after its other ones. */
  readonly signature?: string;
}

/** A repository that a test fills and a `GitRemote` reads, with real ids and objects as git makes them. */
export function memoryGit() {
  const objects = new Map<string, GitObject>();
  const refs = new Map<string, { oid: string; peeled?: string }>();
  const asked: string[] = [];
  const faults: GitFault[] = [];
  const costs = { packedBytes: 0, onFetch: (): void => undefined };
  let clock = 1_767_225_600;

  function add(type: GitObjectType, bytes: Uint8Array): string {
    const oid = createHash("sha1").update(`${type} ${bytes.length}\0`).update(bytes).digest("hex");
    objects.set(oid, { type, bytes });
    return oid;
  }

  function addTree(files: readonly (readonly [string, MemoryFile])[]): string {
    const names = new Map<string, (readonly [string, MemoryFile])[]>();
    for (const [path, file] of files) {
      const [name = "", ...rest] = path.split("/");
      const inner = names.get(name) ?? [];
      names.set(name, [...inner, [rest.join("/"), file]]);
    }
    const entries = [...names].map(([name, inner]) => {
      const [path, file] = inner[0] ?? ["", ""];
      if (path !== "") return { key: `${name}/`, mode: "40000", name, oid: addTree(inner) };
      return { key: name, name, ...entryOf(file) };
    });
    // Git compares folders as if a slash ended their names.
    entries.sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)));
    return add(
      "tree",
      Buffer.concat(
        entries.flatMap(({ mode, name, oid }) => [Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, "hex")]),
      ),
    );
  }

  /** Adds an object and all that it contains, without the history of a commit. */
  function reach(oid: string, reached: Set<string>): void {
    const object = objects.get(oid);
    if (object === undefined || reached.has(oid)) return;
    reached.add(oid);
    const { type } = object;
    const bytes = Buffer.from(object.bytes);
    if (type === "commit") reach(bytes.toString("latin1", 5, 45), reached);
    if (type === "tag") reach(bytes.toString("latin1", 7, 47), reached);
    if (type !== "tree") return;
    for (let at = 0; at < bytes.length; ) {
      const end = bytes.indexOf(0, at) + 1;
      reach(bytes.toString("hex", end, end + 20), reached);
      at = end + 20;
    }
  }

  function entryOf(file: MemoryFile): { readonly mode: string; readonly oid: string } {
    if (typeof file === "string" || file instanceof Uint8Array)
      return { mode: "100644", oid: add("blob", Buffer.from(file)) };
    if ("exec" in file) return { mode: "100755", oid: add("blob", Buffer.from(file.exec)) };
    if ("link" in file) return { mode: "120000", oid: add("blob", Buffer.from(file.link)) };
    return { mode: "160000", oid: file.commit };
  }

  const who = (at: number) => `Golden <golden@example.test> ${at} +0000`;

  /** The refs, once for each list and fetch that was asked for. */
  const remote = (): GitRemote => ({
    list: async (prefixes) => {
      asked.push(`list ${prefixes.join(" ")}`.trim());
      throwFault();
      return [...refs]
        .filter(([name]) => prefixes.length === 0 || prefixes.some((prefix) => name.startsWith(prefix)))
        .map(([name, target]): GitRef => ({ name, ...target }));
    },
    fetch: async (wants, options): Promise<GitObjects> => {
      asked.push(
        `fetch ${wants.join(" ")}${options.folders === undefined ? "" : ` only ${options.folders.join(" ")}`}`,
      );
      throwFault();
      for (const want of wants) if (!objects.has(want)) throw new GitFault("missing", `no object ${want}`);
      // As a real server, which sends what the wanted objects lead to and nothing else.
      const sent = new Set<string>();
      for (const oid of [...wants, ...(options.within ?? [])]) reach(oid, sent);
      const read = async (oid: string): Promise<GitObject> => {
        const found = sent.has(oid) ? objects.get(oid) : undefined;
        if (found === undefined) throw new GitFault("missing", `no object ${oid}`);
        return found;
      };
      const { packedBytes } = costs;
      costs.onFetch();
      return { packedBytes, has: (oid) => sent.has(oid), read, [Symbol.asyncDispose]: async () => undefined };
    },
    [Symbol.asyncDispose]: async () => undefined,
  });

  function throwFault(): void {
    const fault = faults.shift();
    if (fault !== undefined) throw fault;
  }

  return {
    asked,
    /** Thrown by the next requests, one each. */
    faults,
    refs,
    objects,
    /** What a fetch takes on the disk, and what else happens while it lasts. */
    costs,
    remote,
    /** Makes a commit of these files the head of a branch. */
    commit(
      files: Readonly<Record<string, MemoryFile>>,
      { message = "Add a\n", at = (clock += 60), signature }: Committed = {},
      branch = "main",
    ): string {
      const name = `refs/heads/${branch}`;
      const parent = refs.get(name)?.oid;
      const lines = [
        `tree ${addTree(Object.entries(files))}`,
        ...(parent === undefined ? [] : [`parent ${parent}`]),
        `author ${who(at)}`,
        `committer ${who(at)}`,
        ...(signature === undefined ? [] : [`gpgsig ${signature.trimEnd().replaceAll("\n", "\n ")}`]),
      ];
      const oid = add("commit", Buffer.from(`${lines.join("\n")}\n\n${message}`));
      refs.set(name, { oid });
      return oid;
    },
    /** An annotated tag if there is a message. */
    tag(name: string, commit: string, message?: string, signature = ""): void {
      if (message === undefined) {
        refs.set(`refs/tags/${name}`, { oid: commit });
        return;
      }
      const text = `object ${commit}\ntype commit\ntag ${name}\ntagger ${who((clock += 60))}\n\n${message}\n${signature}`;
      refs.set(`refs/tags/${name}`, { oid: add("tag", Buffer.from(text)), peeled: commit });
    },
  };
}
