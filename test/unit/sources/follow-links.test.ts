import { expect, test } from "vitest";
import { followLinks, type LinkedEntry, type LinkedTree, maxSteps } from "../../../lib/sources/archive/follow-links.ts";

const forever = new AbortController().signal;
const read = async () => new Uint8Array();

const folder = (path: string): LinkedEntry => ({ type: "directory", path });
const file = (path: string): LinkedEntry => ({ type: "file", path, mode: 0o644, read });
const link = (path: string, target: string): LinkedEntry => ({ type: "link", path, target });

function treeOf(all: readonly LinkedEntry[], entries = new Map<string, LinkedEntry>()): LinkedTree {
  for (const entry of all) entries.set(entry.path, entry);
  return {
    entries,
    root: "archive",
    whole: "archive",
    mend: "put a file in its place",
    maxEntries: 100_000,
    maxPathBytes: 4_096,
    maxPathsBytes: 32 * 1024 * 1024,
    fault: (text) => new RangeError(text),
  };
}

test("a link through a hard link starts again at the root", async () => {
  const hard: LinkedEntry = { type: "link", path: "sub/hard", target: "sub/a", isHard: true };
  const tree = treeOf([folder("sub"), file("sub/a"), hard, link("l", "sub/hard"), link("m", "sub/../sub//./a")]);
  const followed = await followLinks(tree, forever);
  const contents = followed.map((entry) => (entry.type === "file" ? entry.read() : read()));
  await expect(Promise.all(contents)).resolves.toHaveLength(5);
});

test("the number of steps for all links together is limited", async () => {
  const links = Array.from({ length: 1_001 }, (_, at) => link(`l${at}`, `${"./".repeat(2_000)}x.yaml`));
  await expect(followLinks(treeOf([file("x.yaml"), ...links]), forever)).rejects.toThrow(
    `the links of the archive lead over more than ${maxSteps} folders and links`,
  );
});

test("an aborted run also stops following links, not only copying", async () => {
  const stopped = new AbortController();
  const asked: string[] = [];
  class Watched extends Map<string, LinkedEntry> {
    override get(path: string): LinkedEntry | undefined {
      asked.push(path);
      // Longer than a slice of time, so that the next look at the clock is one at the signal.
      const until = performance.now() + 25;
      while (performance.now() < until);
      stopped.abort(new Error("the time is over"));
      return super.get(path);
    }
  }
  const chain = Array.from({ length: 30 }, (_, at) => link(`l${at}`, at === 29 ? "x.yaml" : `l${at + 1}`));
  const tree = treeOf([...chain, file("x.yaml")], new Watched());
  await expect(followLinks(tree, stopped.signal)).rejects.toThrow("the time is over");
  expect(asked).toEqual(["l1"]);
});

/** What becomes of the link: the paths below it, or why it cannot be read. */
async function endOf(path: string, entries: readonly LinkedEntry[]): Promise<unknown> {
  const followed = await followLinks(treeOf(entries), forever);
  const own = followed.find((entry) => entry.path === path);
  if (own?.type === "file") {
    return own.read().then(
      () => "file",
      (error: unknown) => /, (which .*): put a file in its place/.exec(String(error))?.[1],
    );
  }
  return followed.flatMap((entry) => (entry.path.startsWith(`${path}/`) ? [entry.path.slice(path.length + 1)] : []));
}

const sides = [folder("apps"), file("apps/a"), folder("apps-old"), folder("apps-old/in")];
test.each([
  ["apps-old/l", "../apps", ["a"]],
  ["apps-old/in/l", "../../apps", ["a"]],
  ["apps/l", "../apps-old", ["in"]],
  ["apps/l", ".", "which points to a folder that contains it"],
  ["apps-old/in/l", "..", "which points to a folder that contains it"],
  ["apps/l", "a", "file"],
  ["apps/l", "../apps/a", "file"],
  ["apps/l", "../a", "which does not exist in the archive"],
  ["apps/l", "../..", "which leads out of the archive"],
  ["l", "apps-o", "which does not exist in the archive"],
  ["l", "/apps", "which leads out of the archive"],
])("the link from %s to %s", async (path, target, end) => {
  expect(await endOf(path, [...sides, link(path, target)])).toEqual(end);
  // Over another link, beside it, it comes to the same.
  const over = path.slice(0, path.lastIndexOf("/") + 1);
  const both = [...sides, link(path, "other"), link(`${over}other`, target)];
  expect(await endOf(path, both)).toEqual(end);
});
