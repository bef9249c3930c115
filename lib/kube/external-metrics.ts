import type { ExternalMetrics } from "../core/ports/external-metrics.ts";
import { jsonOf } from "./api-answer.ts";
import type { ApiClient } from "./api-client.ts";

const root = "/apis/external.metrics.k8s.io/v1beta1";

/** The {@link ExternalMetrics} port on an API server, with our own rights. Its kinds are those of metrics, so discovery does not know them. */
export function externalMetrics(client: Pick<ApiClient, "expect">): ExternalMetrics {
  return {
    async values({ namespace, name, labelSelector }, signal) {
      const [within, metric] = [namespace, name].map(encodeURIComponent);
      const query = labelSelector === "" ? "" : `?${new URLSearchParams({ labelSelector }).toString()}`;
      const path = `${root}/namespaces/${within}/${metric}${query}`;
      return jsonOf(await client.expect({ verb: "list", method: "GET", path, repeatable: true }, signal));
    },
  };
}
