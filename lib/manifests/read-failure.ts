import type { YAMLException } from "js-yaml";

/** Only go-yaml can decide how to read a text, so the engine builds it. The message is for the log. */
export class Undecided extends Error {
  override readonly name = "Undecided";
}

/** A text that no builder should read: it exceeds a limit or would lose information. `line` counts from one. */
export class Unacceptable extends Error {
  override readonly name = "Unacceptable";
  readonly line: number;

  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}

/** What js-yaml quotes: the name of an anchor, a tag or a key. It takes a password that begins with `*` or `!` for one. */
const quoted = /"[^]*"|(?<=: |!<)[^]+$/;

/** js-yaml's error for a text that is not YAML, with `*****` in place of its quotes of the text. */
export function yamlFault({ reason }: YAMLException): string {
  return reason.replace(quoted, "*****");
}

/**
 * Objects that one Kustomization may have. Planning more would delay all other runs, and in Flux the status of a Kustomization,
 * which holds its inventory, would not fit into etcd.
 */
export const maxObjects = 25_000;

export const tooManyObjects = `more than ${maxObjects} objects: split them over several Kustomizations`;
