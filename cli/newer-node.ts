// Imported first by the installed command and by its threads, for its effect: Node 20 and 22 get what the code uses of a later Node.
// esbuild lowers syntax (`using`), not what a runtime brings. Each is made only where it is missing.

/** A resource, and how it is released. */
type Release = () => unknown;

/** `Promise.withResolvers`, of Node 22. */
function withResolvers<Value>(): PromiseWithResolvers<Value> {
  const made: Partial<PromiseWithResolvers<Value>> = {};
  const promise = new Promise<Value>((resolve, reject) => Object.assign(made, { resolve, reject }));
  const { resolve, reject } = made;
  // A promise calls its executor before it is returned.
  if (resolve === undefined || reject === undefined) throw new Error("the executor has not run");
  return { promise, resolve, reject };
}

/** `Map.groupBy`, of Node 21. */
function groupBy<Key, Item>(items: Iterable<Item>, keyOf: (item: Item, index: number) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  let index = 0;
  for (const item of items) {
    const key = keyOf(item, index);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
    index += 1;
  }
  return groups;
}

/** `URL.parse`, of Node 22. */
function parseUrl(text: string, base?: string): URL | null {
  return URL.canParse(text, base) ? new URL(text, base) : null;
}

/** What stands for the `SuppressedError` of Node 24: a release that failed after another failure. */
function suppressing(error: unknown, suppressed: unknown): Error {
  return Object.assign(new Error(""), { name: "SuppressedError", error, suppressed });
}

/** `AsyncDisposableStack`, of Node 24. */
class OlderDisposableStack {
  #releases: Release[] | undefined = [];

  get disposed(): boolean {
    return this.#releases === undefined;
  }

  use<Resource extends AsyncDisposable | Disposable | null | undefined>(resource: Resource): Resource {
    const given: AsyncDisposable | Disposable | undefined = resource ?? undefined;
    if (given === undefined) this.#open();
    else if (Symbol.asyncDispose in given) this.defer(() => given[Symbol.asyncDispose]());
    else this.defer(() => given[Symbol.dispose]());
    return resource;
  }

  adopt<Value>(value: Value, release: (value: Value) => unknown): Value {
    this.defer(() => release(value));
    return value;
  }

  defer(release: Release): void {
    this.#open().push(release);
  }

  move(): OlderDisposableStack {
    const moved = new OlderDisposableStack();
    moved.#releases = this.#open();
    this.#releases = undefined;
    return moved;
  }

  async disposeAsync(): Promise<void> {
    const releases = this.#releases ?? [];
    this.#releases = undefined;
    let failed: { readonly error: unknown } | undefined;
    for (const release of releases.toReversed()) {
      try {
        await release();
      } catch (error) {
        failed = { error: failed === undefined ? error : suppressing(error, failed.error) };
      }
    }
    if (failed !== undefined) throw failed.error;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.disposeAsync();
  }

  #open(): Release[] {
    if (this.#releases === undefined) throw new ReferenceError("this stack has been disposed already");
    return this.#releases;
  }
}

/** @internal Exported for its tests, which compare it with what Node 24 brings. */
export const newerNode = { withResolvers, groupBy, parseUrl, Stack: OlderDisposableStack };

const missing: readonly (readonly [owner: object, name: string, value: unknown])[] = [
  [Promise, "withResolvers", withResolvers],
  [Map, "groupBy", groupBy],
  [URL, "parse", parseUrl],
  [globalThis, "AsyncDisposableStack", OlderDisposableStack],
];
for (const [owner, name, value] of missing) {
  if (!(name in owner)) Object.defineProperty(owner, name, { value, writable: true, configurable: true });
}
