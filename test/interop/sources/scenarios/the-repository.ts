import type { JsonObject } from "../../../../lib/core/json.ts";
import type { Files } from "../charts.ts";
import type { SourceHosts } from "../source-hosts.ts";
import { gitRepository } from "./written.ts";

/** The GitRepository of a scenario. */
export const at = ({ git }: SourceHosts, place: string, more: JsonObject = {}) =>
  gitRepository("app", { url: `http://${git}/${place}.git`, ...more });
export const main = { ref: { branch: "main" } };
export const files = { "a/one.yaml": "one: 1\n", "b/two.yaml": "two: 2\n", "README.md": "x\n", "image.png": "png" };

/** Makes its repository, with branches and tags. */
export async function begin({ repository }: SourceHosts, place: string): Promise<void> {
  const one = await repository(place);
  const first = await one.commit(files, "main", "first");
  await one.git("tag", "1.0.0", first);
  await one.git("tag", "-a", "-m", "annotated", "v1.1.0", first);
  const second = await one.commit(
    { ...files, "a/one.yaml": "one: 2\n" },
    "main",
    `a long subject that does not end before the fiftieth character\n\nbody`,
  );
  await one.git("tag", "v2.0.0-rc.1", second);
  await one.git("tag", "feature/1", second);
  await one.commit({ ...files, "c.yaml": "c: 1\n" }, "feature/x", "on a branch");
  await one.git("update-ref", "refs/pull/7/head", first);
}

/** Commits files to its branch `main`, in place of the others. */
export async function commit({ repository }: SourceHosts, place: string, all: Files, message?: string): Promise<void> {
  const text = Object.entries(all).map(([path, content]) => [path, String(content)] as const);
  await (await repository(place)).commit(Object.fromEntries(text), "main", message);
}
