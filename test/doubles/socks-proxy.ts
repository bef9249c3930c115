import { connect as connectTcp, createServer, type Socket } from "node:net";
import { portOnLoopback } from "./port-on-loopback.ts";

/** A SOCKS5 proxy that connects every request to loopback and records it. `login`: asked of everybody, as `name:password`. */
export async function socksProxy({ login, refusal = 0 }: { readonly login?: string; readonly refusal?: number } = {}) {
  const asked: string[] = [];
  const server = createServer((socket) => {
    void serve(socket).catch(() => socket.destroy());
  });
  const serve = async (socket: Socket): Promise<void> => {
    const next = reader(socket);
    const [, methods = 0] = await next(2);
    const offered = [...(await next(methods))];
    const wanted = login === undefined ? 0 : 2;
    socket.write(Buffer.from([5, offered.includes(wanted) ? wanted : 0xff]));
    if (login !== undefined) {
      const name = await next((await next(2))[1] ?? 0);
      const password = await next((await next(1))[0] ?? 0);
      const isRight = `${name.toString()}:${password.toString()}` === login;
      socket.write(Buffer.from([1, isRight ? 0 : 1]));
    }
    const [, , , type] = await next(4);
    const host = type === 3 ? (await next((await next(1))[0] ?? 0)).toString() : [...(await next(4))].join(".");
    const port = (await next(2)).readUInt16BE();
    asked.push(`${host}:${port}`);
    socket.write(Buffer.from([5, refusal, 0, 1, 127, 0, 0, 1, 0, 0]));
    if (refusal !== 0) return void socket.end();
    const onward = connectTcp(port, "127.0.0.1");
    for (const end of [socket, onward]) {
      end.on("error", () => {
        socket.destroy();
        onward.destroy();
      });
    }
    socket.removeAllListeners("readable");
    socket.pipe(onward).pipe(socket);
  };
  const port = await portOnLoopback(server);
  return {
    asked,
    port,
    [Symbol.dispose]() {
      server.close();
    },
  };
}

function reader(socket: Socket): (count: number) => Promise<Buffer> {
  return async (count) => {
    for (;;) {
      const bytes: unknown = count === 0 ? Buffer.alloc(0) : socket.read(count);
      if (Buffer.isBuffer(bytes)) return bytes;
      const { promise, resolve } = Promise.withResolvers<void>();
      socket.once("readable", resolve);
      await promise;
    }
  };
}
