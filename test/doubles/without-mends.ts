/**
 * How Sluice goes on where Flux's text ends: what would mend the failure, and the names that exist (docs/differences-from-flux.md). What
 * stands before has to be Flux's text.
 */
const mends = [
  /; the (?:artifact|chart|Secret) has (?:no|the) [^\n]*/g,
  /; it is a file, set [^\n]*/g,
  /; (?:Sluice runs no (?:Helm|plugins) in a build|a build reads no files outside of the artifact): [^\n]*/g,
  /; to have it (?:deleted and )?created again, [^\n]*/g,
  /: it is suspended, resume it with sluice resume [^\n]*/g,
];

/** A message without the mend that Sluice adds to Flux's text. */
export function withoutMends(text: string): string {
  return mends.reduce((left, mend) => left.replaceAll(mend, ""), text);
}
