import type { YAMLException } from "js-yaml";

/** Names that js-yaml quotes: of an anchor, a tag or a key. A password that begins with `*` or `!` is taken for one. */
const quoted = /"[^]*"|(?<=: |!<)[^]+$/;

/** Why a text is no YAML, in js-yaml's words, without what stands in it. */
export function yamlFault({ reason }: YAMLException): string {
  return reason.replace(quoted, "*****");
}
