import { buffer } from "node:stream/consumers";
import { homeNetwork } from "../../lib/core/network/network-policy.ts";
import { httpClient } from "../../lib/http/http-client.ts";
import { httpContract } from "./http/http-contract.ts";
import { streamsContract } from "./http/streams.ts";

const open = () => httpClient({ network: homeNetwork });

httpContract("Node's client", open);
httpContract("Node's client, read in pieces", () => {
  const http = open();
  return {
    async send(request, signal) {
      using stream = await http.open(request, signal);
      const { url, status, headers } = stream;
      return { url, status, headers, body: await buffer(stream.body) };
    },
    close: () => http.close(),
  };
});
streamsContract("Node's client", open);
