/** `svc permissions test`: runs queries as roles, and compares the responses with expectations. */
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type ListedSource, serverSources } from '../../migrations/sources.ts';
import { EXIT, failure, ProjectFailure } from '../../project/failure.ts';
import { differenceOf } from '../../project/permissions/expectations.ts';
import { type Hook, type PermissionTest, readSuites, type TestSuite } from '../../project/permissions/test-files.ts';
import type { Project } from '../../project/project.ts';
import { cancelledBy, ServerError } from '../../project/server-client.ts';
import { counted } from '../../util/counted.ts';
import { isJsonObject, type JsonObject } from '../../util/json.ts';
import { type CommandContext, type CommandOutcome, flagOption, textOption } from '../context.ts';
import { confirmTests } from './confirm-tests.ts';
import { Interruption } from './interruption.ts';
import { countOf, isWrong, junit, problemOf, tap, type TestResult } from './test-reports.ts';
import { watchTests } from './watch-tests.ts';

/** `svc permissions test` */
export async function runPermissionsTest(context: CommandContext): Promise<CommandOutcome> {
  const isWatching = flagOption(context, 'watch');
  if (isWatching && (context.json || textOption(context, 'reporter') === 'junit'))
    throw failure('usage', '--watch runs the tests many times: it excludes --json and --reporter junit', {}, EXIT.usage);
  await confirmTests(context, async () => filteredSuites(context, await suitesOf(context)).suites);
  const interruption = new Interruption(context.progress);
  if (!isWatching) return runTests(context, interruption);
  const paths = await testPaths(context);
  return interruption.during(() => watchTests(context, paths, interruption, () => runTests(context, interruption)));
}

/** The files that the arguments name, or the folder of tests. */
async function testPaths(context: CommandContext): Promise<readonly string[]> {
  const named = context.args.map((file) => resolve(context.cwd, file));
  return named.length > 0 ? named : [testFolder(await context.project())];
}

const testFolder = ({ root }: Project): string => join(root, 'tests', 'permissions');

async function runTests(context: CommandContext, interruption: Interruption): Promise<CommandOutcome> {
  const { suites, filtered } = filteredSuites(context, await suitesOf(context));
  if (filtered > 0) context.progress(`${counted(filtered, 'test')} skipped by --filter`);
  const service = await serviceOf(context, suites, interruption);
  const results: TestResult[] = [];
  await interruption.during(async () => {
    for (const suite of suites) results.push(...(await interruption.runs(suite, () => runSuite(suite, service))));
  });
  const { reason, exit } = interruption;
  const wrong = results.filter(isWrong);
  const left = results.filter(({ complaint }) => complaint === reason).length;
  return {
    text: textOption(context, 'reporter') === 'junit' ? junit(results) : tap(results, reason),
    problems: [
      ...wrong.map(problemOf),
      ...(reason === undefined ? [] : [{ code: 'interrupted', message: `${reason}: ${counted(left, 'test')} did not run` }]),
    ],
    exit: exit ?? (wrong.length > 0 ? EXIT.failed : EXIT.done),
    data: {
      tests: results.length,
      failed: countOf(results, 'failed'),
      errors: countOf(results, 'error'),
      skipped: countOf(results, 'skipped'),
      filtered,
    },
  };
}

/** Service that the tests run against. */
interface TestedService {
  readonly sources: readonly ListedSource[];
  readonly interruption: Interruption;
  /** Runs SQL of a file. @throws ProjectFailure */
  sql(source: ListedSource, sql: string, signal: AbortSignal): Promise<void>;
  /** Returns the response to a test. @throws ProjectFailure */
  send(test: PermissionTest): Promise<JsonObject>;
}

async function serviceOf(context: CommandContext, suites: readonly TestSuite[], interruption: Interruption): Promise<TestedService> {
  const [{ settings }, server] = [await context.project(), cancelledBy(interruption.forTests, await context.server())];
  const hasSql = suites.some(({ setup, teardown }) => setup !== undefined || teardown !== undefined);
  return {
    sources: hasSql ? await serverSources(server, await context.kinds()) : [],
    interruption,
    sql: async (source, sql, signal) => void (await server.sql(source, sql, { check_metadata_consistency: false }, signal)),
    async send({ headers, query, variables }) {
      const { body } = await server.send(settings.paths.graphql, { body: { query, variables }, headers });
      return isJsonObject(body) ? body : { data: body };
    },
  };
}

/** Reads all files before the first test runs. @throws ProjectFailure */
async function suitesOf(context: CommandContext): Promise<readonly TestSuite[]> {
  const project = await context.project();
  const paths = context.args.length > 0 ? await testPaths(context) : listYaml(testFolder(project));
  if (paths.length === 0) throw failure('missing-file', `there are no tests in ${project.files.show(testFolder(project))}`);
  const suites = readSuites(paths, project.files);
  if (textOption(context, 'filter') === undefined && suites.every(({ tests }) => tests.length === 0))
    throw failure('no-tests', `there are no tests in ${files(suites)}`);
  return suites;
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

/** Subject of a result. */
type Subject = Pick<TestResult, 'name' | 'role' | 'place'>;

/**
 * Runs setup, tests and teardown. The teardown follows each setup that succeeded, even if the command is interrupted.
 * @throws ProjectFailure if the service cannot be reached
 */
async function runSuite(suite: TestSuite, service: TestedService): Promise<readonly TestResult[]> {
  const { file, setup, teardown, tests } = suite;
  const { interruption } = service;
  const results: TestResult[] = [];
  const skip = ({ name, role, place }: PermissionTest, complaint: string): TestResult => ({
    ...{ name, role, place, file, complaint },
    ms: 0,
    state: 'skipped',
  });
  /** Adds a result if the SQL fails. @returns false if it failed */
  const runHook = async (hook: Hook | undefined): Promise<boolean> => {
    if (hook === undefined) return true;
    const result = await timed(file, { name: hook.name, place: hook.place }, () => runSql(suite, hook, service));
    if (result.state !== 'passed') results.push(result);
    return result.state === 'passed';
  };
  if (interruption.reason !== undefined) return tests.map((test) => skip(test, interruption.reason as string));
  if (!(await runHook(setup))) return [...results, ...tests.map((test) => skip(test, 'the setup failed'))];
  try {
    for (const test of tests) {
      const { name, role, place } = test;
      const run = async (): Promise<string | undefined> => {
        if (test.flaw !== undefined) throw test.flaw;
        return differenceOf(test, await service.send(test));
      };
      results.push(interruption.reason === undefined ? await timed(file, { name, role, place }, run) : skip(test, interruption.reason));
    }
  } finally {
    await runHook(teardown);
  }
  return results;
}

/** Returns the result of a test or hook that returns a complaint or fails. @throws ProjectFailure if the service cannot be reached */
async function timed(file: string, subject: Subject, run: () => Promise<string | undefined>): Promise<TestResult> {
  const start = performance.now();
  const result = (state: TestResult['state'], complaint?: string, place = subject.place): TestResult => ({
    ...subject,
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
}

/** Runs a setup or teardown. @throws ProjectFailure with the reason of the database and what stays */
async function runSql(
  { source }: TestSuite,
  { name, sql }: Hook,
  { sources, interruption, ...service }: TestedService,
): Promise<undefined> {
  const found = sources.find((each) => each.name === source);
  try {
    if (found === undefined) throw failure('no-source', `the service has no source "${source}"`);
    await service.sql(found, sql, name === 'setup' ? interruption.forTests : interruption.forTeardown);
    return undefined;
  } catch (thrown) {
    if (!(thrown instanceof ProjectFailure) || thrown.exit === EXIT.unreachable) throw thrown;
    const reason = (thrown instanceof ServerError ? thrown.databaseError?.message : undefined) ?? thrown.message;
    throw failure(
      'sql',
      `${reason}\n${name === 'setup' ? afterSetup(thrown, sql, found) : 'What setup and tests of this file wrote may stay'}`,
    );
  }
}

/** Describes what a failed setup leaves. */
function afterSetup(thrown: ProjectFailure, sql: string, source: ListedSource | undefined): string {
  const consequence = 'neither the tests nor the teardown of this file run';
  if (!(thrown instanceof ServerError)) return `So ${consequence}`;
  const control = source?.backend?.sqlText.transactionControl;
  return control === undefined || control(sql) !== undefined
    ? `What the setup committed before stays, and ${consequence}`
    : `The setup was rolled back, so ${consequence}`;
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
