import { printCost } from "./print.ts";

/** `node bench/cost/main.ts`: what Sluice costs in AWS, as Markdown; the generated part of docs/cost.md. */
process.stdout.write(`${printCost()}\n`);
