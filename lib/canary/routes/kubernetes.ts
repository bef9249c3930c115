import type { Canary } from "../canary.ts";
import type { Router } from "./router.ts";

/** Without a mesh nothing is routed: the apex Service always selects the primary. The weights only say whether a run goes on (reference canary 10). */
export function kubernetesRouter({ status }: Canary): Router {
  const isInRun = (status.iterations ?? 0) > 0;
  return {
    ensure: async () => {},
    routes: async () => ({ primary: isInRun ? 0 : 100, canary: isInRun ? 100 : 0, isMirrored: false }),
    setRoutes: async () => ({}),
    finalize: async () => {},
  };
}
