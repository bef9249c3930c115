import { ApiError, type ListQuery } from "../lib/core/ports/cluster.ts";
import { someOf } from "../lib/core/some-of.ts";
import type { Reconcilable } from "./reconcilable.ts";
import type { Session } from "./settings.ts";

const maxNamespaces = 5;

/**
 * Says in which namespaces there is what a command did not find in the default one, which is flux's: many keep their objects
 * elsewhere. Only a hint, so whoever may not look there is told nothing.
 */
export async function hintElsewhere(
  { group, version, kind }: Reconcilable,
  name: string | undefined,
  { cluster, terminal, isNamespaceGiven, signal }: Session,
): Promise<void> {
  if (isNamespaceGiven) return;
  const named = name === undefined ? {} : { fieldSelector: `metadata.name=${name}` };
  const query: ListQuery = { group, version, kind, ...named };
  try {
    const found = await cluster.list(query, signal);
    const namespaces = [...new Set(found.map(({ metadata }) => metadata.namespace ?? ""))].toSorted();
    if (namespaces.length === 0) return;
    const shown = someOf(namespaces, maxNamespaces);
    const what = name === undefined ? `${kind} objects` : `${kind} '${name}'`;
    terminal.warning(`${what} can be found in ${shown}: name the namespace with -n`);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
}
