import { BusyProcess, ClusterHold, type ClusterStates, readRow } from "../../lib/core/ports/cluster-states.ts";
import { type StateDatabase, textColumn } from "./state-database.ts";

const holdName = "hold";
const busyPrefix = "busy#";

export function sqliteClusterStates({ connection }: StateDatabase): ClusterStates {
  const select = connection.prepare("SELECT name, state FROM cluster_states WHERE cluster = ? ORDER BY name");
  const put = connection.prepare("INSERT OR REPLACE INTO cluster_states (cluster, name, state) VALUES (?, ?, ?)");
  const remove = connection.prepare("DELETE FROM cluster_states WHERE cluster = ? AND name = ?");
  return {
    async read(cluster, signal) {
      signal.throwIfAborted();
      const rows = select
        .all(cluster)
        .map((row) => ({ name: textColumn(row, "name"), text: textColumn(row, "state") }));
      const hold = rows.find(({ name }) => name === holdName);
      return {
        hold: hold && readRow(ClusterHold, hold.text),
        busy: rows.flatMap(({ name, text }) => (name.startsWith(busyPrefix) ? (readRow(BusyProcess, text) ?? []) : [])),
      };
    },
    async hold(cluster, hold, signal) {
      signal.throwIfAborted();
      put.run(cluster, holdName, JSON.stringify(hold));
    },
    async release(cluster, signal) {
      signal.throwIfAborted();
      remove.run(cluster, holdName);
    },
    async setBusy(cluster, busy, signal) {
      signal.throwIfAborted();
      put.run(cluster, `${busyPrefix}${busy.process}`, JSON.stringify(busy));
    },
    async removeBusy(cluster, process, signal) {
      signal.throwIfAborted();
      remove.run(cluster, `${busyPrefix}${process}`);
    },
  };
}
