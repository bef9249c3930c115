import { type KindDeclaration, servedKind } from "../lib/api/kinds/declaration.ts";
import { someOf } from "../lib/core/cut-text.ts";
import { ApiError, type ListQuery } from "../lib/core/ports/cluster.ts";
import type { Session } from "./session.ts";

const maxNamespaces = 5;

/**
 * The hint for a line that says that the default namespace has no such object: the namespaces that have some.
 * Empty if there are none, if the user chose the namespace, or if the user may not list other namespaces.
 */
export async function hintElsewhere(
  declared: KindDeclaration,
  name: string | undefined,
  { cluster, isNamespaceGiven, signal }: Session,
): Promise<string> {
  if (isNamespaceGiven) return "";
  const named = name === undefined ? {} : { fieldSelector: `metadata.name=${name}` };
  const { kind } = declared;
  const query: ListQuery = { ...servedKind(declared), ...named };
  try {
    const found = await cluster.list(query, signal);
    const namespaces = [...new Set(found.map(({ metadata }) => metadata.namespace ?? ""))].toSorted();
    const [first] = namespaces;
    if (first === undefined) return "";
    const choice =
      namespaces.length > 1 ? "choose one with -n" : `choose ${name === undefined ? "them" : "it"} with -n ${first}`;
    return `${name === undefined ? `there are ${kind} objects` : "it is"} in ${someOf(namespaces, maxNamespaces)}, ${choice}`;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return "";
  }
}

/** One of flux's lines about a missing object, with the answer of {@link hintElsewhere} at its end if there is one. */
export function withHint(line: string, hint: string): string {
  return hint === "" ? line : `${line.replace(/\.$/, "")}: ${hint}`;
}
