import { wasmCel } from "../lib/cel/wasm-cel.ts";
import { messageOf } from "../lib/core/failure.ts";
import { httpClient } from "../lib/http/http-client.ts";
import { systemClock } from "../lib/process/system-clock.ts";
import { reconcileRequests } from "../lib/queue/request-reconcile.ts";
import { authentications } from "../lib/receiver/authenticate.ts";
import { issuedTokens } from "../lib/receiver/issued-tokens.ts";
import { composeReceiver } from "./compose-receiver.ts";
import { eksClusters } from "./lambda/eks-clusters.ts";
import { functionNetwork } from "./lambda/function-network.ts";
import { requestOfEvent, resultOf } from "./lambda/http-event.ts";
import { InstallationConfig, installation } from "./lambda/installation.ts";
import { lambdaHandler } from "./lambda/lambda-handler.ts";
import { Config, readConfig } from "./settings/config.ts";

const config = readConfig(
  InstallationConfig.extend(Config.pick({ SLUICE_NETWORK: true, SLUICE_LOCAL_ADDRESSES: true }).shape),
  process.env,
);
const cel = wasmCel({ file: new URL("./cel.wasm.br", import.meta.url), threads: 1, idleMs: 15 * 60_000 });
const clock = systemClock;

/** Behind a function URL or an HTTP API, payload format 2.0: the webhooks of Receivers in the clusters of one network. */
export const handler = lambdaHandler(async (signal) => {
  const { connection, document, log, metrics, queueDeps, stores } = installation(config);
  // Loads the module beside the first delivery's reads, so that a check of claims is not the one that waits for it.
  cel.compileBool("true", [], new AbortController().signal).catch((error: unknown) => {
    log.warn("CEL not loaded", { error: messageOf(error) });
  });
  const { clusters: listed, settings } = await document(signal);
  const http = httpClient({ network: functionNetwork(config, settings.values) });
  const entries = listed.filter(({ network }) => network === config.SLUICE_NETWORK);
  const clusters = eksClusters(config, entries, { connection, log, entersAs: "receiver" });
  const receive = composeReceiver({
    receivers: stores.receivers,
    requests: reconcileRequests(queueDeps),
    authentications: { ...authentications, ...issuedTokens({ cel, clock, http }) },
    ...{ clusters, cel, clock, log, metrics },
  });
  return async (event: unknown) => resultOf(await receive(requestOfEvent(event)));
}, config.SLUICE_DEADLINE_RESERVE_MS);
