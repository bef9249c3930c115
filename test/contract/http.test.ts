import { httpClient, refuseNone } from "../../lib/http/http-client.ts";
import { httpContract } from "./http/http-contract.ts";

httpContract("Node's client", () => httpClient({ refuse: refuseNone }));
