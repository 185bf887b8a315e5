// Measures TypeScript types for a schema with many tables: the part of the schema that 200 operations use, the types that GraphQL Code
// Generator makes of it, and `tsc --strict` over both.
//
//   (cd examples/react-app && npm ci)
//   npm run build
//   node bench/schema-types.mjs [--database-url postgres://…empty database] [--tables 1451] [--operations 200] [--roles 4] [--rounds 3] [--whole]
//
// Prints time, CPU time and peak memory of each command. With --whole, also those of the whole schema, and whether the types of the operations
// are equal. The generator is a package of the example, so that nothing else has to be installed.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { metadata, model, sql } from './large-schema.mjs';
import { administer, atEnd, cpuOf, databaseServer, memoryOf, post, root, run, startService } from './support.mjs';

const { values: options } = parseArgs({
  options: {
    'database-url': { type: 'string' },
    tables: { type: 'string', default: '1451' },
    operations: { type: 'string', default: '200' },
    roles: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '3' },
    whole: { type: 'boolean', default: false },
  },
});
const PORT = 18_095;
const tables = Number(options.tables);
const packages = path.join(root, 'examples/react-app/node_modules');
const svc = path.join(root, 'dist/cli/main.js');
const generator = path.join(packages, '@graphql-codegen/cli/cjs/bin.js');

/** Runs a command to its end. @returns its time and CPU time in s, and peak memory in MB @throws if it fails */
async function measured(command, args, { cwd, env = {} }) {
  const started = performance.now();
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data));
  let cpu = 0;
  let memory = 0;
  const sample = setInterval(() => {
    try {
      cpu = Math.max(cpu, cpuOf(child.pid) || 0);
      memory = Math.max(memory, memoryOf(child.pid, 'VmHWM'));
    } catch {
      // It has ended.
    }
  }, 10);
  const code = await new Promise((resolve, reject) => child.once('close', resolve).once('error', reject));
  clearInterval(sample);
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} exited with ${code}: ${output.slice(0, 2000)}`);
  return { seconds: (performance.now() - started) / 1000, cpu: cpu / 1000, memory: memory / 1_048_576 };
}

/** Prints the fastest of some runs, and the highest memory. */
async function report(what, task, rounds = Number(options.rounds)) {
  const runs = [];
  for (let i = 0; i < rounds; i++) runs.push(await task());
  const least = (key) => Math.min(...runs.map((each) => each[key])).toFixed(2);
  const memory = Math.max(...runs.map((each) => each.memory)).toFixed(0);
  console.log(`${what}: ${least('seconds')} s, ${least('cpu')} s of CPU, ${memory} MB (best of ${rounds})`);
}

/** Operations with a filter as a variable, spread over the tables, and code that uses their types. */
function operations(count) {
  const all = model(tables);
  const code = ["import { graphql } from './gql';", "import type { VariablesOf } from './variables';"];
  for (let i = 0; i < count; i++) {
    const name = `big_${all[Math.floor((i * tables) / count)].name}`;
    const parts = 'id c0_text parent { id c1_text owner { id } } owner { id c2_int }';
    code.push(
      `export const q${i} = graphql(\`query Q${i}($where: ${name}_bool_exp, $limit: Int) {\n  ${name}(where: $where, limit: $limit, order_by: { id: asc }) { ${parts} }\n}\`);`,
      `export const v${i}: VariablesOf<typeof q${i}> = { where: { c0_text: { _eq: 'a' }, owner: { c2_int: { _in: [1] } } }, limit: ${i} };`,
    );
  }
  return `${code.join('\n')}\n`;
}

function writeProject(folder) {
  const files = {
    'config.yaml': 'version: 3\nmetadata_file: metadata.json\n',
    'metadata.json': JSON.stringify(metadata(tables, Number(options.roles)).args.metadata),
    'src/operations.ts': operations(Number(options.operations)),
    'src/variables.ts': `import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
export type VariablesOf<T> = T extends TypedDocumentNode<unknown, infer V> ? V : never;\n`,
  };
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    fs.writeFileSync(path.join(folder, name), text);
  }
}

/** Generates types from a schema file, and checks the project with them. @returns the types of the operations */
async function types(what, folder, schema, rounds) {
  const config = {
    schema,
    documents: ['src/operations.ts'],
    generates: { 'src/gql/': { preset: 'client', presetConfig: { fragmentMasking: false }, config: { useTypeImports: true } } },
  };
  const compiler = { strict: true, noEmit: true, target: 'es2022', module: 'esnext', moduleResolution: 'bundler', skipLibCheck: true };
  fs.writeFileSync(path.join(folder, 'codegen.json'), JSON.stringify(config));
  fs.writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...compiler, types: [] }, include: ['src'] }));
  const generate = [generator, '--config', 'codegen.json'];
  await report(
    `types from ${what}`,
    () => measured(process.execPath, generate, { cwd: folder, env: { NODE_OPTIONS: '--max-old-space-size=8192' } }),
    rounds,
  );
  const { default: getExePath } = await import(path.join(root, 'node_modules/typescript/lib/getExePath.js'));
  await report(`tsc --strict with ${what}`, () => measured(getExePath(), ['-p', '.'], { cwd: folder }), rounds);
  const generated = fs.readFileSync(path.join(folder, 'src/gql/graphql.ts'), 'utf8');
  return generated.match(/^export type Q\d+Query = .*$/gm).join('\n');
}

await run(async () => {
  delete process.env.SVC_GRAPHQL_ENDPOINT;
  if (!fs.existsSync(generator)) throw new Error('run `npm ci` in examples/react-app first');
  const databaseUrl = await databaseServer(options['database-url']);
  await administer(databaseUrl, [sql(tables)]);
  // Inside of the packages, where the generator finds its plugins.
  const folder = fs.mkdtempSync(path.join(packages, '.svc-bench-'));
  atEnd(() => fs.rmSync(folder, { recursive: true, force: true }));
  writeProject(folder);

  const env = { SVC_GRAPHQL_DATABASE_URL: databaseUrl };
  const schema = (...args) => measured(process.execPath, [svc, 'schema', '--role', 'role0', ...args], { cwd: folder, env });
  const documents = ['--documents', 'src/operations.ts'];
  await report('part from files', () => schema(...documents, '--output', 'part.graphql'));
  const service = await startService({ port: PORT, databaseUrl });
  await post(`http://127.0.0.1:${PORT}/v1/metadata`, JSON.stringify(metadata(tables, Number(options.roles))));
  const endpoint = ['--endpoint', `http://127.0.0.1:${PORT}`];
  const before = cpuOf(service.pid);
  await report('part from a service', () => schema(...documents, ...endpoint, '--output', 'service.graphql'));
  const own = (cpuOf(service.pid) - before) / 1000 / Number(options.rounds);
  console.log(`the service for it: ${own.toFixed(2)} s of CPU, ${(memoryOf(service.pid, 'VmHWM') / 1_048_576).toFixed(0)} MB (mean)`);
  const part = fs.readFileSync(path.join(folder, 'part.graphql'), 'utf8');
  const isEqual = part === fs.readFileSync(path.join(folder, 'service.graphql'), 'utf8');
  console.log(`part: ${(part.length / 1e6).toFixed(2)} MB, ${isEqual ? 'equal from both' : 'DIFFERENT from both'}`);

  const ofPart = await types('the part', folder, 'part.graphql');
  if (!options.whole) return;
  await report('whole schema from files', () => schema('--output', 'whole.graphql'), 1);
  const ofWhole = await types('the whole schema', folder, 'whole.graphql', 1);
  console.log(`types of the results: ${ofPart === ofWhole ? 'equal' : 'DIFFERENT'}`);
});
