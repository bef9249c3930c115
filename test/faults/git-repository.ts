import type { FileFaults } from "./fault.ts";

const unit = "test/unit/flows/git-repository";

/** Likely mistakes in what becomes of a revision of git. */
export const gitRepositoryFaults: readonly FileFaults[] = [
  {
    file: "lib/flows/git-repository/git-failure.ts",
    tests: [`${unit}/refs.test.ts`],
    faults: [
      {
        what: "the login of a URL that cannot be read ends at the first slash",
        find: 'given.replace(/\\/\\/.*@/s, "//");',
        replace: 'given.replace(/\\/\\/[^/@]*@/, "//");',
      },
    ],
  },
  {
    file: "lib/flows/git-repository/git-repository-flow.ts",
    tests: [`${unit}/refs.test.ts`],
    faults: [
      {
        what: "an include is the same at another revision with its content",
        find: "artifacts.map(({ digest, revision }) => [digest, revision])",
        replace: "artifacts.map(({ digest }) => [digest])",
        tests: ["test/unit/flows/git-repository/include.test.ts"],
      },
      {
        what: "only the first include is awaited",
        find: "const awaited = (spec.include ?? []).map(",
        replace: "const awaited = (spec.include ?? []).slice(0, 1).map(",
        tests: ["test/unit/flows/git-repository/include.test.ts"],
      },
      {
        what: "a part of a password is quoted as a port",
        find: "fault !== undefined && !/^[^/]*\\/\\/[^/?#]*[/?#].*@/s.test(spec.url);",
        replace: "fault !== undefined;",
      },
    ],
  },
  {
    file: "lib/sources/archive/follow-links.ts",
    tests: [`${unit}/content.test.ts`],
    faults: [
      {
        what: "a link that leads above the root leads to the root",
        find: 'if (at === "") return outside;',
        replace: 'if (at === "") continue;',
      },
      {
        what: "the number of followed links is not limited",
        find: "--budget.steps < 0",
        replace: "--budget.steps < -1e9",
        tests: ["test/unit/sources/follow-links.test.ts"],
      },
      {
        what: "an abort is noticed only between copies",
        find: "if (budget.slices.isOver()) await budget.slices.pause();",
        replace: "",
        tests: ["test/unit/sources/follow-links.test.ts"],
      },
      {
        what: "a hard link on the path is resolved from its folder",
        find: 'return isHard === true ? "" : path',
        replace: 'return isHard === undefined && path === "" ? "" : path',
        tests: ["test/unit/sources/follow-links.test.ts"],
      },
    ],
  },
  {
    file: "lib/sources/git/checkout/gitmodules.ts",
    tests: [`${unit}/submodules.test.ts`],
    faults: [
      {
        what: "the user of an scp-like address is git",
        find: "`ssh://${user}@${host}/",
        replace: "`ssh://git@${host}/",
        tests: ["test/unit/sources/git/checkout/gitmodules.test.ts"],
      },
      {
        what: "a query of the repository takes part in a relative URL",
        find: `    base.search = "";
`,
        replace: "",
        tests: ["test/unit/sources/git/checkout/gitmodules.test.ts"],
      },
      {
        what: "the login of a submodule's own URL is replaced",
        find: 'if (one.username !== "" || one.password !== "") return url;',
        replace: "",
        tests: ["test/unit/sources/git/checkout/gitmodules.test.ts"],
      },
      {
        what: "a submodule in plain text gets the login of https",
        find: "one.protocol === other.protocol && ",
        replace: "",
      },
      {
        what: "a submodule on another host gets the login",
        find: "one.host.toLowerCase() === other.host.toLowerCase()",
        replace: "one.host !== ''",
      },
    ],
  },
  {
    file: "lib/sources/git/choose-ref.ts",
    tests: [`${unit}/refs.test.ts`],
    faults: [
      {
        what: "a branch beside a commit and a name is told as counting",
        find: ' || (field === "branch" && (ref.name ?? "") === ""))',
        replace: ' || field === "branch")',
        tests: ["test/unit/flows/git-repository/refs.test.ts"],
      },
      {
        what: "a deleted branch counts as existing if another has its prefix",
        find: "!refs.some((one) => one.name === heads + branch)) throw",
        replace: "!refs.some((one) => one.name.startsWith(heads + branch))) throw",
        tests: ["test/unit/flows/git-repository/refs.test.ts"],
      },
      {
        what: "a commit is searched in branches with the same prefix",
        find: 'refs.filter((one) => branch === "" || one.name === heads + branch)',
        replace: "refs.filter((one) => one.name.startsWith(heads + branch))",
        tests: ["test/unit/flows/git-repository/refs.test.ts"],
      },
      {
        what: "of tags of the same age the first by name is chosen",
        find: "time(a) === time(b) && a.name > b.name",
        replace: "time(a) === time(b) && a.name < b.name",
        tests: ["test/unit/flows/git-repository/refs.test.ts"],
      },
      {
        what: "the time of an annotated tag is looked for at the tag object",
        find: "const commitOf = ({ oid, peeled }: GitRef): string => peeled ?? oid;",
        replace: "const commitOf = ({ oid }: GitRef): string => oid;",
        tests: ["test/unit/flows/git-repository/refs.test.ts"],
      },
      {
        what: "a branch beside a commit and a name stands in the revision",
        find: 'const named = name === "" ? branch : name;',
        replace: 'const named = branch === "" ? name : branch;',
        tests: ["test/unit/flows/git-repository/refs.test.ts"],
      },
      {
        what: "semver wins over tag, as Flux's documents say",
        find: `const order = ["commit", "name", "tag", "semver"] as const;`,
        replace: `const order = ["commit", "name", "semver", "tag"] as const;`,
      },
      {
        what: "a commit in upper case is invalid",
        find: "const oid = commit.toLowerCase();",
        replace: "const oid = commit;",
      },
    ],
  },
  {
    file: "lib/flows/git-repository/git-repository-flow.ts",
    tests: [`${unit}/include.test.ts`],
    faults: [
      {
        what: "an error of git's client is reported before a missing include",
        find: 'if (!(error instanceof Failure && error.reason === "GitOperationFailed")) throw error;',
        replace: 'if (!(error instanceof Failure && error.reason === "CopyFailure")) throw error;',
      },
      {
        what: "an artifact stays outdated while the refs cannot be read",
        find: '  ctx.setStatus(removeConditions(ctx.status(), ["ArtifactOutdated"]));',
        replace: "",
      },
      {
        what: "a recovery event names the revision in place of the commit",
        find: "isListedFirst ? artifact.revision : await",
        replace: 'isListedFirst || chosen.commit !== "" ? artifact.revision : await',
        tests: [`${unit}/refs.test.ts`],
      },
    ],
  },
  {
    file: "lib/flows/git-repository/pull-revision.ts",
    tests: [`${unit}/content.test.ts`],
    faults: [
      {
        what: "the tag object is fetched in mode Tag alone",
        find: "const isTagWanted = spec.verify !== undefined && tag?.oid !== undefined;",
        replace: 'const isTagWanted = spec.verify?.mode === "Tag" && tag?.oid !== undefined;',
        tests: ["test/unit/flows/git-repository/verify.test.ts"],
      },
      {
        what: "the root next to another folder is left out",
        find: 'folders.length === 0 || folders.includes("") ? undefined',
        replace: 'folders.length === 0 || folders.every((one) => one === "") ? undefined',
        tests: ["test/unit/flows/git-repository/content.test.ts"],
      },
      {
        what: "a path that begins with a slash is found",
        find: 'const plain = path.replace(/^\\.\\//, "");',
        replace: "const plain = confined(path);",
      },
      {
        what: "a new revision is shown before its submodules are fetched",
        find: "if (spec.recurseSubmodules === true) {",
        replace: "await announce();\n    if (spec.recurseSubmodules === true) {",
        tests: [`${unit}/submodules.test.ts`],
      },
    ],
  },
  {
    file: "lib/sources/git/checkout/check-out.ts",
    tests: [`${unit}/content.test.ts`],
    faults: [
      {
        what: "an executable .gitmodules is ignored",
        find: '(type === "file" || type === "executable")) gitmodules',
        replace: 'type === "file") gitmodules',
        tests: ["test/unit/flows/git-repository/submodules.test.ts"],
      },
      {
        what: "a Git LFS pointer is stored as the file",
        find: "if (bytes.length < maxPointerBytes &&",
        replace: "if (bytes.length < 0 &&",
      },
      {
        what: ".gitmodules is left out with spec.sparseCheckout",
        find: 'folders: [...folders, ".gitmodules"]',
        replace: "folders",
        tests: [`${unit}/submodules.test.ts`],
      },
    ],
  },
  {
    file: "lib/flows/git-repository/includes.ts",
    tests: ["test/unit/flows/git-repository/include.test.ts"],
    faults: [
      {
        what: "an empty toPath is the root",
        find: 'const toPath = include.toPath === undefined || include.toPath === "" ? repository.name : include.toPath;',
        replace: "const toPath = include.toPath ?? repository.name;",
      },
      {
        what: "paths with the prefix of fromPath are included too",
        find: "path === from || path.startsWith(`${from}/`));",
        replace: "path.startsWith(from));",
      },
    ],
  },
  {
    file: "lib/flows/git-repository/submodules.ts",
    tests: ["test/unit/flows/git-repository/submodules.test.ts"],
    faults: [
      {
        what: "a relative URL in a submodule is resolved from the outermost repository",
        find: "submoduleUrl(submodule, parent.url)",
        replace: "submoduleUrl(submodule, outermost.url)",
      },
      {
        what: "the login of a provider goes to another host",
        find: `  provider: _provider,
`,
        replace: "",
      },
      {
        what: "the identity of a service account goes to another host",
        find: `  serviceAccountName: _account,
`,
        replace: "",
      },
      {
        what: "another host gets its submodules fetched with our login",
        find: "sharesLogin(url, spec.url) && sharesLogin(url, parent)",
        replace: "sharesLogin(url, spec.url)",
      },
    ],
  },
  {
    file: "lib/flows/git-repository/credentials.ts",
    tests: ["test/unit/flows/git-repository/credentials.test.ts"],
    faults: [
      {
        what: "the user of a URL is sent with its escapes",
        find: 'const username = read("username") || percentDecoded(url.username);',
        replace: 'const username = read("username") || url.username;',
      },
    ],
  },
];
