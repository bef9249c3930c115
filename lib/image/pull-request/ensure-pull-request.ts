import { Failure, messageOf } from "../../core/failure.ts";
import { safeMessage } from "../../core/safe-text.ts";
import type { HostParts, HostSettings } from "../../git-hosts/host-settings.ts";
import { maskSecrets } from "../../manifests/secrets.ts";
import { findRequestHost } from "./find-host.ts";
import type { Branches, OpenRequest, RequestHost, RequestText } from "./request-host.ts";

/** The pull request that there is to be. */
export interface WantedRequest extends Branches, RequestText {
  /** Whose it is: another automation, or a user, keeps the text of its own. */
  readonly automation: { readonly namespace: string; readonly name: string };
  /** Value of the annotation `sluice.dev/pull-request`. */
  readonly host: string;
}

/** `unchanged`: also where another user opened it: its text stays. */
export interface EnsuredRequest {
  readonly url: string;
  readonly change: "created" | "unchanged" | "updated";
}

/**
 * Makes sure that one pull request is open between the branches, and that it has this text. It may be repeated: it looks at what is open.
 *
 * @throws Failure of reason `GitOperationFailed`, in the words of the host and without any value of the login; or the reason that `signal` was
 *   aborted with
 */
export async function ensurePullRequest(
  wanted: WantedRequest,
  settings: HostSettings,
  parts: HostParts,
  signal: AbortSignal,
): Promise<EnsuredRequest> {
  try {
    return await ensured(wanted, findRequestHost(wanted.host, settings, parts), signal);
  } catch (error) {
    signal.throwIfAborted();
    const said = safeMessage(maskSecrets(messageOf(error), { manifests: [], secrets: secretsOf(settings) }));
    const what = `failed to open the pull request from ${wanted.head} to ${wanted.base}`;
    throw new Failure("GitOperationFailed", `${what}: ${said}`, { cause: error });
  }
}

async function ensured(wanted: WantedRequest, host: RequestHost, signal: AbortSignal): Promise<EnsuredRequest> {
  const marker = markerOf(wanted);
  const text = { title: wanted.title, body: wanted.body === "" ? marker : `${wanted.body}\n\n${marker}` };
  const open = await host.find(wanted, signal);
  if (open !== undefined) return updated(open, text, marker, host, signal);
  try {
    const { url } = await host.create(wanted, text, signal);
    return { url: shownUrl(url), change: "created" };
  } catch (error) {
    signal.throwIfAborted();
    // Another run may have been faster, or the answer to an earlier try was lost.
    const now = await host.find(wanted, signal).catch(() => undefined);
    if (now === undefined) throw error;
    return updated(now, text, marker, host, signal);
  }
}

async function updated(
  open: OpenRequest,
  text: RequestText,
  marker: string,
  host: RequestHost,
  signal: AbortSignal,
): Promise<EnsuredRequest> {
  const url = shownUrl(open.url);
  const isOurs = open.body.includes(marker);
  if (!isOurs || isSame(open, text)) return { url, change: "unchanged" };
  await host.change(open.number, text, signal);
  return { url, change: "updated" };
}

/** A host may end lines as browsers do, and may trim a text. */
function isSame(open: RequestText, wanted: RequestText): boolean {
  const plain = (text: string): string => text.replaceAll("\r\n", "\n").trim();
  return plain(open.title) === plain(wanted.title) && plain(open.body) === plain(wanted.body);
}

/** A comment of HTML, which shows nowhere. */
function markerOf({ automation: { name, namespace } }: WantedRequest): string {
  return `<!-- sluice.dev/image-update-automation: ${namespace}/${name} -->`;
}

/** Longer than the page of any request. */
const maxUrlChars = 2_048;

function shownUrl(url: string): string {
  const isPage = url.length <= maxUrlChars && URL.canParse(url) && /^https?:\/\/[^\s<>"]+$/.test(url);
  if (!isPage) throw new Error("the host gives no address of the request's page");
  return url;
}

function secretsOf({ githubApp, password, token }: HostSettings): readonly string[] {
  return [token, password, githubApp?.privateKey ?? ""].filter((text) => text !== "");
}
