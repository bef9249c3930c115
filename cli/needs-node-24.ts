/** The Node that Sluice is written for: it runs TypeScript as it is, and brings SQLite. */
export const wantedMajor = 24;

/**
 * Refuses what needs Node 24 on an older one. In a checkout the launcher starts Node 24 (`cli/sluice.js`); the installed command
 * runs on the machine's own Node, from 20 on.
 *
 * @param what begins the sentence: `sluice local`
 * @param version of the Node that runs, without `v`
 * @throws Error that names the version and what to do
 */
export function needsNode24(what: string, version: string = process.versions.node): void {
  const [major] = version.split(".");
  if (Number(major) >= wantedMajor) return;
  throw new Error(
    `${what} needs Node ${wantedMajor} or later, this is v${version}: install Node ${wantedMajor} and put it first on the PATH, or run cli/sluice.js of a checkout of Sluice, which brings one`,
  );
}
