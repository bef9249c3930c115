/** Raised with every change of the layout that older code would misread. */
export const layoutVersion = 1;

/** The index of what the sweep has to look at. */
export const dueIndex = "due";

/**
 * The one table, as data: what tests create, what the CDK app deploys and what an error message compares with. Keys:
 *
 * | `pk` | `sk` | what |
 * | --- | --- | --- |
 * | `layout` | `layout` | the version of this layout |
 * | `obj#<key>` | `work` | the work item |
 * | `obj#<key>` | `work#inv#<cluster uid>#<owner uid>` | an inventory's pointer; a small inventory is inside it |
 * | `obj#<key>` | `edges` | what the object listens to |
 * | `obj#<key>` | `artifact#<source uid>#<digest>` | an artifact that the source stored |
 * | `obj#<key>` | `hist#<time>#<random>` | a finished reconcile; expires |
 * | `obj#<key>#inv#<cluster uid>#<owner uid>#<page>` | `<generation>` | a page of a large inventory |
 * | `edge#<what>` | `<key>` | who listens to it |
 * | `own#<cluster uid>/<entry id>` | `claims` | who owns an object of a cluster, and who else wants it |
 * | `seen#<cluster>/<group>/<kind>` | `<namespace>/<name>` | what was last seen of a custom resource |
 *
 * What many objects share is spread over partitions (the ledger by entry, the index by shard), since a partition takes
 * 1,000 writes a second.
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
  // Sparse, and only keys: a write that moves no due time costs the index nothing.
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

/** Seconds since 1970 from which DynamoDB may remove an item. */
export const ttlAttribute = "expires";
