import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { relativePath } from "../../../../cli/relative-path.ts";
import { run } from "../../../../cli/run.ts";
import { terminal } from "../../../../cli/terminal.ts";

const { signal } = new AbortController();
const token = "ghp_token";

/** Runs `bootstrap` where there is no cluster: what is wrong with the options is told before one is asked. */
async function bootstrap(args: readonly string[], env: Readonly<Record<string, string>> = { GITHUB_TOKEN: token }) {
  let err = "";
  const code = await run(["bootstrap", ...args], {
    terminal: terminal(
      () => {},
      (text) => {
        err += text;
      },
    ),
    ...{ env, homeDir: "/nonexistent", cwd: "/nonexistent", stdin: Readable.from([]), signal },
    onSignal: () => {},
    exit: () => {
      throw new Error("exit");
    },
  });
  return { code, err };
}

const github = ["github", "--owner=acme", "--repository=fleet"];
const git = ["git", "--url=https://git.test/fleet.git", "-p", "secret-password"];
const noCluster = /no kubeconfig|KUBECONFIG|kubeconfig/i;

describe("sluice bootstrap", () => {
  test.each([
    { args: ["github", "--repository=fleet"], text: "owner is required: give --owner" },
    { args: ["github", "--owner=acme"], text: "repository is required: give --repository" },
    { args: [...github, "--branch=a b"], text: '--branch "a b" is not a valid branch name: write it like main' },
    { args: [...github, "--branch=../x"], text: '--branch "../x" is not a valid branch name: write it like main' },
    {
      args: [...github, "--interval=often"],
      text: 'invalid argument "often" for "--interval" flag: write it like 30s, 5m or 1h',
    },
    {
      args: [...github, "--hostname=git hub"],
      text: "--hostname git hub is not a valid host: write it like github.example.com",
    },
    {
      args: [...github, "--hostname=http://github.test"],
      text: "--hostname is a URL of http, by which the token is sent unencrypted: use https, or give --allow-insecure-http",
    },
    {
      args: [...github, "--ssh-hostname=a/b"],
      text: "--ssh-hostname a/b is not a valid host: write it like ssh.github.com or ssh.github.com:443",
    },
    {
      args: [...github, "--path=clusters/prod", "--sparse-checkout=apps,infra"],
      text: "--sparse-checkout leaves out ./clusters/prod: add the folder of --path to it",
    },
    {
      args: [...github, "--no-webhook", "--webhook-url=https://hooks.test"],
      text: "--no-webhook and --webhook-url cannot be used together",
    },
    {
      args: [...github, "--webhook-url=hooks.test"],
      text: "--webhook-url hooks.test is not a URL of http or https: write it like https://hooks.example.com",
    },
    {
      args: [...github, "--ca-file=/nonexistent/ca.pem"],
      text: "the file of --ca-file cannot be read: ENOENT: no such file or directory, open '/nonexistent/ca.pem'",
    },
    {
      args: ["gitlab", "--owner=acme", "--repository=fleet", "--visibility=internal"],
      text: "--visibility internal is not supported: use private or public",
    },
    { args: ["git"], text: "url is required" },
    {
      args: ["git", "--url=https://git.test/fleet.git"],
      text: "a password or token is required for a URL of https: give it by --password or GIT_PASSWORD",
    },
    {
      args: ["git", "--url=https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/fleet"],
      text: "a password or token is required for a URL of https: give the Git credentials of an IAM user by --username and --password",
    },
    {
      args: ["git", "--url=http://git.test/fleet.git", "-p", "x"],
      text: "--url uses http, which sends the password unencrypted: use https, or give --allow-insecure-http",
    },
    {
      args: ["git", "--url=https://jane:secret@git.test/fleet.git"],
      text: "--url has a password, which would be written to the repository: give it by --password or GIT_PASSWORD",
    },
    {
      args: [...git, "--private-key-file=key"],
      text: "--private-key-file is for ssh, but --url uses https: give --url=ssh://git@HOST/PATH, or --password",
    },
  ])("with $args fails before any request: $text", async ({ args, text }) => {
    const env = { GITHUB_TOKEN: token, GITLAB_TOKEN: token };
    expect(await bootstrap(args, env)).toEqual({ code: 1, err: `✗ ${text}\n` });
  });

  test.each([
    ["github", "GitHub", "GITHUB_TOKEN"],
    ["gitlab", "GitLab", "GITLAB_TOKEN"],
  ])("%s needs a token of %s in %s", async (which, name, variable) => {
    expect(await bootstrap([which, "--owner=acme", "--repository=fleet"], {})).toEqual({
      ...{ code: 1, err: `✗ a token of ${name} is required: set the variable ${variable} to it\n` },
    });
  });

  test.each([
    [
      "--components=source-controller",
      "--components of flux has no meaning here: all kinds are a part of Sluice; leave it out",
    ],
    [
      "--components-extra=x",
      "--components-extra of flux has no meaning here: all kinds are a part of Sluice; leave it out",
    ],
    ["--registry=ghcr.io", "--registry of flux has no meaning here: Sluice pulls no images of its own; leave it out"],
    [
      "--registry-creds=a:b",
      "--registry-creds of flux has no meaning here: Sluice pulls no images of its own; leave it out",
    ],
    [
      "--image-pull-secret=x",
      "--image-pull-secret of flux has no meaning here: Sluice pulls no images of its own; leave it out",
    ],
    [
      "--watch-all-namespaces=false",
      "--watch-all-namespaces of flux has no meaning here: the rights of the installation say which namespaces count (docs/cluster-rights.md); leave it out",
    ],
    [
      "--network-policy=false",
      "--network-policy of flux has no meaning here: Sluice has no pods in the cluster; docs/network.md says what it may connect to; leave it out",
    ],
    [
      "--log-level=debug",
      "--log-level of flux has no meaning here: the log's level is a setting of the installation (docs/settings.md); leave it out",
    ],
    [
      "--cluster-domain=x",
      "--cluster-domain of flux has no meaning here: Sluice has no pods in the cluster; leave it out",
    ],
    [
      "--toleration-keys=x",
      "--toleration-keys of flux has no meaning here: Sluice has no pods in the cluster; leave it out",
    ],
    [
      "--manifests=x",
      "--manifests of flux has no meaning here: Sluice has no controllers in the cluster; leave it out",
    ],
    [
      "--ssh-hostkey-algos=x",
      "--ssh-hostkey-algos of flux has no meaning here: the algorithms are chosen by the types of keys in known_hosts; leave it out",
    ],
    [
      "--deploy-token-auth",
      "--deploy-token-auth of flux has no meaning here: use --token-auth, or the deploy key that is made without it; leave it out",
    ],
  ])("%s of flux is refused with a replacement", async (option, text) => {
    expect(await bootstrap([...github, option])).toEqual({ code: 1, err: `✗ ${text}\n` });
  });

  test.each([
    { args: [...github, "--personal=true", "--private=false", "--reconcile", "--read-write-key", "--team=a,b:push"] },
    { args: [...github, "--token-auth", "--ssh-key-algorithm=rsa", "--secret-name=x", "--recurse-submodules"] },
    { args: [...github, "--path=clusters/prod", "--sparse-checkout=clusters"] },
    { args: [...git, "--with-bearer-token", "--author-name=Jane", "--commit-message-appendix=[skip ci]"] },
    { args: ["git", "--url=ssh://git@git.test/fleet.git", "--token-auth", "-p", "x", "--force", "-s"] },
  ])("$args are valid options, and the cluster is called next", async ({ args }) => {
    const { code, err } = await bootstrap(args);
    expect([code, err]).toEqual([1, expect.stringMatching(noCluster)]);
    expect(err).not.toContain("secret-password");
  });
});

test.each([
  ["clusters/prod", "./clusters/prod"],
  ["./clusters//prod/", "./clusters/prod"],
  ["/clusters/prod", "./clusters/prod"],
  ["../../clusters/../x", "./x"],
  ["./", "./"],
  ["", "./"],
])("the path %s is normalised to %s", (text, path) => {
  expect(relativePath(text)).toBe(path);
});
