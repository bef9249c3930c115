import type { JsonObject } from "../../../../lib/core/json.ts";
import { pem } from "../../../doubles/pem.ts";
import type { Scenario, Step } from "../play-both.ts";
import type { SourceHosts } from "../source-hosts.ts";
import { gitRepository, login, secret } from "./written.ts";

const at = ({ git }: SourceHosts, ns: string, more: JsonObject = {}) =>
  gitRepository("app", { url: `http://${git}/${ns}.git`, ...more });

function specs(all: Readonly<Record<string, JsonObject>>): readonly Step[] {
  return Object.entries(all).map(([what, spec]) => ({ what, apply: (hosts, ns) => [at(hosts, ns, spec)] }));
}

const authority = await pem("server.crt");
const main = { ref: { branch: "main" } };
const files = { "a/one.yaml": "one: 1\n", "b/two.yaml": "two: 2\n", "README.md": "x\n", "image.png": "png" };

async function begin({ repository }: SourceHosts, ns: string): Promise<void> {
  const one = await repository(ns);
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

export const gitRepositories: readonly Scenario[] = [
  {
    name: "the reference of a git repository",
    steps: [
      { what: "without one", change: begin, apply: (hosts, ns) => [at(hosts, ns)] },
      ...specs({
        "a branch": main,
        "a branch with a slash": { ref: { branch: "feature/x" } },
        "a branch by its full name": { ref: { branch: "refs/heads/main" } },
        "an empty branch": { ref: { branch: "" } },
        "an empty reference": { ref: {} },
        "a branch that is missing": { ref: { branch: "none" } },
        "a tag": { ref: { tag: "1.0.0" } },
        "an annotated tag": { ref: { tag: "v1.1.0" } },
        "a tag with a slash": { ref: { tag: "feature/1" } },
        "a tag that is missing": { ref: { tag: "9.9.9" } },
        "a tag that is a branch": { ref: { tag: "main" } },
        "a range": { ref: { semver: "1.x" } },
        "a range with pre-releases": { ref: { semver: ">=1.0.0-0" } },
        "a range of an exact version": { ref: { semver: "1.1.0" } },
        "a range with v": { ref: { semver: "v1.1.0" } },
        "a range without a match": { ref: { semver: "9.x" } },
        "a range that is none": { ref: { semver: "latest" } },
        "the name of a branch": { ref: { name: "refs/heads/main" } },
        "the name of a tag": { ref: { name: "refs/tags/1.0.0" } },
        "the name of an annotated tag": { ref: { name: "refs/tags/v1.1.0" } },
        "the peeled name of a tag": { ref: { name: "refs/tags/v1.1.0^{}" } },
        "the name of a pull request": { ref: { name: "refs/pull/7/head" } },
        "a name that is missing": { ref: { name: "refs/heads/none" } },
        "a name that is short": { ref: { name: "main" } },
        "a name with a slash at its end": { ref: { name: "refs/heads/main/" } },
        "a name HEAD": { ref: { name: "HEAD" } },
        "a commit that is missing": { ref: { commit: "0123456789012345678901234567890123456789" } },
        "a commit that is short": { ref: { commit: "0123456" } },
        "a commit that is none": { ref: { commit: "xyz" } },
        "a commit of a branch that is missing": {
          ref: { branch: "none", commit: "0123456789012345678901234567890123456789" },
        },
        "a tag and a branch": { ref: { tag: "1.0.0", branch: "main" } },
        "a name and a tag": { ref: { tag: "1.0.0", name: "refs/heads/main" } },
        suspended: { ...main, suspend: true },
        resumed: main,
      }),
      {
        what: "the branch is moved back",
        change: async ({ repository }, ns) => {
          const one = await repository(ns);
          await one.git("update-ref", "refs/heads/main", "1.0.0");
        },
      },
      {
        what: "the branch is deleted",
        change: async ({ repository }, ns) => {
          const one = await repository(ns);
          await one.git("update-ref", "-d", "refs/heads/main");
        },
      },
      { what: "deleted", remove: ["GitRepository/app"] },
    ],
  },
  {
    name: "a commit",
    steps: [
      { what: "the first", change: begin, apply: (hosts, ns) => [at(hosts, ns, main)] },
      { what: "of the branch", apply: (hosts, ns) => [at(hosts, ns, { ref: { branch: "main", commit: "HEAD" } })] },
    ],
  },
  {
    name: "what a git repository takes",
    steps: [
      { what: "everything", change: begin, apply: (hosts, ns) => [at(hosts, ns, main)] },
      ...specs({
        "an ignore rule": { ...main, ignore: "b/\n" },
        "an ignore rule that re-includes": { ...main, ignore: "/*\n!/a\n" },
        "an ignore rule that is a comment": { ...main, ignore: "# nothing\n" },
        "an empty ignore": { ...main, ignore: "" },
        sparse: { ...main, sparseCheckout: ["a"] },
        "sparse with a dot": { ...main, sparseCheckout: ["./a", "b/"] },
        "sparse of a file": { ...main, sparseCheckout: ["a/one.yaml"] },
        "sparse of a missing folder": { ...main, sparseCheckout: ["none"] },
        "sparse outside": { ...main, sparseCheckout: ["../a"] },
        "sparse absolute": { ...main, sparseCheckout: ["/a"] },
        "sparse of everything": { ...main, sparseCheckout: ["."] },
        "sparse empty": { ...main, sparseCheckout: [""] },
        "submodules without any": { ...main, recurseSubmodules: true },
        "everything again": main,
      }),
      {
        what: "submodules that are missing",
        change: async ({ repository }, ns) => {
          const one = await repository(ns);
          await one.commit({ ...files, ".gitmodules": '[submodule "x"]\n\tpath = x\n\turl = ../none.git\n' });
        },
        apply: (hosts, ns) => [at(hosts, ns, { ...main, recurseSubmodules: true })],
      },
      {
        what: "only ignored files change",
        change: async ({ repository }, ns) => {
          const one = await repository(ns);
          await one.commit({ ...files, "image.png": "other" });
        },
        apply: (hosts, ns) => [at(hosts, ns, main)],
      },
      {
        what: "an empty message",
        change: async ({ repository }, ns) => {
          const one = await repository(ns);
          await one.commit({ ...files, "d.yaml": "d: 1\n" }, "main", "");
        },
      },
      {
        what: "a .sourceignore",
        change: async ({ repository }, ns) => {
          const one = await repository(ns);
          await one.commit({ ...files, ".sourceignore": "a/\n" }, "main", "ignore");
        },
      },
      {
        what: "everything is ignored",
        change: async ({ repository }, ns) => {
          const one = await repository(ns);
          await one.commit({ ...files, ".sourceignore": "*\n" }, "main", "ignore all");
        },
      },
      {
        what: "no files",
        change: async ({ repository }, ns) => {
          const one = await repository(ns);
          await one.commit({}, "main", "empty");
        },
      },
    ],
  },
  {
    name: "an empty git repository",
    steps: [
      {
        what: "a branch",
        change: async ({ repository }, ns) => void (await repository(ns)),
        apply: (hosts, ns) => [at(hosts, ns, main)],
      },
      ...specs({
        "a tag": { ref: { tag: "1.0.0" } },
        "a range": { ref: { semver: "1.x" } },
        "a name": { ref: { name: "refs/heads/main" } },
        "a commit": { ref: { commit: "0123456789012345678901234567890123456789" } },
        none: {},
      }),
      { what: "a first commit", change: begin, apply: (hosts, ns) => [at(hosts, ns, main)] },
    ],
  },
  {
    name: "the login of a git repository",
    steps: [
      {
        what: "none",
        change: async (hosts, ns) => begin(hosts, `closed-${ns}`),
        apply: (hosts, ns) => [at(hosts, `closed-${ns}`, main)],
      },
      ...Object.entries({
        "a missing Secret": undefined,
        "an empty Secret": {},
        "only a username": { username: "golden" },
        "only a password": { password: "golden-password" },
        "an empty username": { username: "", password: "golden-password" },
        "a wrong password": { username: "golden", password: "wrong" },
        "a bearer token": { bearerToken: "token" },
        "a bearer token and a login": { bearerToken: "token", username: "golden", password: "golden-password" },
        "an ssh key": { identity: "x", known_hosts: "y" },
        "an authority that is none": { username: "golden", password: "golden-password", "ca.crt": "x" },
        "a certificate without its key": { username: "golden", password: "golden-password", "tls.crt": "x" },
        "a GitHub App": { githubAppID: "1", githubAppInstallationID: "2", githubAppPrivateKey: "x" },
        "a line feed": { username: "golden", password: "golden-password\n" },
        "the right one": { username: "golden", password: "golden-password" },
      }).map(([what, data], index) => ({
        what,
        apply: (hosts: SourceHosts, ns: string) => [
          ...(data === undefined ? [] : [secret(`l${index}`, data as Record<string, string>)]),
          at(hosts, `closed-${ns}`, { ...main, secretRef: { name: `l${index}` } }),
        ],
      })),
      {
        what: "provider github without a Secret",
        apply: (hosts, ns) => [at(hosts, `closed-${ns}`, { ...main, provider: "github" })],
      },
      {
        what: "provider github with a login",
        apply: (hosts, ns) => [
          login("login"),
          at(hosts, `closed-${ns}`, { ...main, provider: "github", secretRef: { name: "login" } }),
        ],
      },
      {
        what: "provider github with half an App",
        apply: (hosts, ns) => [
          secret("half", { githubAppID: "1", githubAppPrivateKey: "x" }),
          at(hosts, `closed-${ns}`, { ...main, provider: "github", secretRef: { name: "half" } }),
        ],
      },
      {
        what: "provider github with a key that is none",
        apply: (hosts, ns) => [
          secret("badkey", { githubAppID: "1", githubAppInstallationID: "2", githubAppPrivateKey: "x" }),
          at(hosts, `closed-${ns}`, { ...main, provider: "github", secretRef: { name: "badkey" } }),
        ],
      },
      { what: "provider aws", apply: (hosts, ns) => [at(hosts, `closed-${ns}`, { ...main, provider: "aws" })] },
      { what: "provider unknown", apply: (hosts, ns) => [at(hosts, `closed-${ns}`, { ...main, provider: "other" })] },
      {
        what: "a service account without a provider",
        apply: (hosts, ns) => [at(hosts, `closed-${ns}`, { ...main, serviceAccountName: "x" })],
      },
      {
        what: "a proxy that is missing",
        apply: (hosts, ns) => [at(hosts, `closed-${ns}`, { ...main, proxySecretRef: { name: "none" } })],
      },
      ...Object.entries({
        "without an address": {},
        "with an empty address": { address: "" },
        "of another scheme": { address: "ftp://127.0.0.1:1" },
        "without a scheme": { address: "127.0.0.1:1" },
        "at a closed port": { address: "http://127.0.0.1:1" },
        "of SOCKS at a closed port": { address: "socks5://127.0.0.1:1" },
      }).map(([what, data], index) => ({
        what: `a proxy ${what}`,
        apply: (hosts: SourceHosts, ns: string) => [
          secret(`p${index}`, data as Record<string, string>),
          at(hosts, `closed-${ns}`, { ...main, proxySecretRef: { name: `p${index}` } }),
        ],
      })),
    ],
  },
  {
    name: "the URL of a git repository",
    steps: [
      { what: "of a closed port", apply: () => [gitRepository("app", { url: "http://127.0.0.1:1/app.git", ...main })] },
      {
        what: "of nothing",
        apply: (hosts) => [gitRepository("app", { url: `http://${hosts.git}/none.git`, ...main })],
      },
      {
        what: "of an unknown host",
        apply: () => [gitRepository("app", { url: "http://nowhere.invalid/app.git", ...main })],
      },
      {
        what: "of a web page",
        change: ({ files: pages }, ns) => void pages.set(`/${ns}.git/info/refs`, "<html></html>"),
        apply: (hosts, ns) => [gitRepository("app", { url: `http://${hosts.http}/${ns}.git`, ...main })],
      },
      {
        what: "of TLS that is none",
        apply: (hosts, ns) => [gitRepository("app", { url: `https://${hosts.git}/${ns}.git`, ...main })],
      },
      {
        what: "of an unknown authority",
        apply: (hosts, ns) => [gitRepository("app", { url: `https://${hosts.https}/${ns}.git`, ...main })],
      },
      { what: "with the authority", apply: withAuthority },
      {
        what: "of ssh without a Secret",
        apply: () => [gitRepository("app", { url: "ssh://git@127.0.0.1:1/app.git", ...main })],
      },
      {
        what: "of ssh with a login",
        apply: () => [
          login("login"),
          gitRepository("app", { url: "ssh://git@127.0.0.1:1/app.git", ...main, secretRef: { name: "login" } }),
        ],
      },
      {
        what: "of ssh with only a key",
        apply: () => [
          secret("k1", { identity: "x" }),
          gitRepository("app", { url: "ssh://git@127.0.0.1:1/app.git", ...main, secretRef: { name: "k1" } }),
        ],
      },
      {
        what: "of ssh with a key that is none",
        apply: () => [
          secret("k2", { identity: "x", known_hosts: "y" }),
          gitRepository("app", { url: "ssh://git@127.0.0.1:1/app.git", ...main, secretRef: { name: "k2" } }),
        ],
      },
      { what: "without a path", apply: (hosts) => [gitRepository("app", { url: `http://${hosts.git}`, ...main })] },
      {
        what: "with a bad escape",
        apply: (hosts) => [gitRepository("app", { url: `http://${hosts.git}/%zz`, ...main })],
      },
      { what: "like scp", apply: () => [gitRepository("app", { url: "git@127.0.0.1:app.git", ...main })] },
      { what: "without a host", apply: () => [gitRepository("app", { url: "http://", ...main })] },
    ],
  },
  {
    name: "signatures and includes of a git repository",
    steps: [
      {
        what: "a missing Secret",
        change: begin,
        apply: (hosts, ns) => [at(hosts, ns, { ...main, verify: { mode: "HEAD", secretRef: { name: "none" } } })],
      },
      {
        what: "an empty Secret",
        apply: (hosts, ns) => [
          secret("keys", {}),
          at(hosts, ns, { ...main, verify: { mode: "HEAD", secretRef: { name: "keys" } } }),
        ],
      },
      { what: "a key that is none", apply: () => [secret("keys", { "a.asc": "x" })] },
      {
        what: "mode Tag of a branch",
        apply: (hosts, ns) => [at(hosts, ns, { ...main, verify: { mode: "Tag", secretRef: { name: "keys" } } })],
      },
      {
        what: "mode Tag of a tag that is not annotated",
        apply: (hosts, ns) => [
          at(hosts, ns, { ref: { tag: "1.0.0" }, verify: { mode: "Tag", secretRef: { name: "keys" } } }),
        ],
      },
      {
        what: "mode Tag of a tag that is not signed",
        apply: (hosts, ns) => [
          at(hosts, ns, { ref: { tag: "v1.1.0" }, verify: { mode: "Tag", secretRef: { name: "keys" } } }),
        ],
      },
      {
        what: "mode TagAndHEAD of a range",
        apply: (hosts, ns) => [
          at(hosts, ns, { ref: { semver: "1.x" }, verify: { mode: "TagAndHEAD", secretRef: { name: "keys" } } }),
        ],
      },
      {
        what: "mode head",
        apply: (hosts, ns) => [at(hosts, ns, { ...main, verify: { mode: "head", secretRef: { name: "keys" } } })],
      },
      {
        what: "without a mode",
        apply: (hosts, ns) => [at(hosts, ns, { ...main, verify: { secretRef: { name: "keys" } } })],
      },
      {
        what: "another mode",
        apply: (hosts, ns) => [at(hosts, ns, { ...main, verify: { mode: "other", secretRef: { name: "keys" } } })],
      },
      { what: "no verification", apply: (hosts, ns) => [at(hosts, ns, main)] },
      {
        what: "an include of itself",
        apply: (hosts, ns) => [at(hosts, ns, { ...main, include: [{ repository: { name: "app" } }] })],
      },
      {
        what: "an include that is missing",
        apply: (hosts, ns) => [at(hosts, ns, { ...main, include: [{ repository: { name: "lib" } }] })],
      },
      {
        what: "an include",
        apply: (hosts, ns) => [
          gitRepository("lib", { url: `http://${hosts.git}/${ns}.git`, ref: { tag: "1.0.0" } }),
          at(hosts, ns, { ...main, include: [{ repository: { name: "lib" } }] }),
        ],
      },
      {
        what: "an include from a folder",
        apply: (hosts, ns) => [
          at(hosts, ns, { ...main, include: [{ repository: { name: "lib" }, fromPath: "a", toPath: "x/y" }] }),
        ],
      },
      {
        what: "an include of a file",
        apply: (hosts, ns) => [
          at(hosts, ns, {
            ...main,
            include: [{ repository: { name: "lib" }, fromPath: "README.md", toPath: "lib.md" }],
          }),
        ],
      },
      {
        what: "an include from outside",
        apply: (hosts, ns) => [
          at(hosts, ns, { ...main, include: [{ repository: { name: "lib" }, fromPath: "../a", toPath: "../b" }] }),
        ],
      },
      {
        what: "an include onto a file",
        apply: (hosts, ns) => [
          at(hosts, ns, { ...main, include: [{ repository: { name: "lib" }, fromPath: "a", toPath: "README.md" }] }),
        ],
      },
      {
        what: "two includes",
        apply: (hosts, ns) => [
          at(hosts, ns, {
            ...main,
            include: [
              { repository: { name: "lib" }, fromPath: "a", toPath: "one" },
              { repository: { name: "lib" }, fromPath: "b", toPath: "two" },
            ],
          }),
        ],
      },
      {
        what: "two includes in one place",
        apply: (hosts, ns) => [
          at(hosts, ns, {
            ...main,
            include: [
              { repository: { name: "lib" }, fromPath: "a", toPath: "one" },
              { repository: { name: "lib" }, fromPath: "b", toPath: "one" },
            ],
          }),
        ],
      },
    ],
  },
];

function withAuthority(hosts: SourceHosts, ns: string) {
  return [
    secret("authority", { "ca.crt": authority }),
    gitRepository("app", { url: `https://${hosts.https}/${ns}.git`, ...main, secretRef: { name: "authority" } }),
  ];
}
