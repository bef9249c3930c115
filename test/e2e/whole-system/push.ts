import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { crane, orasPush } from "../../interop/build-clients.ts";

const execute = promisify(execFile);
const OrasAnswer = z.object({ digest: z.string() });

/** Text by file name. */
export type Files = Readonly<Record<string, string>>;
/** Clients that others wrote. */
export type Client = "crane" | "oras";

/** Pushes files as one layer; answers the digest that the tag names now. */
export async function push(client: Client, repository: string, tag: string, files: Files): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-push-"));
  const run = async (program: string, args: readonly string[]): Promise<string> => {
    // An empty HOME, without the logins of the user who runs the tests.
    const { stdout } = await execute(program, [...args], { cwd: folder, env: { HOME: folder, PATH: "/usr/bin:/bin" } });
    return stdout.trim();
  };
  try {
    const content = join(folder, "content");
    await mkdir(content);
    await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(content, name), text)));
    await run("tar", ["czf", "layer.tgz", "-C", "content", "."]);
    switch (client) {
      case "crane":
        await run(crane, ["append", "-f", "layer.tgz", "-t", `${repository}:${tag}`]);
        return await run(crane, ["digest", `${repository}:${tag}`]);
      case "oras":
        return OrasAnswer.parse(JSON.parse(await run(orasPush, [repository, tag, "layer.tgz"]))).digest;
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}
