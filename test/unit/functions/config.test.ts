import { describe, expect, test } from "vitest";
import { isAllowedRepository } from "../../../functions/settings/allowed-repositories.ts";
import { ReconcileConfig, readConfig } from "../../../functions/settings/config.ts";
import { maxNetworks, readInstallation } from "../../../functions/settings/installation.ts";
import { functionEnvironment } from "../../doubles/function-environment.ts";

/** Queues of so many networks. */
function queuesOf(count: number): string {
  const url = "https://sqs.eu-west-1.amazonaws.com/123456789012/reconcile";
  return JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, url])));
}

function faultOf(env: Readonly<Record<string, string | undefined>>): string {
  try {
    readConfig(ReconcileConfig, env);
    return "";
  } catch (error) {
    return String(error);
  }
}

describe("the environment of a function", () => {
  test("may leave out variables with a default", () => {
    expect(readConfig(ReconcileConfig, { ...functionEnvironment, PATH: "/bin" })).toEqual({
      ...functionEnvironment,
      SLUICE_QUEUE_URLS: { default: "https://sqs.eu-west-1.amazonaws.com/123456789012/reconcile" },
      SLUICE_NETWORK: "default",
      SLUICE_LOCAL_ADDRESSES: "refused",
      SLUICE_DEADLINE_RESERVE_MS: 15_000,
      SLUICE_CONCURRENCY: 8,
      SLUICE_LOG_LEVEL: "info",
    });
  });

  test("reports every missing variable", () => {
    const fault = faultOf({});
    for (const name of Object.keys(functionEnvironment)) expect(fault).toContain(`${name} `);
  });

  test.each([
    ["AWS_REGION", ""],
    ["SLUICE_TABLE", "hunter2!"],
    ["SLUICE_QUEUE_URLS", "hunter2"],
    ["SLUICE_QUEUE_URLS", "{}"],
    ["SLUICE_QUEUE_URLS", '{"default":"hunter2"}'],
    ["SLUICE_QUEUE_URLS", '{"default":"https://user:hunter2@sqs.test/reconcile"}'],
    ["SLUICE_QUEUE_URLS", '{"hunter_2":"https://sqs.eu-west-1.amazonaws.com/123456789012/reconcile"}'],
    ["SLUICE_QUEUE_URLS", queuesOf(maxNetworks + 1)],
    ["SLUICE_NETWORK", "hunter_2"],
    ["SLUICE_NETWORK", "hunter2"],
    ["SLUICE_INSTALLATION_BUCKET", "Hunter2"],
    ["SLUICE_INSTALLATION_KEY", "hunter2".repeat(200)],
    ["SLUICE_INSTALLATION_DIGEST", "sha256:hunter2"],
    ["SLUICE_DEAD_LETTER_QUEUE_URL", "https://sqs.test/1/hunter2"],
    ["SLUICE_NOTIFICATION_QUEUE_URL", "https://sqs.eu-west-1.amazonaws.com/123456789012/hunter2"],
    ["SLUICE_BUCKET", "Hunter2"],
    ["SLUICE_BUCKET_ACCOUNT", "hunter2"],
    ["SLUICE_LOCAL_ADDRESSES", "hunter2"],
    ["SLUICE_DEADLINE_RESERVE_MS", "hunter2"],
    ["SLUICE_DEADLINE_RESERVE_MS", "1.5"],
    ["SLUICE_CONCURRENCY", "0"],
    ["SLUICE_LOG_LEVEL", "hunter2"],
  ])("with a bad %s is refused by that name without quoting the value %j", (name = "", value = "") => {
    const fault = faultOf({ ...functionEnvironment, [name]: value });
    expect(fault).toMatch(new RegExp(`the function's environment is not usable: ${name} [^;]+$`));
    expect(fault).not.toContain("unter2");
  });

  test("may name as many networks as an installation may have", () => {
    expect(faultOf({ ...functionEnvironment, SLUICE_QUEUE_URLS: queuesOf(maxNetworks), SLUICE_NETWORK: "n1" })).toBe(
      "",
    );
  });

  test("reports all bad variables at once", () => {
    expect(faultOf({ ...functionEnvironment, SLUICE_TABLE: "", SLUICE_BUCKET: "" })).toMatch(
      /SLUICE_TABLE .*; SLUICE_BUCKET /,
    );
  });
});

describe("repositories that a namespace may pull with Sluice's identity", () => {
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

  const host = "111122223333.dkr.ecr.eu-west-1.amazonaws.com";
  const hosts = [
    host,
    "111122223333.dkr-ecr.eu-west-1.on.aws",
    "111122223333.dkr.ecr-fips.eu-west-1.amazonaws.com",
    "111122223333.dkr-ecr-fips.eu-west-1.on.aws",
    `${host}:443`,
  ];
  test.each(hosts)("are the same for each host name of an ECR registry: %s", (listed) => {
    const one = { apps: [`${listed}/team/*`, `${listed}/one`] };
    for (const named of hosts) {
      expect(isAllowedRepository(one, "apps", `${named}/team/web`)).toBe(true);
      expect(isAllowedRepository(one, "apps", `${named}/one`)).toBe(true);
      expect(isAllowedRepository(one, "apps", `${named}/other`)).toBe(false);
    }
    for (const other of ["111122223333.dkr-ecr.eu-west-2.on.aws", "111122223334.dkr-ecr.eu-west-1.on.aws"]) {
      expect(isAllowedRepository(one, "apps", `${other}/one`)).toBe(false);
    }
  });

  const faultsOf = (pattern: string) => {
    const clusters = [{ arn: "arn:aws:eks:eu-west-1:123456789012:cluster/prod", repositories: { apps: [pattern] } }];
    const read = readInstallation(JSON.stringify({ version: 1, clusters }));
    return "faults" in read ? read.faults : [];
  };

  const codeCommit = "git-codecommit.eu-west-1.amazonaws.com";
  test.each(["/v1/repos/*", "/v1/repos/app", "/v1/repos/Team.a_b-*"])("need the full host of CodeCommit: %s", (path) =>
    expect(faultsOf(`${codeCommit}${path}`)).toEqual([]),
  );
  test.each(["/*", "/v1/*", "/v1/repos/", "/v1/repos/a/b", ".evil.example/v1/repos/*"])(
    "of CodeCommit need their full path: %s",
    (path) => expect(faultsOf(`${codeCommit}${path}`)).toHaveLength(1),
  );

  test.each(["/*", "/team/*", "/team*", "/team/web", "/a.b_c-d/e"])("need the full host of ECR: %s", (path) =>
    expect(faultsOf(`${host}${path}`)).toEqual([]),
  );

  test.each([
    "*",
    "hunter2/*",
    "1*",
    host,
    `${host}/`,
    `${host}*`,
    "111122223333.dkr.ecr.*/team",
    "r.test/team/*",
    `${host}.hunter2.test/team`,
    `${host}/a*b`,
  ])("are refused if they are invalid: %s", (pattern) => {
    expect(faultsOf(pattern)).toEqual([
      expect.stringMatching(
        /^clusters\[0\]\.repositories\.apps\[0\] must begin with the whole host of ECR or CodeCommit/,
      ),
    ]);
  });
});
