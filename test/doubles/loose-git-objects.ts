import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { deflateSync } from "node:zlib";

/** A text, a program, or a symbolic link. */
export type GitFile = string | { readonly exec: string } | { readonly link: string };

/**
 * Writes an object into a git repository, and answers its id. As git would, but without a process for each: to start one takes this
 * large process more time than all else that a scenario does.
 *
 * @param repository the folder, as of a bare one
 */
export async function writeObject(repository: string, type: string, content: string | Buffer): Promise<string> {
  const bytes = Buffer.from(content);
  const object = Buffer.concat([Buffer.from(`${type} ${bytes.length}\0`), bytes]);
  const id = createHash("sha1").update(object).digest("hex");
  const path = join(repository, "objects", id.slice(0, 2), id.slice(2));
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, deflateSync(object));
  return id;
}

/** Writes a tree with its files, by path, and answers its id. */
export async function writeTree(repository: string, files: Readonly<Record<string, GitFile>>): Promise<string> {
  const names = Map.groupBy(Object.entries(files), ([path]) => path.split("/")[0] ?? "");
  const entries: { readonly sortedBy: string; readonly bytes: Buffer }[] = [];
  for (const [name, within] of names) {
    const [first] = within;
    if (first === undefined) continue;
    const isFolder = first[0] !== name;
    const [mode, id] = isFolder
      ? [
          "40000",
          await writeTree(
            repository,
            Object.fromEntries(within.map(([path, file]) => [path.slice(name.length + 1), file])),
          ),
        ]
      : await writeFileObject(repository, first[1]);
    const bytes = Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, "hex")]);
    // A folder stands where its name with a slash would.
    entries.push({ sortedBy: isFolder ? `${name}/` : name, bytes });
  }
  const sorted = entries.toSorted((a, b) => Buffer.compare(Buffer.from(a.sortedBy), Buffer.from(b.sortedBy)));
  return writeObject(repository, "tree", Buffer.concat(sorted.map(({ bytes }) => bytes)));
}

async function writeFileObject(repository: string, file: GitFile): Promise<readonly [mode: string, id: string]> {
  const [mode, text] =
    typeof file === "string" ? ["100644", file] : "exec" in file ? ["100755", file.exec] : ["120000", file.link];
  return [mode, await writeObject(repository, "blob", text)];
}
