import { describe, expect, test } from "vitest";
import type { HostParts, HostSettings } from "../../../../lib/git-hosts/host-settings.ts";
import { ensurePullRequest, type WantedRequest } from "../../../../lib/image/pull-request/ensure-pull-request.ts";
import { asksForPullRequest } from "../../../../lib/image/pull-request/find-host.ts";
import { maxGiteaPages } from "../../../../lib/image/pull-request/gitea-requests.ts";
import { hostLogin } from "../../../../lib/image/pull-request/login.ts";
import { type MemoryRequestHost, memoryRequestHost } from "./memory-request-host.ts";

const forever = new AbortController().signal;
const wanted: WantedRequest = {
  head: "images",
  base: "main",
  title: "Update web",
  body: "web:1 -> web:2",
  automation: { namespace: "apps", name: "images" },
  host: "true",
};
const marker = "<!-- sluice.dev/image-update-automation: apps/images -->";
const names = ["github", "gitlab", "gitea"] as const;

function partsOf(host: MemoryRequestHost): HostParts {
  return { http: host, now: () => 0, sleep: async () => {} };
}

function settingsOf(address: string, more: Partial<HostSettings> = {}): HostSettings {
  return { address, token: "golden-token", password: "", ...more };
}

const ensure = (
  host: MemoryRequestHost,
  name: string,
  more: Partial<WantedRequest> = {},
  settings: Partial<HostSettings> = {},
) =>
  ensurePullRequest(
    { ...wanted, ...more },
    settingsOf(`https://${name}.example.test/shop/deploy.git`, settings),
    partsOf(host),
    forever,
  );

describe.each(names)("a pull request on %s", (name) => {
  test("is opened if there is none, with the marker of its automation", async () => {
    const host = memoryRequestHost();
    const { change, url } = await ensure(host, name);
    expect(change).toBe("created");
    expect(url).toMatch(new RegExp(`^https://${name}\\.example\\.test/shop/deploy/.*1$`));
    expect(host.kept).toMatchObject([
      { head: "images", base: "main", title: "Update web", body: `web:1 -> web:2\n\n${marker}` },
    ]);
  });

  test("is changed in place if its text differs, and left alone otherwise", async () => {
    const host = memoryRequestHost();
    const { url } = await ensure(host, name);
    expect(await ensure(host, name)).toEqual({ url, change: "unchanged" });
    expect(await ensure(host, name, { body: "web:2 -> web:3" })).toEqual({ url, change: "updated" });
    expect(await ensure(host, name, { title: "Update all", body: "" })).toEqual({ url, change: "updated" });
    expect(host.kept).toMatchObject([{ title: "Update all", body: marker }]);
    const writes = host.asked.filter((each) => !each.startsWith("GET "));
    expect(writes).toHaveLength(3);
  });

  test("is not changed because of CRLF from a browser or blanks that the host trimmed", async () => {
    const host = memoryRequestHost();
    await ensure(host, name, { body: "a\nb" });
    const [kept] = host.kept;
    if (kept !== undefined) Object.assign(kept, { title: "Update web ", body: `a\r\nb\r\n\r\n${marker}\r\n` });
    expect(await ensure(host, name, { body: "a\nb" })).toMatchObject({ change: "unchanged" });
  });

  test.each([
    ["a user", "Please merge"],
    ["another automation", "x\n\n<!-- sluice.dev/image-update-automation: apps/other -->"],
  ])("keeps the text of %s", async (_who, body) => {
    const host = memoryRequestHost();
    const theirs = { number: 1, head: "images", base: "main", title: "Mine", body, isOpen: true };
    host.kept.push({ ...theirs });
    expect(await ensure(host, name)).toMatchObject({ change: "unchanged", url: expect.stringMatching(/1$/) });
    expect(host.kept).toEqual([theirs]);
  });

  test("is not mistaken for a closed one, one of another branch or one of a fork", async () => {
    const host = memoryRequestHost();
    const other = { title: "Other", body: marker };
    host.kept.push(
      { number: 1, head: "images", base: "main", isOpen: false, ...other },
      { number: 2, head: "images", base: "stable", isOpen: true, ...other },
      { number: 3, head: "images", base: "main", isOpen: true, isOfFork: true, ...other },
    );
    expect(await ensure(host, name)).toMatchObject({ change: "created", url: expect.stringMatching(/4$/) });
    expect(host.kept.slice(0, 3).map(({ title }) => title)).toEqual(["Other", "Other", "Other"]);
  });

  test("that another run opened at the same time is found", async () => {
    const host = memoryRequestHost();
    let lists = 0;
    host.answer = ({ method, url }) =>
      method === "GET" && !url.endsWith("/version") && lists++ === 0 ? { status: 200, body: "[]" } : undefined;
    host.kept.push({ number: 1, head: "images", base: "main", title: "Old", body: marker, isOpen: true });
    expect(await ensure(host, name)).toMatchObject({ change: "updated", url: expect.stringMatching(/1$/) });
    expect(host.kept).toHaveLength(1);
  });

  test("with special characters in its branches is looked up by the exact names", async () => {
    const host = memoryRequestHost();
    const branches = { head: "flux/ünï+code&x=1#y", base: "release 1" };
    await ensure(host, name, branches);
    expect(await ensure(host, name, branches)).toMatchObject({ change: "unchanged" });
    expect(host.kept).toMatchObject([branches]);
  });

  test("that the host refuses is reported with the host's message, without the token", async () => {
    const host = memoryRequestHost();
    host.answer = ({ method }) =>
      method === "POST" ? { status: 403, body: '{"message": "golden-token may not write here"}' } : undefined;
    const failing = ensure(host, name);
    await expect(failing).rejects.toMatchObject({ name: "Failure", reason: "GitOperationFailed", retry: "backoff" });
    await expect(failing).rejects.toThrow(
      /^failed to open the pull request from images to main: .*\*{5} may not write here/,
    );
    await expect(failing).rejects.not.toThrow("golden-token");
    await expect(ensure(memoryRequestHost(), name, {}, { token: "wrong" })).rejects.toThrow("Bad credentials");
  });

  test("with an unexpected answer fails", async () => {
    const host = memoryRequestHost();
    host.answer = ({ url }) =>
      url.endsWith("/version") ? undefined : { status: 200, body: '[{"number": "one", "iid": "one"}]' };
    await expect(ensure(host, name)).rejects.toThrow("the answer is not the one of Git");
  });

  test("with an address that is not http(s) is not shown", async () => {
    const host = memoryRequestHost();
    host.answer = ({ method }) => {
      const shape = { number: 1, iid: 1, title: "a", source_branch: "images", target_branch: "main" };
      const side = { ref: "images", repo_id: 1 };
      const pages = { html_url: "javascript:alert(1)", web_url: "javascript:alert(1)" };
      return method === "POST"
        ? { status: 201, body: JSON.stringify({ ...shape, ...pages, head: side, base: side }) }
        : undefined;
    };
    await expect(ensure(host, name)).rejects.toThrow("the host gives no address of the request's page");
  });

  test("without a token sends no request", async () => {
    const host = memoryRequestHost();
    await expect(ensure(host, name, {}, { token: "" })).rejects.toThrow(new RegExp(`${name} token`));
    expect(host.asked).toEqual([]);
  });

  test("throws the reason of a run that is aborted", async () => {
    const reason = new Error("the run ends");
    const host = memoryRequestHost();
    const ending = AbortSignal.abort(reason);
    host.answer = () => {
      throw reason;
    };
    const settings = settingsOf(`https://${name}.example.test/shop/deploy`);
    await expect(ensurePullRequest(wanted, settings, partsOf(host), ending)).rejects.toBe(reason);
  });
});

describe("the git host of an automation is found", () => {
  test.each([
    ["https://github.com/shop/deploy", "GET https://api.github.com/repos/shop/deploy/pulls?"],
    ["ssh://git@github.com/shop/deploy.git", "GET https://api.github.com/repos/shop/deploy/pulls?"],
    ["ssh://git@ssh.github.com:443/shop/deploy.git", "GET https://api.github.com/repos/shop/deploy/pulls?"],
    ["https://gitlab.com/shop/deploy.git", "GET https://gitlab.com/api/v4/projects/shop%2Fdeploy/merge_requests?"],
    ["ssh://git@gitlab.corp.test:2222/shop/deploy", "GET https://gitlab.corp.test/api/v4/projects/shop%2Fdeploy/"],
    ["https://codeberg.org/shop/deploy", "GET https://codeberg.org/api/v1/version"],
    ["https://git.forgejo.test:8443/shop/deploy", "GET https://git.forgejo.test:8443/api/v1/version"],
  ])("for %s", async (address, first) => {
    const host = memoryRequestHost();
    host.answer = () => ({ status: 500, body: "{}" });
    await expect(ensurePullRequest(wanted, settingsOf(address), partsOf(host), forever)).rejects.toThrow(
      "failed to open",
    );
    expect(host.asked[0]?.startsWith(first)).toBe(true);
  });

  test("by the annotation if the address does not show it", async () => {
    const host = memoryRequestHost();
    expect(await ensure(host, "code", { host: "gitea" })).toMatchObject({ change: "created" });
    await expect(ensure(host, "code")).rejects.toThrow(
      "it is not known which product runs on code.example.test: set the annotation sluice.dev/pull-request to one of github, gitlab, gitea in place of true",
    );
    await expect(ensure(host, "github", { host: "svn" })).rejects.toThrow(
      'annotation sluice.dev/pull-request is "svn": set it to true or one of github, gitlab, gitea',
    );
  });

  test("only if the annotation asks for it", () => {
    expect([undefined, "false", "true", "gitlab"].map(asksForPullRequest)).toEqual([false, false, true, true]);
  });
});

test("Gitea's list of pull requests is read page by page, up to a limit", async () => {
  const open = (number: number) => {
    const title = `Other ${number}`;
    return { number, head: `b${number}`, base: "main", title, body: "", isOpen: true };
  };
  const host = memoryRequestHost();
  for (let number = 1; number <= 60; number++) host.kept.push(open(number));
  await ensure(host, "gitea");
  expect(await ensure(host, "gitea", { title: "New" })).toMatchObject({ change: "updated" });
  const many = memoryRequestHost();
  for (let number = 1; number <= maxGiteaPages * 50; number++) many.kept.push(open(number));
  await expect(ensure(many, "gitea")).rejects.toThrow(`more than ${maxGiteaPages} pages of open pull requests`);
});

describe("the login for the API", () => {
  const login = (data: Readonly<Record<string, string>>) => hostLogin(new Map(Object.entries(data)));

  test("is the token or the password of the Secret that git uses", () => {
    expect(login({ username: "git", password: "golden-token\n" })).toEqual({ token: "", password: "golden-token" });
    expect(login({ bearerToken: "golden-token" })).toEqual({ token: "golden-token", password: "" });
    expect(login({ token: "api", password: "git" })).toEqual({ token: "api", password: "git" });
  });

  test("is never the password of an SSH key", () => {
    expect(login({ identity: "key", password: "of the key" })).toEqual({ token: "", password: "" });
  });

  test("is the GitHub App of the Secret", () => {
    const app = { githubAppID: "7", githubAppPrivateKey: "pem", githubAppInstallationID: "8" };
    expect(login(app)).toMatchObject({ githubApp: { appId: "7", privateKey: "pem", installationId: "8" } });
  });
});
