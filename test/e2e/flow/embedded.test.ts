import { fileCluster } from "../../doubles/file-cluster.ts";
import { kustomizationStories, wholeStories } from "./stories.ts";
import { world } from "./world.ts";

const embedded = fileCluster();
let worlds = 0;

kustomizationStories("the embedded API server", wholeStories, () => {
  const { cluster } = embedded;
  return world(cluster, `flow-${worlds++}`, (user) => cluster.as(user));
});
