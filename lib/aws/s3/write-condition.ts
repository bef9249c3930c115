/** What a write depends on: that nothing is there, or that what is there is still this. */
export type WriteCondition = { readonly IfNoneMatch: "*" } | { readonly IfMatch: string };
