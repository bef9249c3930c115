// Compresses a file with Brotli at its best. Takes the file and where to write to.
import { readFileSync, writeFileSync } from "node:fs";
import { brotliCompressSync, constants } from "node:zlib";

const [, , from, to] = process.argv;
const content = readFileSync(from);
const params = {
  [constants.BROTLI_PARAM_QUALITY]: 11,
  [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
  [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
};
writeFileSync(to, brotliCompressSync(content, { params }));
