import { describe, expect, test } from "vitest";
import { pushConfig } from "../../../../lib/flows/image-update-automation/push-config.ts";

type Git = Parameters<typeof pushConfig>[0];
const commit: Git["commit"] = { author: { email: "flux@example.test" } };

describe("the branch that an automation pushes to", () => {
  test.each<{
    name: string;
    git: Partial<Git>;
    ref?: Parameters<typeof pushConfig>[1]["ref"];
    branch: string;
    isSwitched: boolean;
  }>([
    { name: "the branch of the GitRepository", git: {}, ref: { branch: "main" }, branch: "main", isSwitched: false },
    {
      name: "the branch that is checked out instead",
      git: { checkout: { ref: { branch: "dev" } } },
      ref: { branch: "main" },
      branch: "dev",
      isSwitched: false,
    },
    {
      name: "another branch",
      git: { push: { branch: "updates" } },
      ref: { branch: "main" },
      branch: "updates",
      isSwitched: true,
    },
    {
      name: "the same branch by name",
      git: { push: { branch: "main" } },
      ref: { name: "refs/heads/main" },
      branch: "main",
      isSwitched: false,
    },
    {
      name: "master, if none is named",
      git: { push: { branch: "master" } },
      branch: "master",
      isSwitched: false,
    },
    {
      name: "a tag beside a branch",
      git: {},
      ref: { branch: "main", tag: "v1.0.0" },
      branch: "main",
      isSwitched: true,
    },
    {
      name: "a branch beside an empty one for the push",
      git: { push: { branch: "" } },
      ref: { branch: "main" },
      branch: "main",
      isSwitched: false,
    },
  ])("is set by $name", ({ git, ref, branch, isSwitched }) => {
    const config = pushConfig({ commit, ...git }, ref === undefined ? {} : { ref });
    expect(config).toMatchObject({ branch, isSwitched });
  });

  test.each<{ ref?: Parameters<typeof pushConfig>[1]["ref"] }>([
    {},
    { ref: { tag: "v1" } },
    { ref: { commit: "a".repeat(40) } },
  ])("image-automation/56: is unknown with $ref", ({ ref }) => {
    expect(pushConfig({ commit }, ref === undefined ? {} : { ref })).toBeUndefined();
  });

  test("image-automation/55: push options are sent as key=value, sorted by key", () => {
    const push = { branch: "main", options: { "merge_request.target": "main", "merge_request.create": "" } };
    expect(pushConfig({ commit, push }, {})?.options).toEqual(["merge_request.create=", "merge_request.target=main"]);
  });
});
