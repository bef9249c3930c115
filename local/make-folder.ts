import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";

const SystemError = z.object({ code: z.string() });

/**
 * Makes a folder and those above it. In place of `mkdir` with `recursive`, which on a file system that answers ENOENT to
 * every creation (/proc, for one) tries again for ever and takes a core for it.
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    const code = SystemError.safeParse(error).data?.code;
    if (code === "EEXIST" && (await stat(path)).isDirectory()) return;
    if (code !== "ENOENT" || (await exists(dirname(path)))) throw error;
    await makeFolder(dirname(path));
    await mkdir(path);
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch {
    return false;
  }
}
