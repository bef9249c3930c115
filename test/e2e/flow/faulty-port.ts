/** Called before and after every port call, by `port.method` and `port.method done`; one that throws makes it fail. */
export type Fault = (call: string) => void | Promise<void>;

/** The port as it is, but for the faults of its calls, which wait for them. */
export function faultyPort<Port extends object>(port: string, real: Port, fault: Fault): Port {
  return new Proxy(real, {
    get: (target, method, receiver) => {
      const value: unknown = Reflect.get(target, method, receiver);
      if (typeof value !== "function" || method === "watch") return value;
      return async (...args: readonly unknown[]) => {
        await fault(`${port}.${String(method)}`);
        const result: unknown = await Reflect.apply(value, target, args);
        await fault(`${port}.${String(method)} done`);
        return result;
      };
    },
  });
}
