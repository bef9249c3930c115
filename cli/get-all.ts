import type { KindDeclaration } from "../lib/api/kinds/declaration.ts";
import type { LiveObject } from "../lib/core/manifest.ts";
import { ApiError } from "../lib/core/ports/cluster.ts";
import { type GetOptions, queryOf } from "./get-objects.ts";
import { withHint } from "./hint-elsewhere.ts";
import { documentPrinter } from "./object-documents.ts";
import { rowPrinter } from "./object-rows.ts";
import { warnIfPaused } from "./pause-cluster.ts";
import type { Session } from "./session.ts";
import { selectedBy } from "./status-selector.ts";

/** The objects of one kind. */
interface Group {
  readonly kind: KindDeclaration;
  readonly objects: readonly LiveObject[];
}

/**
 * `get all`, `get sources all`, `get images all`: a table for each kind that has objects, whose names begin with the kind, as flux prints
 * it, or with `-o json` or `yaml` one list of all. Kinds that the cluster does not serve are left out, unless it serves none.
 *
 * @param what the kinds together: `sources`
 */
export async function getAll(
  kinds: readonly KindDeclaration[],
  what: string,
  options: GetOptions,
  session: Session,
): Promise<void> {
  if (options.watch === true) throw new Error("expected a single resource type, but found all");
  const { terminal } = session;
  await warnIfPaused(session);
  const groups = await served(kinds, options, session);
  const { output } = options;
  if (output !== undefined && output !== "wide") {
    const printer = await documentPrinter(output, false, terminal);
    return printer.all(groups.flatMap(({ objects }) => objects));
  }
  const filled = groups.filter(({ objects }) => objects.length > 0);
  for (const [at, { kind, objects }] of filled.entries()) {
    if (at > 0) terminal.out("\n");
    rowPrinter(kind, options, terminal).all(objects.map(withKindInName));
  }
  if (filled.length > 0) return;
  const isAll = options.allNamespaces === true;
  const where = isAll ? "any" : `"${session.namespace}"`;
  const hint = isAll || session.isNamespaceGiven ? "" : "choose another one with -n, or all with -A";
  throw new Error(withHint(`no ${what} found in ${where} namespace`, hint));
}

/** The selected objects of each kind that the cluster serves, in the order of the kinds. */
async function served(
  kinds: readonly KindDeclaration[],
  options: GetOptions,
  session: Session,
): Promise<readonly Group[]> {
  const { cluster, signal } = session;
  let missing: ApiError | undefined;
  const found = await Promise.all(
    kinds.map(async (kind): Promise<readonly Group[]> => {
      try {
        const objects = await cluster.list(queryOf(kind, options, session), signal);
        return [{ kind, objects: objects.filter(selectedBy(kind, options.statusSelector)) }];
      } catch (error) {
        if (!(error instanceof ApiError) || error.reason !== "NoMatch") throw error;
        missing = error;
        return [];
      }
    }),
  );
  const groups = found.flat();
  if (groups.length === 0 && missing !== undefined) throw missing;
  return groups;
}

function withKindInName(object: LiveObject): LiveObject {
  const name = `${object.kind.toLowerCase()}/${object.metadata.name}`;
  return { ...object, metadata: { ...object.metadata, name } };
}
