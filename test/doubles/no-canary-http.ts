import type { CanaryHttp } from "../../lib/canary/canary-http.ts";

const send = (): Promise<never> => Promise.reject(new Error("the test did not expect a request of a Canary"));

/** For flows of which no Canary asks anything. */
export const noCanaryHttp: CanaryHttp = { of: () => ({ send }), shared: () => ({ send }) };
