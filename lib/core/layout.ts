/** How a release lays out its state, and how it takes over the state of an earlier one. */
export interface Layout<Store> {
  /** Raised by every change that older code would misread. */
  readonly version: number;
  /**
   * The upgrades by the version that each starts from; each makes the next version's layout. It may be interrupted and repeated, and
   * processes of the earlier release may still write while it runs. A version without one needs no change.
   */
  readonly upgrades: Readonly<Record<number, (store: Store) => Promise<void>>>;
}

/** What to do with a state of version `found`: use it, upgrade it step by step, or refuse it because a newer release wrote it. Pure. */
export function judgeLayout(found: number, { version }: Pick<Layout<never>, "version">): "ours" | "older" | "newer" {
  if (found === version) return "ours";
  return found < version ? "older" : "newer";
}

/** Runs the upgrades from `found` to the version of `layout`; `reached` is called after each, and stores it. */
export async function upgradeLayout<Store>(
  found: number,
  { version, upgrades }: Layout<Store>,
  store: Store,
  reached: (version: number) => Promise<void>,
): Promise<void> {
  for (let from = found; from < version; from++) {
    await upgrades[from]?.(store);
    await reached(from + 1);
  }
}
