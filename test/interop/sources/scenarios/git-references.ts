import { type Scenario, specs } from "../scenario.ts";
import { at, begin, main } from "./the-repository.ts";

export const gitReferences: readonly Scenario[] = [
  {
    name: "the reference of a git repository",
    steps: [
      { what: "without one", change: begin, apply: (hosts, place) => [at(hosts, place)] },
      ...specs(
        {
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
        },
        at,
      ),
    ],
  },
  {
    name: "a commit",
    steps: [
      { what: "the first", change: begin, apply: (hosts, place) => [at(hosts, place, main)] },
      {
        what: "of the branch",
        apply: (hosts, place) => [at(hosts, place, { ref: { branch: "main", commit: "HEAD" } })],
      },
    ],
  },
  {
    name: "an empty git repository",
    steps: [
      {
        what: "a branch",
        change: async ({ repository }, place) => void (await repository(place)),
        apply: (hosts, place) => [at(hosts, place, main)],
      },
      ...specs(
        {
          "a tag": { ref: { tag: "1.0.0" } },
          "a range": { ref: { semver: "1.x" } },
          "a name": { ref: { name: "refs/heads/main" } },
          "a commit": { ref: { commit: "0123456789012345678901234567890123456789" } },
          none: {},
        },
        at,
      ),
      { what: "a first commit", change: begin, apply: (hosts, place) => [at(hosts, place, main)] },
    ],
  },
  {
    name: "a branch that moves",
    isStory: true,
    steps: [
      { what: "the first", change: begin, apply: (hosts, place) => [at(hosts, place, main)] },
      {
        what: "the branch is moved back",
        change: async ({ repository }, place) => {
          const one = await repository(place);
          await one.git("update-ref", "refs/heads/main", "1.0.0");
        },
      },
      {
        what: "the branch is deleted",
        change: async ({ repository }, place) => {
          const one = await repository(place);
          await one.git("update-ref", "-d", "refs/heads/main");
        },
      },
      { what: "deleted", remove: ["GitRepository/app"] },
    ],
  },
];
