/** `svc permissions test`: runs queries as roles, and compares the responses with expectations. */
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { projectFiles } from '../../project/directory/files.ts';
import { MetadataReader } from '../../project/directory/read-metadata.ts';
import { sameMeaning } from '../../project/directory/sections.ts';
import { EXIT, failure, type Problem, ProjectFailure } from '../../project/failure.ts';
import { serverSources } from '../../migrations/sources.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, printJson } from '../../util/json.ts';
import { type CommandContext, type CommandOutcome, textOption } from '../context.ts';

interface PermissionCase {
  readonly name: string;
  readonly json: JsonObject;
}

/** Tests of a file, and SQL that runs before and after them. */
interface Suite {
  readonly file: string;
  readonly source: string;
  readonly setup: string | undefined;
  readonly teardown: string | undefined;
  readonly cases: readonly PermissionCase[];
}

interface TestResult {
  readonly file: string;
  readonly name: string;
  readonly ms: number;
  /** `error`: the request could not be sent, or setup or teardown failed. `skipped`: setup failed. */
  readonly state: 'passed' | 'failed' | 'error' | 'skipped';
  /** Reason, unless the test passed. */
  readonly complaint?: string;
}

/** `svc permissions test` */
export async function runPermissionsTest(context: CommandContext): Promise<CommandOutcome> {
  const project = await context.project();
  const folder = join(project.root, 'tests', 'permissions');
  const named = context.args.map((file) => resolve(context.cwd, file));
  const paths = named.length > 0 ? named : listYaml(folder);
  if (paths.length === 0) throw failure('missing-file', `there are no tests in ${project.files.show(folder)}`);
  // All files are read before the first test runs.
  const suites = paths.map((path) => suiteOf(path, project.root));
  const server = await context.server();
  const send: Send = async (headers, query, variables) => {
    const { body } = await server.send(project.settings.paths.graphql, { body: { query, variables }, headers });
    return isJsonObject(body) ? body : { data: body };
  };
  const results: TestResult[] = [];
  for (const suite of suites) results.push(...(await runSuite(context, suite, send)));
  const wrong = results.filter(({ state }) => state === 'failed' || state === 'error');
  const count = (expected: TestResult['state']): number => results.filter(({ state }) => state === expected).length;
  return {
    text: textOption(context, 'reporter') === 'junit' ? junit(results) : tap(results),
    problems: wrong.map(
      ({ name, file, complaint, state }): Problem => ({
        code: state === 'error' ? 'permission-test-error' : 'permission-test',
        message: `${name}: ${complaint ?? ''}`,
        file,
      }),
    ),
    exit: wrong.length > 0 ? EXIT.failed : EXIT.done,
    data: { tests: results.length, failed: count('failed'), errors: count('error'), skipped: count('skipped') },
  };
}

type Send = (headers: Readonly<Record<string, string>>, query: string, variables: Json) => Promise<JsonObject>;

/** Runs setup, tests and teardown; teardown always runs. @throws ProjectFailure if the service cannot be reached */
async function runSuite(context: CommandContext, suite: Suite, send: Send): Promise<readonly TestResult[]> {
  const { file, setup, teardown, cases } = suite;
  const results: TestResult[] = [];
  const timed = async (name: string, run: () => Promise<string | undefined>): Promise<TestResult> => {
    const start = performance.now();
    const ms = (): number => Math.round(performance.now() - start);
    try {
      const complaint = await run();
      return complaint === undefined ? { file, name, ms: ms(), state: 'passed' } : { file, name, ms: ms(), state: 'failed', complaint };
    } catch (thrown) {
      if (!(thrown instanceof ProjectFailure) || thrown.exit === EXIT.unreachable) throw thrown;
      return { file, name, ms: ms(), state: 'error', complaint: thrown.problems.map(({ message }) => message).join('; ') };
    }
  };
  /** Runs SQL, and adds a result if it fails. @returns false if it failed */
  const runHook = async (name: string, sql: string | undefined): Promise<boolean> => {
    if (sql === undefined) return true;
    const result = await timed(name, async () => void (await runSql(context, suite.source, sql)));
    if (result.state !== 'passed') results.push(result);
    return result.state === 'passed';
  };
  try {
    const isSetUp = await runHook('setup', setup);
    for (const { name, json } of cases)
      results.push(
        isSetUp
          ? await timed(name, () => runCase(json, file, send))
          : { file, name, ms: 0, state: 'skipped', complaint: 'the setup failed' },
      );
  } finally {
    await runHook('teardown', teardown);
  }
  return results;
}

/** @throws ProjectFailure */
async function runSql(context: CommandContext, source: string, sql: string): Promise<void> {
  const server = await context.server();
  const found = (await serverSources(server, await context.kinds())).find(({ name }) => name === source);
  if (found === undefined) throw failure('no-source', `the service has no source "${source}"`);
  await server.sql(found, sql, { check_metadata_consistency: false });
}

function tap(results: readonly TestResult[]): string {
  const lines = results.map(({ name, state, complaint }, i) => {
    const skipped = state === 'skipped' ? ` # SKIP ${complaint ?? ''}` : '';
    return `${state === 'passed' || state === 'skipped' ? 'ok' : 'not ok'} ${i + 1} - ${name}${skipped}`;
  });
  return [`1..${results.length}`, ...lines].join('\n');
}

const JUNIT_ELEMENTS = { failed: 'failure', error: 'error', skipped: 'skipped' } as const;

function junit(results: readonly TestResult[]): string {
  const seconds = (ms: number): string => (ms / 1000).toFixed(3);
  const totals = (own: readonly TestResult[]): string => {
    const count = (expected: TestResult['state']): number => own.filter(({ state }) => state === expected).length;
    const time = seconds(own.reduce((sum, { ms }) => sum + ms, 0));
    return `tests="${own.length}" failures="${count('failed')}" errors="${count('error')}" skipped="${count('skipped')}" time="${time}"`;
  };
  const suites = [...new Set(results.map(({ file }) => file))].map((file) => {
    const own = results.filter((result) => result.file === file);
    const cases = own.map(({ name, state, complaint = '', ms }) => {
      const head = `    <testcase classname="${escaped(file)}" name="${escaped(name)}" time="${seconds(ms)}"`;
      if (state === 'passed') return `${head}/>`;
      return `${head}>\n      <${JUNIT_ELEMENTS[state]} message="${escaped(complaint)}"/>\n    </testcase>`;
    });
    return `  <testsuite name="${escaped(file)}" ${totals(own)}>\n${cases.join('\n')}\n  </testsuite>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${totals(results)}>\n${suites.join('\n')}\n</testsuites>`;
}

/** Escapes text for an XML attribute, without characters that XML does not allow. */
function escaped(text: string): string {
  const named: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\n': '&#10;' };
  return text.replace(/[^\P{Cc}\t\n\r]/gu, '').replace(/[&<>"\n]/g, (character) => named[character] as string);
}

function listYaml(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => /\.ya?ml$/.test(name))
      .sort()
      .map((name) => join(folder, name));
  } catch {
    return [];
  }
}

const CASE_KEYS = ['name', 'as', 'query', 'variables', 'expect'];
const SUITE_KEYS = ['source', 'setup', 'teardown', 'tests'];

/** @throws ProjectFailure */
function suiteOf(path: string, root: string): Suite {
  const files = projectFiles(root);
  const reader = new MetadataReader(files);
  const read = reader.read(path);
  if (reader.problems.length > 0) throw new ProjectFailure(reader.problems);
  const file = files.show(path);
  if (read === undefined) throw failure('missing-file', 'the file does not exist', { file });
  const isSuite = isJsonObject(read) && read['tests'] !== undefined;
  if (isSuite) rejectUnknownKeys(read, SUITE_KEYS, 'a test file', file);
  const tests = isSuite ? read['tests'] : read;
  const text = (key: string): string | undefined => {
    const value = isSuite ? read[key] : undefined;
    if (value === undefined || typeof value === 'string') return value;
    throw failure('shape', `"${key}" must be a string`, { file });
  };
  const cases = (isJsonArray(tests) ? tests : [tests as Json]).map((json, i) => {
    if (!isJsonObject(json)) throw failure('shape', 'a test must be an object', { file });
    rejectUnknownKeys(json, CASE_KEYS, 'a test', file);
    return { name: typeof json['name'] === 'string' ? json['name'] : `${file}#${i + 1}`, json };
  });
  return { file, source: text('source') ?? 'default', setup: text('setup'), teardown: text('teardown'), cases };
}

function rejectUnknownKeys(object: JsonObject, known: readonly string[], what: string, file: string): void {
  const unknown = Object.keys(object).find((key) => !known.includes(key));
  if (unknown !== undefined) throw failure('shape', `${what} has no key "${unknown}": expecting ${known.join(', ')}`, { file });
}

/** @returns the reason of a failure, or `undefined` */
async function runCase(json: JsonObject, file: string, send: Send): Promise<string | undefined> {
  const { as, query, variables, expect } = json;
  if (!isJsonObject(as) || typeof as['role'] !== 'string' || typeof query !== 'string' || !isJsonObject(expect))
    throw failure('shape', 'a test needs as: {role, session}, query and expect', { file });
  const headers: Record<string, string> = { 'x-svc-role': as['role'] };
  if (isJsonObject(as['session']))
    for (const [name, value] of Object.entries(as['session'])) headers[/^x-svc-/i.test(name) ? name : `x-svc-${name}`] = String(value);
  const answer = await send(headers, query, variables ?? {});
  const errors = isJsonArray(answer['errors']) ? answer['errors'].filter(isJsonObject) : [];
  for (const [key, expected] of Object.entries(expect)) {
    switch (key) {
      case 'data':
        if (!sameMeaning(answer['data'] ?? null, expected)) return `expected ${printJson(expected)}, got ${printJson(answer)}`;
        break;
      case 'error': {
        const codes = errors.map((error) => (isJsonObject(error['extensions']) ? error['extensions']['code'] : ''));
        if (!codes.includes(expected as string)) return `expected the error ${printJson(expected)}, got ${printJson(answer)}`;
        break;
      }
      case 'denied':
        if (errors.length > 0 !== (expected === true))
          return `expected ${expected === true ? 'an error' : 'no error'}, got ${printJson(answer)}`;
        break;
      case 'rows': {
        const counts = isJsonObject(answer['data'])
          ? Object.values(answer['data']).map((list) => (isJsonArray(list) ? list.length : list === null ? 0 : 1))
          : [];
        if (counts.reduce((sum, each) => sum + each, 0) !== expected)
          return `expected ${printJson(expected)} rows, got ${printJson(answer)}`;
        break;
      }
      case 'ids': {
        const lists = isJsonObject(answer['data']) ? Object.values(answer['data']) : [];
        const ids = lists
          .flatMap((list) => (isJsonArray(list) ? list : [list]))
          .flatMap((row) => (isJsonObject(row) ? [row['id'] ?? null] : []));
        if (!sameMeaning(ids, expected, 'ids')) return `expected the ids ${printJson(expected)}, got ${printJson(answer)}`;
        break;
      }
      default:
        throw failure('shape', `expect has no key "${key}": expecting data, error, denied, rows, ids`, { file });
    }
  }
  return undefined;
}
