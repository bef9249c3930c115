/** The index of the work items that the sweep has to look at. */
export const dueIndex = "due";

/**
 * The one table as data: tests create it, the CDK app deploys it. Keys:
 *
 * | `pk` | `sk` | what |
 * | --- | --- | --- |
 * | `layout` | `layout` | the version of this layout, and the release that wrote it |
 * | `obj#<key>` | `work` | the work item |
 * | `obj#<key>` | `work#inv#<cluster uid>#<owner uid>` | an inventory's pointer; a small inventory is inside it |
 * | `obj#<key>` | `edges` | the topics that the object subscribes to |
 * | `obj#<key>` | `artifact#<source uid>#<digest>` | an artifact that the source stored |
 * | `obj#<key>` | `hook` | of a Receiver: which row its entry is, and the entry's digest |
 * | `obj#<key>` | `hist#<time>#<random>` | a finished reconcile; expires |
 * | `obj#<key>#inv#<cluster uid>#<owner uid>#<page>` | `<generation>` | a page of a large inventory |
 * | `edge#<topic>` | `<key>` | a subscriber of the topic |
 * | `hook#<digest of the path>` | `<key>` | a Receiver's entry, which deliveries read |
 * | `own#<cluster uid>/<entry id>` | `claims` | the owner of an object of a cluster, and the others that claim it |
 * | `event#<key>#<cluster>` | `window` | since when no further event of this key is sent; expires |
 * | `cause#<digest of Alert and cause>#<cluster>` | `group` | what was told of messages with this cause; expires |
 * | `cause#<digest of Alert and cause>#<cluster>` | `waits#<time>#<object>` | an object that waits for the cause since the group was opened at this time; expires |
 * | `cluster#<id>` | `hold` | why no run begins in that cluster; expires |
 * | `cluster#<id>` | `busy#<process>` | how many runs of it a process has; expires |
 * | `cluster#<id>` | `sweep` | who sweeps that cluster, and until when; expires |
 * | `seen#<cluster>/<group>/<kind>` | `<namespace>/<name>` | the last summary of a custom resource, and since when it has not been Ready |
 *
 * Rows of many objects are spread over partitions (the ledger by entry, the index by shard), since a partition takes 1,000 writes a
 * second.
 */
export const stateTable = {
  AttributeDefinitions: [
    { AttributeName: "pk", AttributeType: "S" },
    { AttributeName: "sk", AttributeType: "S" },
    { AttributeName: "shard", AttributeType: "S" },
    { AttributeName: "overdue", AttributeType: "N" },
  ],
  KeySchema: [
    { AttributeName: "pk", KeyType: "HASH" },
    { AttributeName: "sk", KeyType: "RANGE" },
  ],
  // Sparse and with keys only: a write that changes no due time costs nothing in the index.
  GlobalSecondaryIndexes: [
    {
      IndexName: dueIndex,
      KeySchema: [
        { AttributeName: "shard", KeyType: "HASH" },
        { AttributeName: "overdue", KeyType: "RANGE" },
      ],
      Projection: { ProjectionType: "KEYS_ONLY" },
    },
  ],
  BillingMode: "PAY_PER_REQUEST",
} as const;

/** The time from which DynamoDB may remove an item, in seconds since 1970. */
export const ttlAttribute = "expires";
