import { connect } from "node:net";
import { createServer } from "node:tls";
import { pem, pemFile } from "../../doubles/pem.ts";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";

/** What sources have to trust, PEM. */
export const ecrCertificate = pemFile("amazon.crt");

export interface FrontOfEcr extends AsyncDisposable {
  readonly port: number;
}

/** TLS under ECR's own name, in front of a registry that speaks none. */
export async function frontOfEcr(registry: string): Promise<FrontOfEcr> {
  const [host = "", port = ""] = registry.split(":");
  const [cert, key] = await Promise.all([pem("amazon.crt"), pem("amazon.key")]);
  const server = createServer({ cert, key }, (socket) => {
    const onward = connect(Number(port), host);
    socket.on("error", () => onward.destroy()).on("close", () => onward.destroy());
    onward.on("error", () => socket.destroy());
    socket.pipe(onward).pipe(socket);
  });
  const ownPort = await portOnLoopback(server);
  return {
    port: ownPort,
    async [Symbol.asyncDispose]() {
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      // Connections are kept alive by functions, which have ended before us.
      await closed.promise;
    },
  };
}
