import { selectionTopic } from "../../../../lib/core/topics.ts";
import { namespace, receiverWorld, token } from "../../receiver/receiver-world.ts";

export const { signal: never } = new AbortController();
/** The path of the Receiver of {@link ready}. */
export const path = "/hook/3907e385660662cde070490705fcf1afafdc63e83e0c40e29f95a30a535c409e";

/** A Receiver that is ready. */
export async function ready(
  change: Parameters<ReturnType<typeof receiverWorld>["receiver"]>[0] = {},
  options: Parameters<typeof receiverWorld>[0] = {},
) {
  const world = receiverWorld(options);
  world.secret({ token });
  world.source("shop");
  world.receiver(change);
  await world.run();
  return world;
}

/** Changes of the source that it selects. */
export const topicOfShop = selectionTopic({
  cluster: "here",
  group: "source.toolkit.fluxcd.io",
  kind: "OCIRepository",
  namespace,
});
