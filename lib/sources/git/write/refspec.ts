import { GitFault } from "../git-fault.ts";
import type { PushedRef } from "./git-clone.ts";

const heads = "refs/heads/";

/**
 * Reads a refspec `[+]source:destination` of a push. The source must be the branch that is pushed, as nothing else is in the clone; `*`
 * stands for a part of a name in both. Throws a {@link GitFault} `refused` with the words of Flux's client (go-git) and what to write instead.
 *
 * @param branch the branch that is pushed, without `refs/heads/`
 */
export function readRefspec(text: string, branch: string): PushedRef {
  const force = text.startsWith("+");
  const [source = "", destination = "", ...more] = text.slice(force ? 1 : 0).split(":");
  const pushed = heads + branch;
  const shown = JSON.stringify(text.slice(0, 200));
  const instead = `write ${pushed}:<destination>`;
  if (!text.includes(":") || more.length > 0) {
    throw new GitFault(
      "refused",
      `malformed refspec, separators are wrong: ${shown} is not source:destination; ${instead}`,
    );
  }
  if (stars(source) !== stars(destination) || stars(source) > 1) {
    throw new GitFault("refused", `malformed refspec, mismatched number of wildcards: ${shown}; ${instead}`);
  }
  const part = partOf(source, pushed);
  if (part === undefined) {
    const why =
      source === ""
        ? "a push of Sluice removes no reference"
        : `${source} is not the branch that was pushed, ${pushed}`;
    throw new GitFault(
      "refused",
      `failed to push to remote: already up-to-date: in the refspec ${shown} ${why}; ${instead}`,
    );
  }
  const ref = destination.replace("*", () => part);
  if (!isRefName(ref)) {
    throw new GitFault(
      "refused",
      `the destination of the refspec ${shown} is not the full name of a reference, such as refs/heads/main`,
    );
  }
  if (ref === pushed) {
    const why = `the refspec ${shown} names the branch that was pushed already; name another destination, or remove it`;
    throw new GitFault("refused", `failed to push to remote: already up-to-date: ${why}`);
  }
  return { ref, force };
}

function stars(text: string): number {
  return text.split("*").length - 1;
}

/** The text that the star in the source matches; undefined if the source does not match. */
function partOf(source: string, name: string): string | undefined {
  const star = source.indexOf("*");
  if (star === -1) return source === name ? "" : undefined;
  const [begin, end] = [source.slice(0, star), source.slice(star + 1)];
  const isMatch = name.length >= begin.length + end.length && name.startsWith(begin) && name.endsWith(end);
  return isMatch ? name.slice(begin.length, name.length - end.length) : undefined;
}

/** As `git check-ref-format` has it, below `refs/`. A `%` may follow, by which Gerrit takes options: `refs/for/main%topic=x`. */
export function isRefName(name: string): boolean {
  // oxlint-disable-next-line no-control-regex -- they are what a name must not have
  if (!name.startsWith("refs/") || /[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|\/$|\.$/.test(name)) return false;
  return name.split("/").every((part) => !part.startsWith(".") && !part.endsWith(".lock"));
}
