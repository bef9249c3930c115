import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { type GitRepository, gitPrograms, gitRepository, gitServer } from "../test/doubles/git-server.ts";
import { type Figure, figure } from "./figure.ts";

const files = 50_000;
const commits = 100_000;
const maxMs = 60_000;
const maxMb = 512;

const Measured = z.object({ ms: z.number(), megabytes: z.number(), files: z.number(), bytes: z.number() });
type Measured = z.infer<typeof Measured>;

/** Large repositories through git's own `http-backend`, each in a process of its own, whose peak of memory counts. */
export async function gitFetch(): Promise<readonly Figure[]> {
  if (gitPrograms === undefined) {
    process.stderr.write("gitFetch is skipped: git with http-backend is not installed\n");
    return [];
  }
  const measured: Figure[] = [];
  const add = (name: string, { ms, megabytes }: Measured): void => {
    measured.push(figure(`${name}, time`, "ms", [ms], { of: "max", atMost: maxMs }));
    measured.push(figure(`${name}, memory at its peak`, "MB", [megabytes], { of: "max", atMost: maxMb }));
  };
  {
    await using repository = await imported(manyFiles());
    const found = await fetched(repository);
    if (found.files !== files || found.bytes < 100_000_000) throw new Error(`fetched ${JSON.stringify(found)}`);
    add("git, 50,000 files of 100 MB, fetched and read", found);
  }
  await using repository = await imported(manyCommits());
  add("git, 100,000 commits, the last one fetched and read", await fetched(repository));
  add("git, 100,000 commits, all of them fetched", await fetched(repository, "history"));
  return measured;
}

async function fetched(repository: GitRepository, ...how: readonly string[]): Promise<Measured> {
  await using server = await gitServer(repository, { isOld: how.length > 0 });
  const script = join(import.meta.dirname, "git-fetch-process.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [script, server.url, ...how]);
  return Measured.parse(JSON.parse(stdout));
}

/** A repository made of a stream of `git fast-import`, by way of a file: a pipe would hold it in memory. */
async function imported(stream: Iterable<string>): Promise<GitRepository> {
  const repository = await gitRepository();
  const path = join(repository.root, "stream");
  const file = await open(path, "w+");
  let waiting = "";
  for (const text of stream) {
    waiting += text;
    if (waiting.length < 1_000_000) continue;
    await file.appendFile(waiting);
    waiting = "";
  }
  await file.appendFile(waiting);
  await file.close();
  await repository.git("-c", "alias.import=!git fast-import --quiet < ../stream", "import");
  await rm(path);
  return repository;
}

const committer = "committer C <c@example.com> 1700000000 +0000\ndata 6\nchange\n";

/** Two thousand bytes each, which hardly shrink by packing. */
function* manyFiles(): Generator<string, void, undefined> {
  yield `commit refs/heads/main\n${committer}`;
  for (let index = 0; index < files; index++) {
    const head = `kind: ConfigMap\nmetadata:\n  name: c${index}\ndata:\n  value: `;
    const body = `${head}${randomBytes(1_000).toString("base64")}\n`.padEnd(2_001, "#");
    yield `M 100644 inline d${index % 500}/f${index}.yaml\ndata ${body.length}\n${body}\n`;
  }
}

function* manyCommits(): Generator<string, void, undefined> {
  for (let index = 0; index < commits; index++) {
    const body = `version: ${index}\n${"x: y\n".repeat(100)}`;
    const path = `d${index % 50}/f${index % 997}.yaml`;
    yield `commit refs/heads/main\n${committer}M 100644 inline ${path}\ndata ${body.length}\n${body}\n`;
  }
}
