import { fileCluster } from "../../doubles/file-cluster.ts";
import { configurationStories } from "./configuration-stories.ts";
import { definitionsStories } from "./stories.ts";

const embedded = fileCluster({ definitions: false });

definitionsStories("the embedded API server", () => embedded.cluster);
configurationStories("the embedded API server", () => embedded.cluster);
