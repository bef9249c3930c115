import { someOf } from "../../lib/core/cut-text.ts";
import type { AppContext } from "./context.ts";

/** `<account>/<region>` */
function placeOf(arn: string): string {
  const [, , , region, account] = arn.split(":");
  return `${account}/${region}`;
}

/**
 * Where the stack of cdk.json is deployed, `<account>/<region>`: `environment`; without one where the clusters are that the functions
 * enter with their own roles; without these beside the first repository, whose pushes come there. Never the place of the caller, whose
 * credentials would let one context give different templates. Undefined if nothing says it. Throws if what the context lists is elsewhere.
 */
export function placeOfStack({ clusters, environment, repositories }: AppContext): string | undefined {
  const beside = clusters.flatMap(({ arn, role, roles }, index) =>
    role === undefined && roles === undefined ? [{ name: `clusters[${index}]`, place: placeOf(arn) }] : [],
  );
  const places = [...new Set(beside.map(({ place }) => place))];
  const [firstRepository] = repositories;
  const place = environment ?? places[0] ?? (firstRepository === undefined ? undefined : placeOf(firstRepository.arn));
  const elsewhere = beside.filter((one) => one.place !== place);
  if (elsewhere.length > 0 && environment !== undefined) {
    const named = someOf(elsewhere.map((one) => `${one.name} is in ${one.place}`));
    throw new Error(
      `${named}, and the stack in ${environment}, as environment says: give a cluster that is elsewhere the roles that reach it (docs/deploy.md). To deploy to another account or region, remove the stack in ${environment} first, since it would go on beside the new one, and then change environment`,
    );
  }
  if (elsewhere.length > 0) {
    throw new Error(
      `the clusters are in ${places.join(" and ")}, and the functions enter only those beside the stack without roles: write "environment": "aws://<account>/<region>", where the stack is, and give each cluster elsewhere the roles that reach it (docs/deploy.md), or write an app of your own (sluice init)`,
    );
  }
  repositories.forEach(({ arn }, index) => {
    if (placeOf(arn) === place) return;
    throw new Error(
      `repositories[${index}] is in ${placeOf(arn)}, and the stack in ${place}, ${environment === undefined ? "where the clusters without roles are, or the first repository" : "as environment says"}: pushes from another account or region reach the stack only in an app of your own (sluice init), with pushesFrom of Sluice and a SluicePushForwarding there. If it is the stack that should be in ${placeOf(arn)}, write "environment": "aws://${placeOf(arn)}", and give the clusters elsewhere the roles that reach them (docs/deploy.md)`,
    );
  });
  return place;
}
