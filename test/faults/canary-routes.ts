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
        what: "the run goes on from shares that others have given the route",
        find: "routes: ownRoutes(live, canaryWeight) };",
        replace: "routes };",
      },
      {
        what: "what others have given the canary stays until that is ready",
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
        what: "a promotion that waits loses its weight",
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
        what: "between two runs a canary without pods keeps the share that others have given it",
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
        what: "a name that is too long is found when half of the objects are made",
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
        what: "Services of others are overwritten",
        find: "if (found !== undefined) refuseForeignRoute(",
        replace: 'if (found?.kind === "none") refuseForeignRoute(',
      },
      {
        what: "an ExternalName is led to the primary",
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
        what: "a Service that an older Flagger has taken over still leads to the primary when that goes",
        find: ' && !leadsTo(primary, service["spec"])',
        replace: "",
      },
      {
        what: "an original that leads to the primary is given back when that goes",
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
        what: "the copies of a Service that is a target overwrite Services of others",
        find: "if (live !== undefined) refuseOthers(",
        replace: 'if (live?.kind === "none") refuseOthers(',
      },
      {
        what: "a Service of somebody else counts as the primary's copy",
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
        what: "an object gets back what a former one of its name was",
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
        what: "a route of somebody else is overwritten before it is kept",
        find: "        await keep(live, wanted, canary, takeOver);\n",
        replace: "",
      },
      {
        what: "an annotation of a Canary gives a route of another namespace a spec",
        find: "live === undefined || faultOf(live) !== undefined ? undefined",
        replace: "live === undefined ? undefined",
      },
      {
        what: "a route whose name is made up for the Canary is taken from somebody else",
        find: "if (route.madeUpBy !== undefined) return foreignRoute(",
        replace: 'if (route.madeUpBy === "none") return foreignRoute(',
      },
    ],
  },
];
