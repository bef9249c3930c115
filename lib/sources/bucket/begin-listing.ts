import { ignoreKey } from "./list-objects.ts";
import { BucketFault, type ListedObject, type ObjectStore } from "./object-store.ts";
import type { Phase } from "./phase.ts";

/** A listing whose first page has come. */
export interface BegunListing extends Pick<ObjectStore, "list"> {
  /** Whether the bucket may have a `.sourceignore` at its root: false if the listing shows that it has none. */
  readonly mayHaveIgnoreFile: boolean;
}

/**
 * Lists a bucket before anything else is asked: for most buckets, whose keys are on one page, the listing alone says that the bucket exists and
 * that it has no `.sourceignore`. Undefined if the first page fails, or if the listing of this provider does not show that the bucket exists: the
 * caller then sends Flux's requests, whose errors have Flux's texts.
 */
export async function beginListing(
  store: ObjectStore,
  prefix: string,
  phase: Phase,
): Promise<BegunListing | undefined> {
  if (store.isSeenByListing !== true) return undefined;
  const pages = store.list(prefix, phase)[Symbol.asyncIterator]();
  const begun: (readonly ListedObject[])[] = [];
  const take = async (): Promise<boolean> => {
    const next = await pages.next();
    if (next.done === true) return false;
    begun.push(next.value);
    return true;
  };
  try {
    await take();
  } catch (error) {
    if (error instanceof BucketFault) return undefined;
    throw error;
  }
  if (prefix !== "") return { mayHaveIgnoreFile: true, list: () => rest(begun, pages) };
  try {
    const isWhole = !(await take());
    const isListed = begun.some((page) => page.some(({ key }) => key === ignoreKey));
    return { mayHaveIgnoreFile: isListed || !isWhole, list: () => rest(begun, pages) };
  } catch (error) {
    if (!(error instanceof BucketFault)) throw error;
    // The listing has failed, whatever the file holds.
    return { mayHaveIgnoreFile: false, list: () => rest(begun, pages, error) };
  }
}

async function* rest(
  begun: (readonly ListedObject[])[],
  pages: AsyncIterator<readonly ListedObject[]>,
  failure?: BucketFault,
): AsyncGenerator<readonly ListedObject[], void, undefined> {
  // Emptied, so that a page that was read is not in memory while the others come.
  for (let page = begun.shift(); page !== undefined; page = begun.shift()) yield page;
  if (failure !== undefined) throw failure;
  for (let next = await pages.next(); next.done !== true; next = await pages.next()) yield next.value;
}
