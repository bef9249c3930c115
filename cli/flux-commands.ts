/** What flux has and Sluice has not: its users type them, and most of them work on the same objects. */
const ofFlux = new Set(
  "alert alerts alert-provider alert-providers all artifact artifacts bucket build chart create debug delete diff envsubst export git helm helmrelease helmreleases hr image images list pull receiver receivers stats tag trace tree".split(
    " ",
  ),
);

/** Commander's complaint about a command that is not there, with where else it may be found. */
export function withFluxHint(complaint: string): string {
  const [, name = ""] = /^unknown command '([^']+)'/.exec(complaint) ?? [];
  return ofFlux.has(name) ? `${complaint}: Sluice has none yet, flux's own may do on the same objects` : complaint;
}
