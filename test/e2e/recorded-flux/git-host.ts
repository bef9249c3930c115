import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { z } from "zod";
import { serveGit } from "../../../local/demo/git-http-backend.ts";
import { closeServer } from "../../doubles/close-server.ts";
import { type GitRepository, gitRepository } from "../../doubles/git-server.ts";
import { writeObject, writeTree } from "../../doubles/loose-git-objects.ts";
import { pgpSignature } from "../../doubles/pgp-signature.ts";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";

const File = z.union([z.string(), z.strictObject({ exec: z.string() }), z.strictObject({ link: z.string() })]);
/** What the source of a scenario says of a change of a git repository: a commit, an annotated tag, or nothing but the name of the change. */
export const GitChange = z.strictObject({
  message: z.string().exactOptional(),
  parent: z.string().exactOptional(),
  files: z.record(z.string(), File).exactOptional(),
  /** Of an annotated tag: its commit. */
  of: z.string().exactOptional(),
  signed: z.string().exactOptional(),
});
export type GitChange = z.infer<typeof GitChange>;

/** `1. app.git, main is now ID`, `2. app.git, refs/tags/1.0.0 is deleted`. */
const nameOfChange = /^\d+\. (?<file>[\w-]+\.git), (?<ref>\S+) is (?:now (?<id>[0-9a-f]{40})|deleted)$/;
const person = "Golden <golden@example.test>";
const begin = Date.parse("2026-01-01T00:00:00Z") / 1000;
const login = `Basic ${Buffer.from("golden:golden-password").toString("base64")}`;

export function isGitChange(name: string): boolean {
  return nameOfChange.test(name);
}

/** git's own server on loopback with the repositories of the given recordings. */
export interface GitHost extends AsyncDisposable {
  /** `127.0.0.1:PORT`. */
  readonly address: string;
  /**
   * Makes a change that the source names, with the ids that it has there; throws if they are others.
   *
   * @param namespace the folder of the repository
   * @param needsLogin whether the repository is only for `golden`, with `golden-password`
   */
  publish(namespace: string, name: string, change: GitChange, needsLogin: boolean): Promise<void>;
}

export async function gitHost(): Promise<GitHost> {
  const hosted = new Map<string, HostedRepository>();
  const server = createServer((request, response) => {
    const [, path = "", rest = ""] = /^\/([^/]+\/[^/]+\.git)(\/.*)$/.exec(request.url ?? "") ?? [];
    const found = hosted.get(path);
    if (found === undefined) {
      response.writeHead(404).end();
      return;
    }
    if (found.needsLogin && request.headers.authorization !== login) {
      response.writeHead(401, { "www-authenticate": 'Basic realm="golden"' }).end();
      return;
    }
    request.url = `/repository.git${rest}`;
    serveGit(found.repository.root, request, response);
  });
  const port = await portOnLoopback(server);
  return {
    address: `127.0.0.1:${port}`,
    async publish(namespace, name, change, needsLogin) {
      const { file = "", ref = "", id } = nameOfChange.exec(name)?.groups ?? {};
      const path = `${namespace}/${file}`;
      const one = hosted.get(path) ?? { repository: await gitRepository(), needsLogin, made: 0 };
      hosted.set(path, one);
      const whole = ref.startsWith("refs/") ? ref : `refs/heads/${ref}`;
      const refFile = join(folderOf(one), whole);
      if (id === undefined) return rm(refFile);
      const made = change.message === undefined ? id : await make(one, change, whole);
      if (made !== id) throw new Error(`${name}: has the id ${made}`);
      await mkdir(dirname(refFile), { recursive: true });
      // In one step, for whoever reads it meanwhile.
      await writeFile(`${refFile}.lock`, `${id}\n`);
      await rename(`${refFile}.lock`, refFile);
    },
    async [Symbol.asyncDispose]() {
      await closeServer(server);
      await Promise.all([...hosted.values()].map(({ repository }) => repository[Symbol.asyncDispose]()));
    },
  };
}

interface HostedRepository {
  readonly repository: GitRepository;
  readonly needsLogin: boolean;
  /** Commits and annotated tags: each has its own minute. */
  made: number;
}

function folderOf({ repository: { root } }: HostedRepository): string {
  return join(root, "repository.git");
}

/** Makes a commit or annotated tag, and answers its id. */
async function make(hosted: HostedRepository, change: GitChange, ref: string): Promise<string> {
  const { message = "", parent, files = {}, of, signed } = change;
  const when = `${person} ${begin + 60 * ++hosted.made} +0000`;
  const name = signed === undefined ? undefined : /^OpenPGP key "(.+)"$/.exec(signed)?.[1];
  if (signed !== undefined && name === undefined) throw new Error(`not understood: signed by ${signed}`);
  const signatureOf = (payload: string) => (name === undefined ? "" : pgpSignature(name, Buffer.from(payload)));
  const folder = folderOf(hosted);
  if (of !== undefined) {
    const tag = `object ${of}\ntype commit\ntag ${ref.replace("refs/tags/", "")}\ntagger ${when}\n\n${message}\n`;
    return writeObject(folder, "tag", `${tag}${signatureOf(tag)}`);
  }
  const tree = await writeTree(folder, files);
  const head = `tree ${tree}\n${parent === undefined ? "" : `parent ${parent}\n`}author ${when}\ncommitter ${when}\n`;
  const body = `\n${message}\n`;
  const signature = signatureOf(`${head}${body}`).trimEnd().replaceAll("\n", "\n ");
  return writeObject(folder, "commit", `${head}${signature === "" ? "" : `gpgsig ${signature}\n`}${body}`);
}
