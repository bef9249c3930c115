import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { Addresses } from "../addresses.ts";
import { here } from "../folders.ts";
import { startStsServer } from "./sts-server.ts";

const [port = "", region = "", motoStarted = ""] = process.argv.slice(2);
const tls = join(here, "../fixtures/tls");
const Started = z.object({ addresses: Addresses });

await startStsServer({
  port: Number(port),
  region,
  moto: async () => {
    const { aws } = Started.parse(JSON.parse(await readFile(motoStarted, "utf8"))).addresses;
    if (aws === undefined) throw new Error("the part aws is not up: npm run real -- up aws");
    return aws;
  },
  certificate: await readFile(join(tls, "amazon.crt"), "utf8"),
  key: await readFile(join(tls, "amazon.key"), "utf8"),
});
