import { z } from "zod";

/** An object with more names than this follows everything of its topic: its row has to stay small. */
export const maxFollowsBytes = 4_096;

const ObjectSelector = z.union([
  z.strictObject({ name: z.string() }),
  z.strictObject({ labels: z.record(z.string(), z.string()) }),
]);
export type ObjectSelector = Readonly<z.infer<typeof ObjectSelector>>;

/**
 * The part of a topic that an object follows (docs/maintainers/adr/0037-what-a-subscription-follows.md): other events do not wake it. Names
 * are those of the topic's own world: tags of a registry, whole refs of git (`refs/heads/main`), keys of a bucket.
 */
export const Follows = z.discriminatedUnion("kind", [
  /** These names, letter for letter. */
  z.strictObject({ kind: z.literal("names"), names: z.array(z.string()).readonly() }),
  /** One content, under any name. */
  z.strictObject({ kind: z.literal("digest"), digest: z.string() }),
  /**
   * The names that are versions in a range, as `spec.ref.semver` and `semverFilter` say it. `after` is what stands before the version
   * (`refs/tags/`); `isChart`: the tags are those of Helm charts, which write `_` for `+`.
   */
  z.strictObject({
    kind: z.literal("range"),
    semver: z.string(),
    filter: z.string().exactOptional(),
    after: z.string().exactOptional(),
    isChart: z.literal(true).exactOptional(),
  }),
  /** The names that begin so. */
  z.strictObject({ kind: z.literal("prefix"), prefix: z.string() }),
  /** The objects that a Receiver selects: by name, or by all of these labels. */
  z.strictObject({ kind: z.literal("objects"), selectors: z.array(ObjectSelector).readonly() }),
]);
export type Follows = Readonly<z.infer<typeof Follows>>;

/** A topic, and what of it an object follows. A topic alone stands for everything that happens to it. */
export type Subscription = string | { readonly topic: string; readonly follows: Follows };

/** The stored form of {@link Follows}; undefined for everything. */
export type FollowsText = string | undefined;

/** The stored form for each topic's row. A topic that is named twice, with something else each time, is followed whole. */
export function followsByTopic(subscriptions: readonly Subscription[]): ReadonlyMap<string, FollowsText> {
  const found = new Map<string, FollowsText>();
  for (const subscription of subscriptions) {
    const [topic, text] =
      typeof subscription === "string"
        ? [subscription, undefined]
        : [subscription.topic, formatFollows(subscription.follows)];
    found.set(topic, found.has(topic) && found.get(topic) !== text ? undefined : text);
  }
  return found;
}

/** Equal texts for equal values: the fields come in the order of the schema. */
function formatFollows(follows: Follows): FollowsText {
  const text = JSON.stringify(Follows.parse(follows));
  return Buffer.byteLength(text) <= maxFollowsBytes ? text : undefined;
}

/** Reads a row's text. Undefined, which means everything, if there is none or if only a newer release understands it. */
export function parseFollows(text: FollowsText): Follows | undefined {
  if (text === undefined) return undefined;
  try {
    return Follows.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
