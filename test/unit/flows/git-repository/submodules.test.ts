import { describe, expect, test } from "vitest";
import { maxSubmoduleDepth, maxSubmodules } from "../../../../lib/flows/git-repository/submodules.ts";
import { maxGitmodulesBytes } from "../../../../lib/sources/git/checkout/gitmodules.ts";
import { defaultGitLimits } from "../../../../lib/sources/git/git-remote.ts";
import { maxTreeEntries } from "../../../../lib/sources/git/git-tree.ts";
import type { MemoryFile } from "../../../doubles/memory-git.ts";
import { gitWorld, manifest } from "./git-world.ts";

const { world, repository, status, condition, conditions, message, apply, run, stored, opened } = gitWorld();
const determined = "failed to checkout and determine revision";

describe("submodules", () => {
  const url = "https://git.example.test/lib.git";
  const gitmodules = (to: string) => `[submodule "lib"]\n\tpath = vendor/lib\n\turl = ${to} ; a comment\n`;

  test("are empty folders by default; with recurseSubmodules their files are fetched, including nested submodules", async () => {
    const deep = repository("https://git.example.test/deep.git").commit({ "deep.yaml": "deep\n" });
    const lib = repository(url).commit({
      ".gitmodules": '[submodule "deep"]\npath = "deep"\nurl = ../deep.git\n',
      "lib.yaml": "lib\n",
      deep: { commit: deep },
    });
    repository().commit({ ".gitmodules": gitmodules("../lib.git"), "a.yaml": manifest, "vendor/lib": { commit: lib } });
    apply();
    await run();
    expect((await stored()).names).toEqual(["- 600 a.yaml", "d 750 vendor", "d 750 vendor/lib"]);
    apply({ recurseSubmodules: true });
    await run();
    expect((await stored()).files).toEqual({
      "a.yaml": manifest,
      "vendor/lib/lib.yaml": "lib\n",
      "vendor/lib/deep/deep.yaml": "deep\n",
    });
    expect(status()).toMatchObject({ observedRecurseSubmodules: true });
  });

  test("with relative URLs are resolved against the repository that declares them, not against the outermost one", async () => {
    const at = (path: string) => `https://git.example.test/${path}.git`;
    const deep = repository(at("group/deep")).commit({ "deep.yaml": "deep\n" });
    repository(at("deep")).commit({ "deep.yaml": "another\n" });
    const lib = repository(at("group/lib")).commit({
      ".gitmodules": '[submodule "deep"]\npath = deep\nurl = ../deep.git\n',
      deep: { commit: deep },
    });
    repository().commit({ ".gitmodules": gitmodules("../group/lib.git"), "vendor/lib": { commit: lib } });
    apply({ recurseSubmodules: true });
    await run();
    expect((await stored()).files).toEqual({ "vendor/lib/deep/deep.yaml": "deep\n" });
    expect(opened.map((one) => one.url)).toEqual([at("app"), at("group/lib"), at("group/deep")]);
  });

  test("are read from an executable .gitmodules too, but not from one that is a symbolic link", async () => {
    const lib = repository(url).commit({ "lib.yaml": "x\n" });
    apply({ recurseSubmodules: true });
    for (const [file, ends] of [
      [{ exec: gitmodules(url) }, "Ready=True Succeeded"],
      [{ link: "modules.txt" }, "Ready=False GitOperationFailed"],
    ] as const) {
      repository().commit({ ".gitmodules": file, "modules.txt": gitmodules(url), "vendor/lib": { commit: lib } });
      await run();
      expect(conditions()).toContain(ends);
    }
  });

  test("are fetched at their recorded commit, wherever their branches are now", async () => {
    const lib = repository(url).commit({ "lib.yaml": "old\n" });
    repository(url).commit({ "lib.yaml": "new\n" });
    repository().commit({ ".gitmodules": gitmodules(url), "vendor/lib": { commit: lib } });
    apply({ recurseSubmodules: true });
    await run();
    expect((await stored()).files).toEqual({ "vendor/lib/lib.yaml": "old\n" });
  });

  test("on the same host get the login of their parent; on another host they do not", async () => {
    const elsewhere = "https://elsewhere.example.test/lib.git";
    const [own, other] = [url, elsewhere].map((each) => repository(each).commit({ "lib.yaml": "x\n" }));
    repository().commit({
      ".gitmodules": `[submodule "a"]\npath = a\nurl = ${url}\n[submodule "b"]\npath = b\nurl = ${elsewhere}\n[submodule "c"]\npath = c\nurl = ${url.replace("https", "http")}\n`,
      a: { commit: own ?? "" },
      b: { commit: other ?? "" },
      c: { commit: repository(url.replace("https", "http")).commit({ "lib.yaml": "x\n" }) },
    });
    apply({ recurseSubmodules: true, url: "https://user:password@git.example.test/app.git" });
    await run();
    expect(conditions()).toContain("Ready=True Succeeded");
    expect(opened.map((one) => one.url)).toEqual([
      "https://user:password@git.example.test/app.git",
      "https://user:password@git.example.test/lib.git",
      elsewhere,
      url.replace("https", "http"),
    ]);
  });

  test.each([
    { secretRef: { name: "login" } },
    { provider: "aws" },
    { provider: "azure", serviceAccountName: "robot" },
  ])("get the login of %j on the same host only, and not behind a redirect through another host", async (login) => {
    const at = (host: string, name: string) => `https://${host}/${name}.git`;
    const own = "git.example.test";
    /** A repository with one submodule, and the submodule's. */
    const chain = (urls: readonly string[]): string => {
      const [to = "", ...rest] = urls;
      if (rest.length === 0) return repository(to).commit({ "end.yaml": "x\n" });
      const [next = ""] = rest;
      return repository(to).commit({
        ".gitmodules": `[submodule "s"]\npath = s\nurl = ${next}\n`,
        s: { commit: chain(rest) },
      });
    };
    const urls = [
      at(own, "app"),
      at(own, "inner"),
      at(`${own}:8443`, "port"),
      at(own, "behind"),
      at(`${own}.evil.test`, "evil"),
      at(own, "last"),
    ];
    chain(urls);
    apply({ recurseSubmodules: true, ...login });
    await run();
    expect(opened).toEqual(urls.map((to, index) => ({ url: to, hasLogin: index < 2 })));
  });

  test.each(["file:///etc", "/etc", "ext::sh -c x", "git://git.example.test/lib.git"])(
    "at %s are refused by name",
    async (to) => {
      repository().commit({ ".gitmodules": gitmodules(to), "vendor/lib": { commit: "1".repeat(40) } });
      apply({ recurseSubmodules: true });
      await run();
      expect(message()).toBe(
        `${determined}: submodule 'vendor/lib' has a URL that is not relative and does not begin with http://, https:// or ssh://: correct it in .gitmodules`,
      );
    },
  );

  test("that cannot be fetched fail the run, and the message names them", async () => {
    repository(url).commit({ "lib.yaml": "x\n" });
    repository().commit({ ".gitmodules": gitmodules(url), "vendor/lib": { commit: "1".repeat(40) } });
    apply({ recurseSubmodules: true });
    await run();
    expect(message()).toContain(
      `${determined}: unable to clone 'https://git.example.test/app.git': submodule 'vendor/lib' at '${url}': `,
    );
  });

  test("that cannot be fetched leave the status conditions of the source as a failed clone does", async () => {
    repository().commit({ ".gitmodules": gitmodules("../lib.git"), "vendor/lib": { commit: "1".repeat(40) } });
    apply({ recurseSubmodules: true });
    await run();
    expect(condition("Reconciling")).toMatchObject({ message: "building artifact" });
  });

  test("in a folder of spec.sparseCheckout are fetched, even if .gitmodules is outside these folders", async () => {
    const lib = repository(url).commit({ "lib.yaml": "lib\n" });
    repository().commit({ ".gitmodules": gitmodules("../lib.git"), "a.yaml": manifest, "vendor/lib": { commit: lib } });
    apply({ recurseSubmodules: true, sparseCheckout: ["vendor"] });
    await run();
    expect((await stored()).files).toEqual({ "vendor/lib/lib.yaml": "lib\n" });
  });

  test("without a URL are refused by name: an empty folder would be pruned", async () => {
    const lib = repository(url).commit({ "lib.yaml": "x\n" });
    const files = { "a.yaml": manifest, "vendor/lib": { commit: lib } };
    apply({ recurseSubmodules: true });
    for (const own of [{}, { ".gitmodules": "" }, { ".gitmodules": '[submodule "lib"]\npath = vendor/lib\n' }]) {
      repository().commit({ ...files, ...own });
      await run();
      expect(conditions()).toContain("FetchFailed=True GitOperationFailed");
      expect(message()).toBe(
        `${determined}: no url found for submodule 'vendor/lib': name it with its path and url in .gitmodules, or remove it with 'git rm --cached vendor/lib'`,
      );
    }
    repository().commit({ ...files, ".gitmodules": `[submodule "lib"] path = vendor/lib\nurl = ${url}\n` });
    await run();
    expect(Object.keys((await stored()).files)).toContain("vendor/lib/lib.yaml");
  });

  test("nested more than ten levels deep are refused", async () => {
    // A commit cannot name itself, so each names the one before.
    let commit = repository(url).commit({ "end.yaml": "x" });
    for (let depth = 0; depth < 12; depth++) {
      commit = repository(url).commit({
        ".gitmodules": `[submodule "s"]\npath = s\nurl = ${url}\n`,
        [`${depth}.yaml`]: "x",
        s: { commit },
      });
    }
    repository().commit({ ".gitmodules": gitmodules(url), "vendor/lib": { commit } });
    apply({ recurseSubmodules: true });
    await run();
    expect(message()).toBe(
      `${determined}: submodule 'vendor/lib${"/s".repeat(maxSubmoduleDepth)}' is nested more than ${maxSubmoduleDepth} submodules deep`,
    );
  });

  test("with a .gitmodules that is too long are refused", async () => {
    const text = `${gitmodules(url)}${"#".repeat(maxGitmodulesBytes)}`;
    repository().commit({ ".gitmodules": text, "vendor/lib": { commit: "1".repeat(40) } });
    apply({ recurseSubmodules: true });
    await run();
    expect(message()).toBe(`${determined}: .gitmodules has more than 1048576 bytes`);
  });

  describe("submodules and their parent share the limits of one revision", () => {
    const others = Array.from({ length: 3 }, (_, at) => `https://git.example.test/s${at}.git`);
    const use = (files: Readonly<Record<string, MemoryFile>>) => {
      const commits = others.map((other) => repository(other).commit(files));
      repository().commit({
        ".gitmodules": others.map((to, at) => `[submodule "s${at}"]\npath = s${at}\nurl = ${to}\n`).join(""),
        ...Object.fromEntries(commits.map((commit, at) => [`s${at}`, { commit }])),
      });
      apply({ recurseSubmodules: true });
    };

    test("for packed bytes", async () => {
      use({ "a.yaml": manifest });
      for (const other of others) repository(other).costs.packedBytes = defaultGitLimits.maxPackBytes / 3;
      await run();
      expect(conditions()).toContain("Ready=True Succeeded");
      use({ "b.yaml": manifest });
      for (const other of others) repository(other).costs.packedBytes = defaultGitLimits.maxPackBytes / 3 + 1;
      await run();
      expect(message()).toContain(
        `submodule 's2' at '${others[2]}': the packs of the revision have more than ${defaultGitLimits.maxPackBytes} bytes together`,
      );
    });

    test("for files and folders", async () => {
      use(Object.fromEntries(Array.from({ length: 34_000 }, (_, at) => [`f${at}`, "x"])));
      await run();
      expect(message()).toContain(
        `submodule 's2' at '${others[2]}': the tree has more than ${maxTreeEntries} files and folders`,
      );
    });

    test("for time", async () => {
      use({ "a.yaml": manifest });
      repository(others[0]).costs.onFetch = () => void (world().state.now += 60_000);
      await run();
      expect(message()).toContain(
        `submodule 's1' at '${others[1]}': the submodules took longer together than spec.timeout, 60s`,
      );
    });
  });

  test("and for the number of submodules, a hundred", async () => {
    const lib = repository(url).commit({ "lib.yaml": "x\n" });
    const names = Array.from({ length: maxSubmodules + 1 }, (_, at) => `s${at}`);
    repository().commit({
      ".gitmodules": names.map((name) => `[submodule "${name}"]\npath = ${name}\nurl = ${url}\n`).join(""),
      ...Object.fromEntries(names.map((name) => [name, { commit: lib }])),
    });
    apply({ recurseSubmodules: true });
    await run();
    expect(message()).toBe(`${determined}: the revision has more than 100 submodules`);
  });
});
