import { followsByTopic, parseFollows } from "../../lib/core/follows.ts";
import type { Follower, Subscriptions } from "../../lib/core/ports/subscriptions.ts";
import { formatWorkKey, parseWorkKey } from "../../lib/core/work-key.ts";
import { optionalTextColumn, type StateDatabase, textColumn } from "./state-database.ts";

export function sqliteSubscriptions({ connection, fenced }: StateDatabase): Subscriptions {
  const selectTopics = connection.prepare("SELECT what, follows FROM edges WHERE key = ?");
  const put = connection.prepare("INSERT OR REPLACE INTO edges (what, key, follows) VALUES (?, ?, ?)");
  const remove = connection.prepare("DELETE FROM edges WHERE what = ? AND key = ?");
  const selectKeys = connection.prepare("SELECT key, follows FROM edges WHERE what = ? ORDER BY key");
  const followers = async (topic: string, signal: AbortSignal): Promise<readonly Follower[]> => {
    signal.throwIfAborted();
    return selectKeys.all(topic).map((row) => ({
      key: parseWorkKey(textColumn(row, "key")),
      follows: parseFollows(optionalTextColumn(row, "follows")),
    }));
  };
  return {
    async subscribe(subscriptions, fence, signal) {
      signal.throwIfAborted();
      const text = formatWorkKey(fence.key);
      const before = new Map(
        selectTopics.all(text).map((row) => [textColumn(row, "what"), optionalTextColumn(row, "follows")]),
      );
      const after = followsByTopic(subscriptions);
      const removed = [...before.keys()].filter((topic) => !after.has(topic));
      const changed = [...after].filter(([topic, follows]) => !before.has(topic) || before.get(topic) !== follows);
      // Nearly every run has the same subscriptions as the one before.
      if (removed.length + changed.length === 0) return;
      fenced(fence, () => {
        for (const topic of removed) remove.run(topic, text);
        for (const [topic, follows] of changed) put.run(topic, text, follows ?? null);
      });
    },
    followers,
    subscribers: async (topic, signal) => (await followers(topic, signal)).map(({ key }) => key),
  };
}
