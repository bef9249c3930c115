import type { FileFaults } from "./fault.ts";

const shares = "test/unit/flows/canary/shares.test.ts";
const objects = "test/unit/flows/canary/objects.test.ts";
const services = "test/unit/canary/routes/services.test.ts";
const owners = "test/unit/canary/routes/provider-owners.test.ts";

/** What a Canary does to the routes and Services of others, and what others do to its own. */
export const canaryRoutesFaults: readonly FileFaults[] = [
  {
    file: "lib/flows/canary/own-shares.ts",
    tests: [shares],
    faults: [
      {
        what: "the run continues from weights that another client has set",
        find: "routes: ownRoutes(live, canaryWeight) };",
        replace: "routes };",
      },
      {
        what: "weight that another client gave the canary stays until the canary is ready",
        find: "  if (routes.canary > at.routes.canary && !isAhead) await",
        replace: "  if (routes.canary > 100 && !isAhead) await",
      },
    ],
  },
  {
    file: "lib/canary/run/own-routes.ts",
    tests: [shares],
    faults: [
      {
        what: "a waiting promotion loses its weight",
        find: "return isWaiting ? finalWeight(analysis) : canaryWeight;",
        replace: "return canaryWeight;",
      },
    ],
  },
  {
    file: "lib/flows/canary/ensure-objects.ts",
    tests: [shares],
    faults: [
      {
        what: "between two runs a canary without pods keeps a weight set by another client",
        find: "return isInFlight(phase) ? {} : {",
        replace: "return isInFlight(phase) || phase !== undefined ? {} : {",
      },
      {
        what: "the target is scaled to zero before a route leads to the primary",
        find: "  await router.ensure({ ...weightAtRest",
        replace: "  if (isInitialising) await scaleDown(ctx);\n  await router.ensure({ ...weightAtRest",
        tests: ["test/unit/flows/canary/release.test.ts"],
      },
      {
        what: "a name that is too long is noticed after half of the objects are created",
        find: "  checkGeneratedNames(canary, target);\n",
        replace: "",
        tests: [objects],
      },
    ],
  },
  {
    file: "lib/canary/routes/services.ts",
    tests: [services],
    faults: [
      {
        what: "foreign Services are overwritten",
        find: "if (found !== undefined) refuse(",
        replace: 'if (found?.kind === "none") refuse(',
      },
      {
        what: "an ExternalName Service is pointed to the primary",
        find: "  if (found === undefined || !isExternal(found)) return;",
        replace: "  if (found === undefined || found !== undefined) return;",
      },
    ],
  },
  {
    file: "lib/canary/routes/apex-given-back.ts",
    tests: [services],
    faults: [
      {
        what: "a Service taken over by an older Flagger still points to the primary after that is deleted",
        find: ' && !leadsTo(primary, service["spec"])',
        replace: "",
      },
      {
        what: "an original that points to the primary is restored after that is deleted",
        find: "  if (leadsTo(primary, wanted.spec)) return false;\n",
        replace: "",
      },
    ],
  },
  {
    file: "lib/canary/workload/service-target.ts",
    tests: ["test/unit/canary/workload/service-target.test.ts"],
    faults: [
      {
        what: "the copies of a target Service overwrite foreign Services",
        find: "if (live !== undefined) refuseOthers(",
        replace: 'if (live?.kind === "none") refuseOthers(',
      },
      {
        what: "a foreign Service counts as the primary's copy",
        find: "if (known !== undefined) refuseOtherPrimary(",
        replace: 'if (known?.kind === "none") refuseOtherPrimary(',
      },
    ],
  },
  {
    file: "lib/canary/routes/originals.ts",
    tests: [services],
    faults: [
      {
        what: "an object gets back the content of an earlier one of the same name",
        find: "return original?.uid === metadata.uid ? original : undefined;",
        replace: 'return original?.uid !== "" ? original : undefined;',
      },
    ],
  },
  {
    file: "lib/canary/routes/object-router.ts",
    tests: [owners],
    faults: [
      {
        what: "a foreign route is overwritten before it is stored",
        find: "        await keep(live, wanted, canary, takeOver);\n",
        replace: "",
      },
      {
        what: "an annotation of a Canary changes a route in another namespace",
        find: "live === undefined || faultOf(live) !== undefined ? undefined",
        replace: "live === undefined ? undefined",
      },
      {
        what: "a foreign route with the Canary's derived name is taken over",
        find: "if (route.madeUpBy !== undefined) return foreignRoute(",
        replace: 'if (route.madeUpBy === "none") return foreignRoute(',
      },
    ],
  },
];
