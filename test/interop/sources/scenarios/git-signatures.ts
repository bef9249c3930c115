import type { JsonObject } from "../../../../lib/core/json.ts";
import { type Scenario, specs } from "../scenario.ts";
import type { SourceHosts } from "../source-hosts.ts";
import { at, begin, main } from "./the-repository.ts";
import { gitRepository, secret, secretSteps } from "./written.ts";

const lib = { repository: { name: "lib" } };
const including = (hosts: SourceHosts, place: string, spec: JsonObject) => at(hosts, place, { ...main, ...spec });
const secretRef = { name: "keys" };

export const gitSignatures: readonly Scenario[] = [
  {
    name: "signatures of a git repository",
    steps: [
      {
        what: "a missing Secret",
        change: begin,
        apply: (hosts, place) => [
          secret("keys", { "a.asc": "x" }),
          at(hosts, place, { ...main, verify: { mode: "HEAD", secretRef: { name: "none" } } }),
        ],
      },
      ...secretSteps({ "an empty Secret": {}, "a key that is none": { "a.asc": "x" } }, (hosts, place, name) =>
        at(hosts, place, { ...main, verify: { mode: "HEAD", secretRef: { name } } }),
      ),
      ...specs(
        {
          "mode Tag of a branch": { ...main, verify: { mode: "Tag", secretRef } },
          "mode Tag of a tag that is not annotated": { ref: { tag: "1.0.0" }, verify: { mode: "Tag", secretRef } },
          "mode Tag of a tag that is not signed": { ref: { tag: "v1.1.0" }, verify: { mode: "Tag", secretRef } },
          "mode TagAndHEAD of a range": { ref: { semver: "1.x" }, verify: { mode: "TagAndHEAD", secretRef } },
          "mode head": { ...main, verify: { mode: "head", secretRef } },
          "without a mode": { ...main, verify: { secretRef } },
          "another mode": { ...main, verify: { mode: "other", secretRef } },
          "no verification": main,
        },
        at,
      ),
    ],
  },
  {
    name: "includes of a git repository",
    steps: [
      {
        what: "none",
        change: begin,
        apply: (hosts, place) => [
          gitRepository("lib", { url: `http://${hosts.git}/${place}.git`, ref: { tag: "1.0.0" } }),
          at(hosts, place, main),
        ],
      },
      ...specs(
        {
          "of itself": { include: [{ repository: { name: "app" } }] },
          "that is missing": { include: [{ repository: { name: "none" } }] },
          "of everything": { include: [lib] },
          "from a folder": { include: [{ ...lib, fromPath: "a", toPath: "x/y" }] },
          "of a file": { include: [{ ...lib, fromPath: "README.md", toPath: "lib.md" }] },
          "from outside": { include: [{ ...lib, fromPath: "../a", toPath: "../b" }] },
          "onto a file": { include: [{ ...lib, fromPath: "a", toPath: "README.md" }] },
          two: {
            include: [
              { ...lib, fromPath: "a", toPath: "one" },
              { ...lib, fromPath: "b", toPath: "two" },
            ],
          },
          "two in one place": {
            include: [
              { ...lib, fromPath: "a", toPath: "one" },
              { ...lib, fromPath: "b", toPath: "one" },
            ],
          },
        },
        including,
      ),
    ],
  },
];
