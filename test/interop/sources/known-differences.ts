/** Why a step differs: the part of docs/differences-from-flux.md that says so, by its heading, or what is not decided yet. */
export type Why = { readonly part: string } | { readonly open: string };

/** The steps that the two sides are known to end in different ways, by the name of their scenario. */
export const knownDifferences: Readonly<Record<string, Readonly<Record<string, Why>>>> = {};
