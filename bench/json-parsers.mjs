// Compares JSON parsers that preserve numbers, the service's own and the library lossless-json, with JSON.parse, which changes numbers. Each
// figure is the CPU time of all threads of a separate process: the first parse of the document, and the best of ten.
//
//   npm install --no-save lossless-json && node bench/json-parsers.mjs
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const MEGABYTE = 1_000_000;
const RUNS = 5;

function fill(text) {
  const parts = [];
  for (let n = 0, length = 0; length < MEGABYTE; n++) {
    const part = text(n);
    parts.push(part);
    length += part.length;
  }
  return `[${parts.join()}]`;
}

const documents = {
  'rows with prices': () => fill((n) => `{"id":${n},"name":"customer ${n}","price":${n}.90,"created_at":"2024-01-01T00:00:00Z"}`),
  'large integers': () => fill((n) => `12345678901234${n}`),
  'exact fractions': () => fill(() => '1.50'),
  'objects of a fraction': () => fill(() => '{"a":1.50}'),
  'numbers that doubles keep': () => fill((n) => `${n}.5`),
  'small integers': () => fill(() => '1'),
};

const parsers = {
  'JSON.parse': async () => JSON.parse,
  own: async () => {
    const { tsImport } = await import('tsx/esm/api');
    return (await tsImport('../src/util/json.ts', import.meta.url)).parseJson;
  },
  // Node 22 and later pass the text of each number to a reviver.
  'JSON.parse, source': async () => {
    class Exact {
      constructor(text) {
        this.text = text;
      }
    }
    const reviver = (_key, value, context) =>
      typeof value === 'number' && context.source !== String(value) ? new Exact(context.source) : value;
    return (text) => JSON.parse(text, reviver);
  },
  'lossless-json': async () => (await import('lossless-json')).parse,
};

function cpuOf(run) {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

async function measure(parserName, documentName) {
  const parse = await parsers[parserName]();
  const text = documents[documentName]();
  const times = Array.from({ length: 11 }, () => cpuOf(() => parse(text)));
  console.log(JSON.stringify([times[0], Math.min(...times.slice(1))]));
}

/** Median of a few processes. */
function measured(parserName, documentName) {
  const results = Array.from({ length: RUNS }, () => {
    const { stdout, stderr, status } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), parserName, documentName]);
    if (status !== 0) throw new Error(stderr.toString());
    return JSON.parse(stdout.toString());
  });
  const median = (index) => results.map((result) => result[index]).sort((a, b) => a - b)[Math.floor(RUNS / 2)];
  return `${median(0).toFixed(0)} / ${median(1).toFixed(0)}`;
}

const [parserName, documentName] = process.argv.slice(2);
if (parserName === undefined) {
  console.log(`| 1 MB, ms first / best | ${Object.keys(parsers).join(' | ')} |\n|---|${'---|'.repeat(Object.keys(parsers).length)}`);
  for (const name of Object.keys(documents)) {
    console.log(
      `| ${name} | ${Object.keys(parsers)
        .map((parser) => measured(parser, name))
        .join(' | ')} |`,
    );
  }
} else await measure(parserName, documentName);
