import { createHash } from "node:crypto";
import { z } from "zod";

const Widget = z.object({
  type: z.enum(["text", "alarm", "metric", "log"]),
  x: z.number(),
  y: z.number(),
  width: z.number(),
  height: z.number(),
  properties: z.looseObject({
    title: z.string().default(""),
    markdown: z.string().default(""),
    alarms: z.array(z.string()).default([]),
    metrics: z.array(z.array(z.unknown())).default([]),
    query: z.string().default(""),
  }),
});
type Widget = z.infer<typeof Widget>;
const Body = z.object({ widgets: z.array(Widget) });
const Joined = z.object({ "Fn::Join": z.tuple([z.literal(""), z.array(z.unknown())]) });

const column = 44;
const row = 34;
const top = 34;
const colours = ["#1f77b4", "#ff7f0e", "#2ca02c", "#d62728"];

/**
 * A picture of a dashboard: the widgets as the template has them, their titles, labels and places. The curves and rows are made up
 * from the labels, the same ones each time, and the picture says so.
 *
 * @param body `DashboardBody` of the template; what it refers to stands as its logical id
 */
export function drawDashboard(body: unknown): string {
  const { widgets } = Body.parse(JSON.parse(textOf(body)));
  const height = top + Math.max(...widgets.map(({ y, height: rows }) => (y + rows) * row)) + 8;
  const width = 24 * column + 16;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="#f2f3f3"/>`,
    `<text x="12" y="22" font-weight="bold" fill="#b5121b">Example data: the widgets are those of the template, curves and rows are made up</text>`,
    ...widgets.flatMap(drawWidget),
    "</svg>",
    "",
  ].join("\n");
}

function textOf(body: unknown): string {
  if (typeof body === "string") return body;
  const [, parts] = Joined.parse(body)["Fn::Join"];
  return parts.map((part) => (typeof part === "string" ? part : nameOf(part))).join("");
}

/** The logical id that a part of the template refers to. */
function nameOf(reference: unknown): string {
  return /"(?:Ref|Fn::GetAtt)":\[?"([^"]+)"/.exec(JSON.stringify(reference))?.[1] ?? "?";
}

function drawWidget(widget: Widget): readonly string[] {
  const { type, properties } = widget;
  const [x, y] = [8 + widget.x * column, top + widget.y * row];
  const [width, height] = [widget.width * column - 6, widget.height * row - 6];
  const inner = { x: x + 12, y: y + 34, width: width - 24, height: height - 82 };
  if (type === "text") {
    const [title = "", ...words] = properties.markdown.split("\n");
    return [
      label(x + 4, y + 24, title.replace(/^#+ /, ""), 'font-size="17" font-weight="bold"'),
      label(x + 4, y + 46, words.join(" ")),
    ];
  }
  const drawn = { alarm: drawAlarms, metric: drawGraph, log: drawTable }[type];
  return [
    `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="3" fill="#fff" stroke="#d5dbdb"/>`,
    label(x + 12, y + 20, properties.title, 'font-weight="bold"'),
    ...drawn(properties, inner),
  ];
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Every alarm as the part of its id that names it, all of them fine. */
function drawAlarms({ alarms }: Widget["properties"], box: Box): readonly string[] {
  const names = alarms
    .map((name) => /([A-Z][A-Za-z]+?)[0-9A-F]{8}$/.exec(name)?.[1] ?? name)
    .map((name) => name.replace(/^.*Watch/, ""));
  const lines = 8;
  const wide = box.width / Math.ceil(names.length / lines);
  return names.flatMap((name, index) => {
    const [x, y] = [box.x + Math.floor(index / lines) * wide, box.y + (index % lines) * 17];
    return [
      `<rect x="${round(x)}" y="${y}" width="9" height="9" fill="#1d8102"/>`,
      label(x + 13, y + 9, name, 'font-size="9"'),
    ];
  });
}

function drawGraph({ metrics }: Widget["properties"], box: Box): readonly string[] {
  const labels = metrics.flatMap((metric) => {
    const options = z.looseObject({ label: z.string(), visible: z.boolean().default(true) }).safeParse(metric.at(-1));
    return options.success && options.data.visible ? [options.data.label] : [];
  });
  const points = 40;
  const curves = labels.map((name, index) => {
    const digest = createHash("sha256").update(name).digest();
    const level = 0.2 + (digest[0] ?? 0) / 400;
    const at = Array.from({ length: points }, (_, point) => {
      const share = Math.min(1, level + ((digest[point % digest.length] ?? 0) - 128) / 900);
      return `${round(box.x + (point * box.width) / (points - 1))},${round(box.y + box.height * (1 - share))}`;
    });
    return `<polyline points="${at.join(" ")}" fill="none" stroke="${colours[index % colours.length]}" stroke-width="1.5"/>`;
  });
  const wide = box.width / 2;
  const legend = labels.flatMap((name, index) => {
    const [x, y] = [box.x + (index % 2) * wide, box.y + box.height + 8 + Math.floor(index / 2) * 15];
    return [
      `<rect x="${round(x)}" y="${y}" width="9" height="9" fill="${colours[index % colours.length]}"/>`,
      label(x + 13, y + 9, name, 'font-size="10"'),
    ];
  });
  const axis = `<path d="M${box.x},${box.y} v${box.height} h${box.width}" fill="none" stroke="#aab7b8"/>`;
  return [axis, ...curves, ...legend];
}

/** The columns of the query, and made up rows. */
function drawTable({ query }: Widget["properties"], box: Box): readonly string[] {
  const columns = /stats .* as (\w+) by ([\w, ]+)/.exec(query);
  const names = [...(columns?.[2] ?? "").split(", "), columns?.[1] ?? ""];
  const wide = box.width / names.length;
  const example = [
    ["prod", "Kustomization", "apps", "web", "3"],
    ["prod", "OCIRepository", "apps", "web", "1"],
  ];
  return [names, ...example].flatMap((cells, line) =>
    cells.map((cell, index) =>
      label(
        box.x + index * wide,
        box.y + 12 + line * 20,
        cell,
        line === 0 ? 'font-size="10" font-weight="bold"' : 'font-size="10"',
      ),
    ),
  );
}

function label(x: number, y: number, words: string, style = ""): string {
  const escaped = words.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return `<text x="${round(x)}" y="${round(y)}" fill="#16191f" ${style}>${escaped}</text>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
