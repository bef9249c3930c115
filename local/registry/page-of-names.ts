import { RegistryError } from "./registry-error.ts";

/** How a list is paged. The CNCF registry cuts a page of tags that is too large, and refuses one of repositories. */
interface Paging {
  readonly defaultSize: number;
  readonly maxSize: number;
  readonly refusesLarger: boolean;
  /** Whether a name comes after another in the list's order. */
  readonly isBehind: (name: string, last: string) => boolean;
}

export const tagPaging: Paging = {
  defaultSize: 1000,
  maxSize: 1000,
  refusesLarger: false,
  isBehind: (name, last) => name > last,
};

export const repositoryPaging: Paging = {
  defaultSize: 100,
  maxSize: 1000,
  refusesLarger: true,
  isBehind: (name, last) => byParts(name) > byParts(last),
};

/** Repositories are ordered by the parts of their names, so that what ends a part comes before everything. */
function byParts(repository: string): string {
  return repository.replaceAll("/", "\0");
}

/**
 * One page of a list that is in order and, where more follow, the query of the next: the distribution API's `n` and `last`.
 *
 * @throws {RegistryError} 400 PAGINATION_NUMBER_INVALID for an `n` that is not a whole number from 0 on, or too large
 */
export function pageOfNames(
  names: readonly string[],
  query: { readonly n: string | null; readonly last: string | null },
  { defaultSize, maxSize, refusesLarger, isBehind }: Paging,
): { readonly names: readonly string[]; readonly next: string | undefined } {
  const size = query.n === null || query.n === "" ? defaultSize : Number(query.n);
  if (!Number.isInteger(size) || size < 0 || (refusesLarger && size > maxSize)) {
    throw new RegistryError(400, "PAGINATION_NUMBER_INVALID", "invalid number of results requested", { n: query.n });
  }
  const { last } = query;
  const rest = last === null ? names : names.filter((name) => isBehind(name, last));
  const page = rest.slice(0, Math.min(size, maxSize));
  const end = page.at(-1);
  if (end === undefined || page.length === rest.length) return { names: page, next: undefined };
  return { names: page, next: new URLSearchParams({ n: String(page.length), last: end }).toString() };
}
