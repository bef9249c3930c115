import type { ExternalMetrics } from "../core/ports/external-metrics.ts";
import { jsonOf } from "./api-answer.ts";
import type { ApiClient } from "./api-client.ts";

const root = "/apis/external.metrics.k8s.io/v1beta1";

/**
 * The {@link ExternalMetrics} port on an API server, with the rights of the user that is named, or else with our own. Its
 * kinds are those of metrics, so discovery does not know them.
 */
export function externalMetrics(client: Pick<ApiClient, "as" | "expect">): ExternalMetrics {
  return {
    async values({ namespace, name, labelSelector, user }, signal) {
      const [within, metric] = [namespace, name].map(encodeURIComponent);
      const query = labelSelector === "" ? "" : `?${new URLSearchParams({ labelSelector }).toString()}`;
      const path = `${root}/namespaces/${within}/${metric}${query}`;
      const by = user === undefined ? client : client.as(user);
      return jsonOf(await by.expect({ verb: "list", method: "GET", path, repeatable: true }, signal));
    },
  };
}
