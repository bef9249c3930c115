// Compresses NAME.wasm with Brotli at its best. With --check FILE it compares what is checked in with a file instead: byte
// for byte, but uncompressed, since another Brotli may compress otherwise.
import { readFileSync, writeFileSync } from "node:fs";
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";

const [, , name, check, file] = process.argv;
const compressed = new URL(`${name}.wasm.br`, import.meta.url);
if (check === "--check") {
  if (!brotliDecompressSync(readFileSync(compressed)).equals(readFileSync(file))) {
    process.stderr.write(
      `${name}.wasm.br is not what the sources give: run engine/build.sh, check in what it writes\n`,
    );
    process.exitCode = 1;
  }
} else {
  const content = readFileSync(new URL(`${name}.wasm`, import.meta.url));
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 11,
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
  };
  writeFileSync(compressed, brotliCompressSync(content, { params }));
}
