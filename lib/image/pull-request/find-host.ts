import type { HostParts, HostSettings } from "../../git-hosts/host-settings.ts";
import { repositoryAddress } from "../../git-hosts/repository-address.ts";
import { giteaRequests } from "./gitea-requests.ts";
import { githubRequests } from "./github-requests.ts";
import { gitlabRequests } from "./gitlab-requests.ts";
import type { RequestHost } from "./request-host.ts";

/** Asks for a pull request after each push: `true`, or the name of the host where its address does not tell. */
export const pullRequestAnnotation = "sluice.dev/pull-request";

const hosts = { github: githubRequests, gitlab: gitlabRequests, gitea: giteaRequests } as const;
type HostName = keyof typeof hosts;

/** Hosts that git reaches by ssh under another name. */
const webHosts: Readonly<Record<string, string>> = {
  "ssh.github.com": "github.com",
  "altssh.gitlab.com": "gitlab.com",
};

/** Whether the value of the annotation asks for pull requests. */
export function asksForPullRequest(value: string | undefined): boolean {
  return value !== undefined && value !== "false";
}

/**
 * The pull requests of the repository at this address.
 *
 * @param value of {@link pullRequestAnnotation}
 * @throws Error in words for the user where no host is known, or the login is incomplete
 */
export function findRequestHost(value: string, settings: HostSettings, parts: HostParts): RequestHost {
  const address = webAddress(settings.address);
  const { hostname } = new URL(repositoryAddress(address).origin);
  return hosts[hostName(value, hostname)]({ ...settings, address }, parts);
}

function hostName(value: string, hostname: string): HostName {
  if (isHostName(value)) return value;
  const names = Object.keys(hosts);
  if (value !== "true") {
    throw new Error(
      `annotation ${pullRequestAnnotation} is ${JSON.stringify(value)}: set it to true or one of ${names.join(", ")}`,
    );
  }
  const told = nameIn(hostname.split("."));
  if (told !== undefined) return told;
  const why = `it is not known which product runs on ${hostname}`;
  throw new Error(`${why}: set the annotation ${pullRequestAnnotation} to one of ${names.join(", ")} in place of true`);
}

/** `github.com`, `gitlab.example.com`, `codeberg.org`. */
function nameIn(labels: readonly string[]): HostName | undefined {
  if (labels.includes("forgejo") || labels.join(".") === "codeberg.org") return "gitea";
  return labels.find(isHostName);
}

function isHostName(text: string): text is HostName {
  return Object.hasOwn(hosts, text);
}

/** Where the API of a repository is that git reaches by ssh: on the same host, but not on the port of ssh. */
function webAddress(address: string): string {
  if (!URL.canParse(address)) return address;
  const { protocol, hostname, pathname } = new URL(address);
  return protocol === "ssh:" ? `https://${webHosts[hostname] ?? hostname}${pathname}` : address;
}
