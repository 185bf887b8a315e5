/** `svc permissions test`: runs queries as roles, and compares the responses with expectations. */
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { serverSources } from '../../migrations/sources.ts';
import { EXIT, failure, type FilePlace, ProjectFailure } from '../../project/failure.ts';
import { differenceOf } from '../../project/permissions/expectations.ts';
import { type Hook, type PermissionTest, readSuites, type TestSuite } from '../../project/permissions/test-files.ts';
import type { Project } from '../../project/project.ts';
import { counted } from '../../util/counted.ts';
import { isJsonObject, type JsonObject } from '../../util/json.ts';
import { type CommandContext, type CommandOutcome, flagOption, textOption } from '../context.ts';
import { confirmTests } from './confirm-tests.ts';
import { countOf, isWrong, junit, problemOf, tap, type TestResult } from './test-reports.ts';
import { watchTests } from './watch-tests.ts';

/** `svc permissions test` */
export async function runPermissionsTest(context: CommandContext): Promise<CommandOutcome> {
  const isWatching = flagOption(context, 'watch');
  if (isWatching && (context.json || textOption(context, 'reporter') === 'junit'))
    throw failure('usage', '--watch runs the tests many times: it excludes --json and --reporter junit', {}, EXIT.usage);
  await confirmTests(context, async () => filteredSuites(context, await suitesOf(context)).suites);
  if (!isWatching) return runTests(context, () => false);
  return watchTests(context, await testPaths(context), (isStopped) => runTests(context, isStopped));
}

/** The files that the arguments name, or the folder of tests. */
async function testPaths(context: CommandContext): Promise<readonly string[]> {
  const named = context.args.map((file) => resolve(context.cwd, file));
  return named.length > 0 ? named : [testFolder(await context.project())];
}

const testFolder = ({ root }: Project): string => join(root, 'tests', 'permissions');

/** @param isStopped true once no further test should be started */
async function runTests(context: CommandContext, isStopped: () => boolean): Promise<CommandOutcome> {
  const project = await context.project();
  const { suites, filtered } = filteredSuites(context, await suitesOf(context));
  if (filtered > 0) context.progress(`${counted(filtered, 'test')} skipped by --filter`);
  const server = await context.server();
  const send: Send = async ({ headers, query, variables }) => {
    const { body } = await server.send(project.settings.paths.graphql, { body: { query, variables }, headers });
    return isJsonObject(body) ? body : { data: body };
  };
  const results: TestResult[] = [];
  for (const suite of suites) if (!isStopped()) results.push(...(await runSuite(context, suite, send, isStopped)));
  const wrong = results.filter(isWrong);
  return {
    text: textOption(context, 'reporter') === 'junit' ? junit(results) : tap(results),
    problems: wrong.map(problemOf),
    exit: wrong.length > 0 ? EXIT.failed : EXIT.done,
    data: {
      tests: results.length,
      failed: countOf(results, 'failed'),
      errors: countOf(results, 'error'),
      skipped: countOf(results, 'skipped'),
      filtered,
    },
  };
}

/** Reads all files before the first test runs. @throws ProjectFailure */
async function suitesOf(context: CommandContext): Promise<readonly TestSuite[]> {
  const project = await context.project();
  const paths = context.args.length > 0 ? await testPaths(context) : listYaml(testFolder(project));
  if (paths.length === 0) throw failure('missing-file', `there are no tests in ${project.files.show(testFolder(project))}`);
  return readSuites(paths, project.files);
}

/** Applies `--filter`. A suite without a matching test does not run. @throws ProjectFailure if no test matches */
function filteredSuites(
  context: CommandContext,
  suites: readonly TestSuite[],
): { readonly suites: readonly TestSuite[]; readonly filtered: number } {
  const filter = textOption(context, 'filter');
  if (filter === undefined) return { suites, filtered: 0 };
  const wanted = filter.toLowerCase();
  const all = suites.reduce((sum, { tests }) => sum + tests.length, 0);
  const matching = suites
    .map((suite) => ({ ...suite, tests: suite.tests.filter(({ name }) => name.toLowerCase().includes(wanted)) }))
    .filter(({ tests }) => tests.length > 0);
  if (matching.length === 0)
    throw failure('no-match', `no name of a test contains "${filter}" (${counted(all, 'test')} in ${files(suites)})`, {}, EXIT.usage);
  return { suites: matching, filtered: all - matching.reduce((sum, { tests }) => sum + tests.length, 0) };
}

const files = (suites: readonly TestSuite[]): string => suites.map(({ file }) => file).join(', ');

type Send = (test: PermissionTest) => Promise<JsonObject>;

/** Runs setup, tests and teardown; teardown always runs. @throws ProjectFailure if the service cannot be reached */
async function runSuite(context: CommandContext, suite: TestSuite, send: Send, isStopped: () => boolean): Promise<readonly TestResult[]> {
  const { file, source, setup, teardown, tests } = suite;
  const results: TestResult[] = [];
  const timed = async (
    about: { readonly name: string; readonly role?: string; readonly place: FilePlace },
    run: () => Promise<string | undefined>,
  ): Promise<TestResult> => {
    const start = performance.now();
    const result = (state: TestResult['state'], complaint?: string, place = about.place): TestResult => ({
      ...about,
      place,
      file,
      ms: Math.round(performance.now() - start),
      state,
      ...(complaint === undefined ? {} : { complaint }),
    });
    try {
      const complaint = await run();
      return result(complaint === undefined ? 'passed' : 'failed', complaint);
    } catch (thrown) {
      if (!(thrown instanceof ProjectFailure) || thrown.exit === EXIT.unreachable) throw thrown;
      const [{ file: known, line, column } = {}] = thrown.problems;
      const place = known === undefined || line === undefined || column === undefined ? undefined : { file: known, line, column };
      return result('error', thrown.problems.map(({ message }) => message).join('; '), place);
    }
  };
  /** Runs SQL, and adds a result if it fails. @returns false if it failed */
  const runHook = async (hook: Hook | undefined): Promise<boolean> => {
    if (hook === undefined) return true;
    const { name, sql, place } = hook;
    const result = await timed({ name, place }, async () => void (await runSql(context, source, sql)));
    if (result.state !== 'passed') results.push(result);
    return result.state === 'passed';
  };
  try {
    const isSetUp = await runHook(setup);
    for (const test of tests) {
      if (isStopped()) break;
      const { name, role, place } = test;
      results.push(
        isSetUp
          ? await timed({ name, role, place }, async () => {
              if (test.flaw !== undefined) throw test.flaw;
              return differenceOf(test, await send(test));
            })
          : { name, role, place, file, ms: 0, state: 'skipped', complaint: 'the setup failed' },
      );
    }
  } finally {
    await runHook(teardown);
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
