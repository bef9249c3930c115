import { describe, expect, test } from "vitest";
import { codeCommitLogin, codeCommitPassword } from "../../../../lib/aws/codecommit/codecommit-login.ts";

const now = new Date("2010-10-08T00:00:00Z");
const key = { accessKeyId: "foo", secretAccessKey: "bar" };
const never = new AbortController().signal;

describe("the signature is the same as the AWS CLI credential helper's, by the vectors of its own tests", () => {
  test.each([
    ["git-codecommit", "7dc259e2d505af354a1219b9bcd784bd384dc706efa0d9aefc571f214be4c89c"],
    ["git-codecommit-fips", "500037cb3514b3fe01ebcda7c80973f5b4c0d8199a7a6563b85fd6edf272d460"],
  ])("%s", (host, signature) => {
    // They have two slashes: the helper puts one before the path that its tests begin with one.
    const url = new URL(`https://${host}.us-east-1.amazonaws.com//v1/repos/myrepo`);
    const { username, password } = codeCommitPassword(url, "us-east-1", key, now);
    expect([username, password.reveal()]).toEqual(["foo", `20101008T000000Z${signature}`]);
  });
});

describe("a login", () => {
  const asked: unknown[] = [];
  const login = codeCommitLogin({
    connection: { credentials: { ...key, sessionToken: "token" } },
    clock: { now: () => now.getTime() },
    isAllowed: (tenant, repository) => {
      asked.push([tenant, repository]);
      return repository.endsWith("/myrepo");
    },
  });
  const get = (url: string) => login.credentials({ url: new URL(url), cluster: "c", namespace: "apps" }, never);

  test("has the session token in its username, and checks whether the namespace may use Sluice's identity", async () => {
    const { username } = await get("https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/myrepo");
    expect(username).toBe("foo%token");
    expect(asked.at(-1)).toEqual([
      { cluster: "c", namespace: "apps" },
      "git-codecommit.eu-west-1.amazonaws.com/v1/repos/myrepo",
    ]);
  });

  test("is refused for a repository that is not listed", async () => {
    await expect(get("https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/other")).rejects.toMatchObject({
      reason: "not-allowed",
      message:
        "this installation does not lend its AWS identity to namespace apps for git-codecommit.eu-west-1.amazonaws.com/v1/repos/other: add it to the repositories of this cluster in the installation, or give a secretRef",
    });
  });

  test.each([
    [
      "http://git-codecommit.eu-west-1.amazonaws.com/v1/repos/myrepo",
      "AWS CodeCommit authentication requires an HTTPS Git URL",
    ],
    ["https://github.com/v1/repos/myrepo", "invalid AWS CodeCommit Git URL: github.com"],
    [
      "https://git-codecommit.eu-west-1.amazonaws.com.evil.example/v1/repos/myrepo",
      "invalid AWS CodeCommit Git URL: git-codecommit.eu-west-1.amazonaws.com.evil.example",
    ],
    // Flux's own rule takes it: the second label is the region, and the end is Amazon's.
    [
      "https://git-codecommit.x.s3.amazonaws.com/v1/repos/myrepo",
      "invalid AWS CodeCommit Git URL: git-codecommit.x.s3.amazonaws.com",
    ],
    [
      "https://git-codecommit.eu-west-1.amazonaws.com:8443/v1/repos/myrepo",
      "invalid AWS CodeCommit Git URL: git-codecommit.eu-west-1.amazonaws.com:8443",
    ],
  ])("is refused for %s before anything is signed (11.2/47)", async (url, message) => {
    await expect(get(url)).rejects.toMatchObject({ reason: "not-supported", message });
  });

  test("fails without an identity", async () => {
    const none = codeCommitLogin({
      connection: { credentials: () => Promise.reject(new Error("Could not load credentials from any providers")) },
      clock: { now: () => 0 },
      isAllowed: () => true,
    });
    const url = new URL("https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/myrepo");
    await expect(none.credentials({ url, cluster: "c", namespace: "apps" }, never)).rejects.toMatchObject({
      reason: "failed",
      message: "failed to get access token for Git repository: Could not load credentials from any providers",
    });
  });
});
