import { describe, expect, test } from "vitest";
import { isJsonObject, type Json, type JsonObject, toJson } from "../../../lib/core/json.ts";
import type { StartCluster } from "./cluster-under-test.ts";
import { widgetDefinition } from "./widget-definition.ts";
import { workspace } from "./workspace.ts";

const accept = "application/json;as=Table;v=v1;g=meta.k8s.io";

/** The Tables from which kubectl prints. */
export function tablesContract(start: StartCluster): void {
  describe("tables", () => {
    const space = workspace(start);
    const { apply, create, configMap, deployment, signal } = space;

    const read = async (path: string, query = {}): Promise<JsonObject> => {
      const request = { verb: "list", method: "GET", path, query, accept, repeatable: true } as const;
      const answer: Json = toJson(JSON.parse((await space.api.expect(request, signal)).text));
      if (!isJsonObject(answer)) throw new Error("a table is an object");
      return answer;
    };
    const columnsOf = ({ columnDefinitions }: JsonObject) =>
      objects(columnDefinitions).map(({ name, type, priority }) => [name, type, priority]);
    const cellsOf = ({ rows }: JsonObject) => objects(rows).map(({ cells }) => cells);
    const firstCells = (table: JsonObject) => cellsOf(table).map((cells) => (isList(cells) ? cells[0] : cells));
    const path = () => `/api/v1/namespaces/${space.namespace}/configmaps`;
    const mine = { labelSelector: "table=yes" };
    const labels = { table: "yes" };

    test("have columns by kind, and a row for each object", async () => {
      await create(configMap("a", { k: "v", l: "w" }, { labels }));
      await create(configMap("b", {}, { labels }));
      const table = await read(path(), mine);
      expect(table).toMatchObject({ kind: "Table", apiVersion: "meta.k8s.io/v1" });
      expect(columnsOf(table)).toEqual([
        ["Name", "string", 0],
        ["Data", "string", 0],
        ["Age", "string", 0],
      ]);
      expect(cellsOf(table)).toEqual([
        ["a", 2, expect.any(String)],
        ["b", 0, expect.any(String)],
      ]);
    });

    test("of one object have one row", async () => {
      await create(configMap());
      expect(cellsOf(await read(`${path()}/a`))).toEqual([["a", 1, expect.any(String)]]);
    });

    test("of no objects have columns and no rows", async () => {
      const table = await read(path(), mine);
      expect(columnsOf(table)).toHaveLength(3);
      expect(table["rows"]).toEqual([]);
    });

    test.each([
      ["None", undefined],
      ["Metadata", "PartialObjectMetadata"],
      ["Object", "ConfigMap"],
    ])("contain of each object what includeObject=%s requests", async (includeObject, kind) => {
      await create(configMap("a", { k: "v" }, { labels }));
      const { rows } = await read(path(), { ...mine, includeObject });
      const [row] = objects(rows);
      const object = row?.["object"];
      expect(isJsonObject(object) ? object["kind"] : undefined).toBe(kind);
    });

    test("come in pages", async () => {
      for (const name of ["a", "b", "c"]) await create(configMap(name, {}, { labels }));
      const first = await read(path(), { ...mine, limit: "2" });
      const { metadata } = first;
      const token = isJsonObject(metadata) ? metadata["continue"] : undefined;
      const second = await read(path(), { ...mine, limit: "2", continue: token });
      expect([first, second].map(firstCells)).toEqual([["a", "b"], ["c"]]);
    });

    test("of a Deployment show how many replicas are ready", async () => {
      await apply(deployment());
      const table = await read(`/apis/apps/v1/namespaces/${space.namespace}/deployments`);
      expect(cellsOf(table)).toEqual([expect.arrayContaining(["app", "0/0", "example.test/app:1", "app=app"])]);
      expect(columnsOf(table)).toContainEqual(["Images", "string", 1]);
    });

    test("of a custom resource have the columns of its definition", async () => {
      const group = `${space.namespace}.example.test`;
      const columns = [
        { name: "Size", type: "integer", jsonPath: ".spec.size" },
        { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status', priority: 1 },
      ];
      const definition = widgetDefinition(group, { additionalPrinterColumns: columns });
      await create(definition);
      try {
        const widget = {
          apiVersion: `${group}/v1`,
          kind: "Widget",
          metadata: { name: "a", namespace: space.namespace },
          spec: { size: 3 },
        };
        await expect.poll(() => apply(widget).catch(() => undefined)).toBeDefined();
        const table = await read(`/apis/${group}/v1/namespaces/${space.namespace}/widgets`);
        expect(columnsOf(table)).toEqual([
          ["Name", "string", 0],
          ["Size", "integer", 0],
          ["Ready", "string", 1],
        ]);
        expect(cellsOf(table)).toEqual([["a", 3, null]]);
      } finally {
        await removeDefinition(group);
      }
    });

    const removeDefinition = (group: string) =>
      space.remove({
        group: "apiextensions.k8s.io",
        version: "v1",
        kind: "CustomResourceDefinition",
        namespace: "",
        name: `widgets.${group}`,
      });
  });
}

function objects(list: Json | undefined): readonly JsonObject[] {
  return isList(list) ? list.filter(isJsonObject) : [];
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}
