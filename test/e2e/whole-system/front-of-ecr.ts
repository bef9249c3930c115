import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { createServer } from "node:tls";

const tls = join(import.meta.dirname, "../../fixtures/tls");
/** What sources have to trust, PEM. */
export const ecrCertificate = join(tls, "amazon.crt");

export interface FrontOfEcr extends AsyncDisposable {
  readonly port: number;
}

/** TLS under ECR's own name, in front of a registry that speaks none. */
export async function frontOfEcr(registry: string): Promise<FrontOfEcr> {
  const [host = "", port = ""] = registry.split(":");
  const [cert, key] = await Promise.all([readFile(ecrCertificate), readFile(join(tls, "amazon.key"))]);
  const server = createServer({ cert, key }, (socket) => {
    const onward = connect(Number(port), host);
    socket.on("error", () => onward.destroy()).on("close", () => onward.destroy());
    onward.on("error", () => socket.destroy());
    socket.pipe(onward).pipe(socket);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("a server on loopback has no port");
  return {
    port: bound.port,
    async [Symbol.asyncDispose]() {
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      // Connections are kept alive by functions, which have ended before us.
      await closed.promise;
    },
  };
}
