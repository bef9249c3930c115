import { CheckoutFault } from "./checkout-fault.ts";
import { parseGitConfig } from "./git-config.ts";

/** A submodule as `.gitmodules` has it. */
export interface Submodule {
  /** Without a slash at its end. */
  readonly path: string;
  /** May be relative to the URL of the repository that it is in. */
  readonly url: string;
}

export const maxGitmodulesBytes = 1024 * 1024;

/**
 * The submodules of `.gitmodules`, by the rules of git: one without path or url is none, settings of others are ignored, and of a
 * setting that is given twice the last counts. Throws a {@link CheckoutFault} if git could not read the file.
 */
export function parseGitmodules(bytes: Uint8Array): readonly Submodule[] {
  if (bytes.length > maxGitmodulesBytes)
    throw new CheckoutFault(`.gitmodules has more than ${maxGitmodulesBytes} bytes`);
  const bySection = new Map<string, { path?: string; url?: string }>();
  for (const { section, name, value } of parseGitConfig(Buffer.from(bytes).toString(), ".gitmodules")) {
    if (!section.startsWith("submodule.") || (name !== "path" && name !== "url") || value === undefined) continue;
    bySection.set(section, { ...bySection.get(section), [name]: value });
  }
  return [...bySection.values()].flatMap(({ path = "", url = "" }) =>
    path === "" || url === "" ? [] : [{ path: withoutSlashes(path), url }],
  );
}

/** Without slashes at the end. A pattern takes the square of the time for a text of many slashes. */
function withoutSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === "/") end--;
  return text.slice(0, end);
}

/** `git@host:path`, which is `ssh://git@host/path`. */
const scpForm = /^(?:([^@/:]+)@)?([^/:@]+):(?!:|\/\/)(.*)$/;

/**
 * The URL of a submodule, seen from the URL of the repository that it is in. Throws a {@link CheckoutFault} if it is not one of
 * http, https or ssh: a path or a command of this machine is nothing that a repository may name.
 */
export function submoduleUrl({ path, url }: Submodule, parent: string): string {
  const refuse = (): CheckoutFault =>
    new CheckoutFault(
      `submodule '${path}' has a URL that is not relative and does not begin with http://, https:// or ssh://: correct it in .gitmodules`,
    );
  if (/^\.\.?\//.test(url)) {
    const base = new URL(parent);
    base.search = "";
    base.hash = "";
    return new URL(url, `${withoutSlashes(base.href)}/`).href;
  }
  const [, user = "git", host, rest = ""] = scpForm.exec(url) ?? [];
  const absolute = host === undefined ? url : `ssh://${user}@${host}/${rest.replace(/^\/+/, "")}`;
  if (!/^(http|https|ssh):\/\//.test(absolute) || !URL.canParse(absolute)) throw refuse();
  return absolute;
}

/**
 * Whether one login is for both, as git decides it: the same scheme, host and port. A submodule elsewhere must not be sent the
 * credentials of its parent, nor in plain text what is for https.
 */
export function sharesLogin(url: string, parent: string): boolean {
  const [one, other] = [new URL(url), new URL(parent)];
  return one.protocol === other.protocol && one.host.toLowerCase() === other.host.toLowerCase();
}

/** The URL with the user and password that stand in the parent's, for a repository on the same host. */
export function withLoginOf(parent: string, url: string): string {
  const [one, other] = [new URL(url), new URL(parent)];
  if (one.username !== "" || one.password !== "") return url;
  one.username = other.username;
  one.password = other.password;
  return one.href;
}
