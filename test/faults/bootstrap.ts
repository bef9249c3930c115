import type { FileFaults } from "./fault.ts";

const files = ["test/unit/cli/bootstrap/sync-files.test.ts"];
const api = ["test/unit/cli/bootstrap/host-api.test.ts"];
const options = ["test/unit/cli/bootstrap/options.test.ts"];

export const bootstrapFaults: readonly FileFaults[] = [
  {
    file: "cli/bootstrap/sync-files.ts",
    tests: files,
    faults: [
      {
        what: "a folder that names another cluster is accepted if this cluster follows it",
        find: "if (named === cluster) return;",
        replace: "if (named === cluster || isFollowed) return;",
      },
      {
        what: "a folder that contains another cluster's folder is accepted",
        find: "  for (const [path, named] of files.others) {\n    if (named === cluster) continue;",
        replace: "  for (const [path, named] of files.others) {\n    if (named !== undefined) continue;",
      },
      {
        what: "a folder inside another cluster's folder is accepted",
        find: "  for (const [path, named] of files.around) {\n    if (named === cluster) continue;",
        replace: "  for (const [path, named] of files.around) {\n    if (named !== undefined) continue;",
      },
      {
        what: "--force accepts a folder with Flux's controllers",
        find: "if (files.hasComponents) {",
        replace: "if (files.hasComponents && !force) {",
      },
      {
        what: "a user's kustomization.yaml is written again",
        find: "if (files.kustomization === undefined) {",
        replace: "if (files.kustomization !== kustomizationText) {",
      },
      {
        what: "a symbolic link is read as a file",
        find: 'if (file.type === "symlink") {',
        replace: 'if (file.type === "executable") {',
      },
    ],
  },
  {
    file: "cli/bootstrap/sync-manifests.ts",
    tests: files,
    faults: [
      {
        what: "a comment names the cluster",
        find: "/^ {1,16}sluice",
        replace: "/sluice",
      },
    ],
  },
  {
    file: "cli/bootstrap/host-api.ts",
    tests: api,
    faults: [
      {
        what: "the answer of a host shows the token",
        find: 'token === "" ? text : text.replaceAll(token, "*****")',
        replace: 'token === "" ? text : text.replace(`Bearer ${token}`, "*****")',
      },
      {
        what: "a list ends after its first page",
        find: "if (found.length < pageSize) return entries;",
        replace: "if (found.length <= pageSize) return entries;",
      },
      {
        what: "a rate limit is reported as a missing right",
        find: '(status === 403 && sent["x-ratelimit-remaining"] === "0")',
        replace: "status === 418",
      },
    ],
  },
  {
    file: "cli/bootstrap-git.ts",
    tests: options,
    faults: [
      {
        what: "a password in the URL is written to the repository",
        find: 'if (url.password !== "") {',
        replace: 'if (url.password === " ") {',
      },
    ],
  },
];
