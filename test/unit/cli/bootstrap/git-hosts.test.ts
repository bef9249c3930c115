import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { HostAccess } from "../../../../cli/bootstrap/git-host.ts";
import { repositoryUrls } from "../../../../cli/bootstrap/git-host.ts";
import { githubHost } from "../../../../cli/bootstrap/github-host.ts";
import { gitlabHost } from "../../../../cli/bootstrap/gitlab-host.ts";
import { homeNetwork } from "../../../../lib/core/network/network-policy.ts";
import { httpClient } from "../../../../lib/http/http-client.ts";
import { gitPrograms } from "../../../doubles/git-server.ts";
import { type Hosting, hosting } from "../../../doubles/hosting.ts";

const { signal } = new AbortController();
const http = httpClient({ network: homeNetwork });

describe.skipIf(gitPrograms === undefined)("a repository on a git host (git with http-backend is needed)", () => {
  let host: Hosting;
  beforeAll(async () => {
    host = await hosting();
  });
  afterAll(async () => {
    await host[Symbol.asyncDispose]();
    http.close();
  });

  const hosts = { GitHub: githubHost, GitLab: gitlabHost } as const;
  const open = (name: keyof typeof hosts, repository: string, more: Partial<HostAccess> = {}) => {
    const access = { owner: "acme", repository, isPersonal: false, origin: host.origin, token: host.token };
    return hosts[name]({ ...access, ...more }, http);
  };
  const names = ["GitHub", "GitLab"] as const;
  const key = { title: "sluice", key: "ssh-ed25519 AAAAkey", isReadOnly: true };

  test.each(names)("on %s is created once, and made public only on request", async (name) => {
    const own = open(name, `once-${name}`);
    const wanted = { isPrivate: true, reconcile: false };
    expect(await own.ensureRepository(wanted, signal)).toBe("created");
    expect(await own.ensureRepository({ ...wanted, isPrivate: false }, signal)).toBe("present");
    expect(host.repositories.get(own.repository)?.isPrivate).toBe(true);
    expect(await own.ensureRepository({ isPrivate: false, reconcile: true }, signal)).toBe("changed");
    expect(host.repositories.get(own.repository)?.isPrivate).toBe(false);
    expect(await own.ensureRepository({ isPrivate: false, reconcile: true }, signal)).toBe("present");
  });

  test.each(names)(
    "on %s gets a deploy key once, whatever its comment is, and never one with other rights",
    async (name) => {
      const own = open(name, `key-${name}`);
      await own.ensureRepository({ isPrivate: true, reconcile: false }, signal);
      expect(await own.ensureDeployKey(key, signal)).toBe("created");
      expect(await own.ensureDeployKey({ ...key, key: `${key.key} jane@laptop\n` }, signal)).toBe("present");
      expect(host.repositories.get(own.repository)?.keys).toEqual([key]);
      await expect(own.ensureDeployKey({ ...key, isReadOnly: false }, signal)).rejects.toThrow(
        `the deploy key sluice of ${own.repository} is read-only and is wanted to write: delete it on ${name} and run the command again`,
      );
      const other = { ...key, key: "ssh-ed25519 AAAAother", isReadOnly: false };
      expect(await own.ensureDeployKey(other, signal)).toBe("created");
      await expect(own.ensureDeployKey({ ...other, isReadOnly: true }, signal)).rejects.toThrow(
        `the deploy key sluice of ${own.repository} may write and is wanted read-only`,
      );
    },
  );

  test.each(names)("on %s gets one webhook per address", async (name) => {
    const own = open(name, `hook-${name}`);
    await own.ensureRepository({ isPrivate: true, reconcile: false }, signal);
    const hook = { url: "https://hooks.test/hook/1", secret: "token" };
    expect(await own.ensureHook(hook, signal)).toBe("created");
    expect(await own.ensureHook(hook, signal)).toBe("present");
    expect(await own.ensureHook({ ...hook, url: "https://hooks.test/hook/2" }, signal)).toBe("created");
    expect(host.repositories.get(own.repository)?.hooks).toEqual([hook, { ...hook, url: "https://hooks.test/hook/2" }]);
  });

  test.each([
    ["GitHub", "push", "push", "ops"],
    ["GitLab", "push", 30, "2"],
  ] as const)("on %s gives a team the access %s once", async (name, access, stored, team) => {
    const own = open(name, `team-${name}`);
    await own.ensureRepository({ isPrivate: true, reconcile: false }, signal);
    expect(await own.ensureTeam({ team: "ops", access }, signal)).toBe("created");
    expect(await own.ensureTeam({ team: "ops", access }, signal)).toBe("present");
    expect(host.repositories.get(own.repository)?.teams).toEqual(new Map([[team, stored]]));
    await expect(own.ensureTeam({ team: "ops", access: "owner" }, signal)).rejects.toThrow(
      `--team ops:owner: there is no access owner on ${name}, can be: `,
    );
  });

  test.each([
    ["GitHub", "GITHUB_TOKEN"],
    ["GitLab", "GITLAB_TOKEN"],
  ] as const)("on %s of a user is created with a token of this user only", async (name, variable) => {
    const wanted = { isPrivate: true, reconcile: false };
    const personal = open(name, `own-${name}`, { owner: "Jane", isPersonal: true });
    expect(await personal.ensureRepository(wanted, signal)).toBe("created");
    const foreign = open(name, `own-${name}`, { owner: "joe", isPersonal: true });
    await expect(foreign.ensureRepository(wanted, signal)).rejects.toThrow(
      `the token of ${variable} is of the user jane, and --owner is joe: give --owner=jane, or a token of joe`,
    );
  });

  test("on GitLab in a group that the token cannot see is refused with the mend", async () => {
    const hidden = open("GitLab", "fleet", { owner: "hidden" });
    await expect(hidden.ensureRepository({ isPrivate: true, reconcile: false }, signal)).rejects.toThrow(
      "GitLab has no group hidden that the token of GITLAB_TOKEN may see: create it, or give --personal if it is a user",
    );
  });
});

test("a repository is cloned by HTTPS with the port of its host, and by SSH without", () => {
  const { https, ssh } = repositoryUrls({ owner: "acme", repository: "fleet", origin: "https://git.test:8443" });
  expect([https.href, ssh.href]).toEqual(["https://git.test:8443/acme/fleet.git", "ssh://git@git.test/acme/fleet"]);
});
