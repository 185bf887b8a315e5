/** Files of permission tests. */
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import type { Files } from '../directory/files.ts';
import { MetadataReader, placeOfPath } from '../directory/read-metadata.ts';
import { failure, type FilePlace, type Problem, ProjectFailure } from '../failure.ts';
import { type TestHeaders, testHeaders } from './test-headers.ts';

export interface PermissionTest extends TestHeaders {
  readonly name: string;
  readonly place: FilePlace;
  readonly role: string;
  readonly query: string;
  readonly variables: JsonObject;
  readonly expect: JsonObject;
}

/** SQL that runs before or after the tests of a file. */
export interface Hook {
  readonly name: 'setup' | 'teardown';
  readonly sql: string;
  readonly place: FilePlace;
}

/** Tests of a file, and SQL that runs before and after them. */
export interface TestSuite {
  readonly file: string;
  readonly source: string;
  readonly setup: Hook | undefined;
  readonly teardown: Hook | undefined;
  readonly tests: readonly PermissionTest[];
}

/** Returns the place of a member of an object, or of the object. */
type PlaceIn = (value: JsonObject, key?: string) => FilePlace;

const TEST_KEYS = ['name', 'as', 'query', 'variables', 'expect'];
const SUITE_KEYS = ['source', 'setup', 'teardown', 'tests'];
const AS_KEYS = ['role', 'session', 'backend_only'];
const EXPECT_KEYS = ['data', 'error', 'denied', 'rows', 'ids'];

/** Reads the files. @throws ProjectFailure with the problems of all files */
export function readSuites(paths: readonly string[], files: Files): readonly TestSuite[] {
  const problems: Problem[] = [];
  const suites = paths.flatMap((path) => {
    try {
      return [readSuite(path, files)];
    } catch (thrown) {
      if (!(thrown instanceof ProjectFailure)) throw thrown;
      problems.push(...thrown.problems);
      return [];
    }
  });
  if (problems.length > 0) throw new ProjectFailure(problems);
  return suites;
}

function readSuite(path: string, files: Files): TestSuite {
  const reader = new MetadataReader(files);
  const read = reader.read(path);
  if (reader.problems.length > 0) throw new ProjectFailure(reader.problems);
  const file = files.show(path);
  if (read === undefined) throw failure('missing-file', 'the file does not exist', { file });
  const placeIn: PlaceIn = (value, key) => placeOfPath(reader, { value }, key === undefined ? ['value'] : ['value', key]) ?? { file };
  const isSuite = isJsonObject(read) && read['tests'] !== undefined;
  if (isSuite) rejectUnknownKeys(read, SUITE_KEYS, 'a test file', { file });
  const tests = isSuite ? read['tests'] : read;
  const text = (key: string): string | undefined => {
    const value = isSuite ? read[key] : undefined;
    if (value === undefined || typeof value === 'string') return value;
    throw failure('shape', `"${key}" must be a string`, { file });
  };
  const hook = (name: Hook['name']): Hook | undefined => {
    const sql = text(name);
    return sql === undefined ? undefined : { name, sql, place: placeIn(read as JsonObject, name) };
  };
  return {
    file,
    source: text('source') ?? 'default',
    setup: hook('setup'),
    teardown: hook('teardown'),
    tests: (isJsonArray(tests) ? tests : [tests ?? null]).map((json, i) => readTest(json, `${file}#${i + 1}`, { file }, placeIn)),
  };
}

/** @param file place of a test that is no object */
function readTest(json: Json, byDefault: string, file: FilePlace, placeIn: PlaceIn): PermissionTest {
  if (!isJsonObject(json)) throw failure('shape', 'a test must be an object', file);
  const place = placeIn(json);
  rejectUnknownKeys(json, TEST_KEYS, 'a test', place);
  const { name = byDefault, as, query, variables = {}, expect } = json;
  if (!isJsonObject(as) || typeof as['role'] !== 'string' || typeof query !== 'string' || !isJsonObject(expect))
    throw failure('shape', 'a test needs as: {role, session}, query and expect', place);
  rejectUnknownKeys(as, AS_KEYS, 'as', placeIn(as));
  const { role, session = {}, backend_only: isBackendOnly = false } = as;
  // The service takes a request without a role as one of admin.
  if (role === '') throw failure('shape', '"role" must not be empty', placeIn(as, 'role'));
  if (!isJsonObject(session) || !isJsonObject(variables)) throw failure('shape', '"session" and "variables" must be objects', place);
  if (typeof isBackendOnly !== 'boolean') throw failure('shape', '"backend_only" must be true or false', placeIn(as, 'backend_only'));
  rejectUnknownKeys(expect, EXPECT_KEYS, 'expect', placeIn(expect));
  if (Object.keys(expect).length === 0) throw failure('shape', `expect needs at least one of ${EXPECT_KEYS.join(', ')}`, placeIn(expect));
  const sent = testHeaders(role, session, isBackendOnly, (part, key) => placeIn(part === 'as' ? as : session, key));
  return { name: typeof name === 'string' ? name : byDefault, place, role, ...sent, query, variables, expect };
}

function rejectUnknownKeys(object: JsonObject, known: readonly string[], what: string, place: FilePlace): void {
  const unknown = Object.keys(object).find((key) => !known.includes(key));
  if (unknown !== undefined) throw failure('shape', `${what} has no key "${unknown}": expecting ${known.join(', ')}`, place);
}
