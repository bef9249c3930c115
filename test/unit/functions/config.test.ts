import { describe, expect, test } from "vitest";
import { Config, readConfig } from "../../../functions/config.ts";
import { isAllowedRepository } from "../../../functions/lambda/allowed-repository.ts";
import { defaultSettings } from "../../../functions/settings/settings.ts";
import { functionEnvironment } from "../../doubles/function-environment.ts";

function faultOf(env: Readonly<Record<string, string | undefined>>): string {
  try {
    readConfig(Config, env);
    return "";
  } catch (error) {
    return String(error);
  }
}

describe("the environment of a function", () => {
  test("may leave out what has a usual value", () => {
    expect(readConfig(Config, { ...functionEnvironment, PATH: "/bin" })).toEqual({
      ...functionEnvironment,
      SLUICE_REPOSITORIES: {},
      SLUICE_SETTINGS: { values: defaultSettings, given: new Set() },
      SLUICE_LOCAL_ADDRESSES: "refused",
      SLUICE_DEADLINE_RESERVE_MS: 15_000,
      SLUICE_CONCURRENCY: 8,
      SLUICE_LOG_LEVEL: "info",
    });
  });

  test("that lacks everything is told every variable", () => {
    const fault = faultOf({});
    for (const name of Object.keys(functionEnvironment)) expect(fault).toContain(`${name} `);
  });

  test.each([
    ["AWS_REGION", ""],
    ["SLUICE_TABLE", "hunter2!"],
    ["SLUICE_QUEUE_URL", "hunter2"],
    ["SLUICE_QUEUE_URL", "https://user:hunter2@sqs.test/reconcile"],
    ["SLUICE_DEAD_LETTER_QUEUE_URL", "https://sqs.test/1/hunter2"],
    ["SLUICE_BUCKET", "Hunter2"],
    ["SLUICE_BUCKET_ACCOUNT", "hunter2"],
    ["SLUICE_CLUSTER", "hunter2"],
    ["SLUICE_REPOSITORIES", "hunter2"],
    ["SLUICE_REPOSITORIES", '{"apps":"hunter2"}'],
    ...[
      "*",
      "hunter2/*",
      "1*",
      "111122223333.dkr.ecr.eu-west-1.amazonaws.com",
      "111122223333.dkr.ecr.eu-west-1.amazonaws.com/",
    ]
      .concat("111122223333.dkr.ecr.eu-west-1.amazonaws.com*", "111122223333.dkr.ecr.*/team", "r.test/team/*")
      .concat(
        "111122223333.dkr.ecr.eu-west-1.amazonaws.com.hunter2.test/team",
        "111122223333.dkr.ecr.eu-west-1.amazonaws.com/a*b",
      )
      .map((pattern) => ["SLUICE_REPOSITORIES", JSON.stringify({ apps: [pattern] })]),
    ["SLUICE_LOCAL_ADDRESSES", "hunter2"],
    ["SLUICE_DEADLINE_RESERVE_MS", "hunter2"],
    ["SLUICE_DEADLINE_RESERVE_MS", "1.5"],
    ["SLUICE_CONCURRENCY", "0"],
    ["SLUICE_LOG_LEVEL", "hunter2"],
    ["SLUICE_SETTINGS", "hunter2"],
    ["SLUICE_SETTINGS", '{"no-cross-namespace-refs": "hunter2"}'],
  ])("with a bad %s is refused by that name, and the value %j is not quoted", (name = "", value = "") => {
    const fault = faultOf({ ...functionEnvironment, [name]: value });
    expect(fault).toMatch(new RegExp(`the function's environment is not usable: ${name} [^;]+$`));
    expect(fault).not.toContain("unter2");
  });

  test("with settings that are not usable is told each of their faults", () => {
    const SLUICE_SETTINGS = "no-cross-namespace-ref: true\nconcurrent-ssa: 0";
    expect(faultOf({ ...functionEnvironment, SLUICE_SETTINGS })).toMatch(
      /SLUICE_SETTINGS concurrent-ssa must .*; SLUICE_SETTINGS no-cross-namespace-ref is not a setting/,
    );
  });

  test("with several bad variables is told all of them at once", () => {
    expect(faultOf({ ...functionEnvironment, SLUICE_TABLE: "", SLUICE_CLUSTER: "prod" })).toMatch(
      /SLUICE_TABLE .*; SLUICE_CLUSTER /,
    );
  });
});

describe("repositories that a namespace may pull with our identity", () => {
  const allowed = { apps: ["r.test/team/*", "r.test/one"], constructor: ["r.test/x"] };
  test.each([
    ["apps", "r.test/team/web", true],
    ["apps", "r.test/one", true],
    ["apps", "r.test/one/more", false],
    ["apps", "r.test/teams", false],
    ["other", "r.test/one", false],
    ["toString", "r.test/one", false],
  ])("%s, %s: %s", (namespace, repository, expected) => {
    expect(isAllowedRepository(allowed, namespace, repository)).toBe(expected);
  });

  test.each(["/*", "/team/*", "/team*", "/team/web", "/a.b_c-d/e"])(
    "are named with the whole host of ECR: %s",
    (path) => {
      const SLUICE_REPOSITORIES = JSON.stringify({ apps: [`111122223333.dkr.ecr.eu-west-1.amazonaws.com${path}`] });
      expect(faultOf({ ...functionEnvironment, SLUICE_REPOSITORIES })).toBe("");
    },
  );
});
