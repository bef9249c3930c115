/** Called before and after every port call, by `port.method` and `port.method done`; one that throws makes it fail. */
export type Fault = (call: string) => void | Promise<void>;

/** The port with faults, for which its calls wait. */
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

/** Kills a run at its first apply after the inventory was written ahead. */
export function killedAtFirstApply(): Fault {
  let isAhead = false;
  return (call) => {
    isAhead ||= call === "inventories.save done";
    if (isAhead && call === "cluster.apply done") throw new Error("killed");
  };
}
