import { homeNetwork } from "../../lib/core/network/network-policy.ts";
import { httpClient } from "../../lib/http/http-client.ts";
import { httpContract } from "./http/http-contract.ts";

httpContract("Node's client", () => httpClient({ network: homeNetwork }));
