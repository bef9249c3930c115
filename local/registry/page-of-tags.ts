import { RegistryError } from "./registry-error.ts";

const maxPage = 1000;

/** One page of a tag list and, where more follow, the query of the next: as the distribution specification's `n` and `last`. */
export function pageOfTags(
  tags: readonly string[],
  query: { readonly n: string | null; readonly last: string | null },
): { readonly tags: readonly string[]; readonly next: string | undefined } {
  const size = query.n === null ? maxPage : Number(query.n);
  if (!Number.isInteger(size) || size < 0 || query.n === "") {
    throw new RegistryError(400, "PAGINATION_NUMBER_INVALID", "invalid number of results requested", { n: query.n });
  }
  const { last } = query;
  const rest = last === null ? tags : tags.filter((tag) => tag > last);
  const page = rest.slice(0, Math.min(size, maxPage));
  const end = page.at(-1);
  if (end === undefined || page.length === rest.length) return { tags: page, next: undefined };
  return { tags: page, next: new URLSearchParams({ n: String(page.length), last: end }).toString() };
}
