/** Reports of `svc permissions test`: TAP, JUnit XML, and a message for each test that did not pass. */
import { type FilePlace, printProblem, type Problem } from '../../project/failure.ts';
import { printable, printableLine } from '../printable.ts';

export interface TestResult {
  readonly name: string;
  /** `undefined` for setup and teardown. */
  readonly role?: string;
  readonly file: string;
  readonly place: FilePlace;
  readonly ms: number;
  /** `error`: the request could not be sent, or setup or teardown failed. `skipped`: setup failed, or the command was interrupted. */
  readonly state: 'passed' | 'failed' | 'error' | 'skipped';
  /** Reason, unless the test passed: one line, then details in further lines. */
  readonly complaint?: string;
}

/** Returns the problem of a test that failed: name, role and reason in the first line, then details. */
export function problemOf({ name, role, place, state, complaint = '' }: TestResult): Problem {
  const of = role === undefined ? '' : ` (role ${role})`;
  return {
    code: state === 'error' ? 'permission-test-error' : 'permission-test',
    message: `${printableLine(`${name}${of}`)}: ${printable(complaint).replaceAll('\n', '\n  ')}`,
    ...place,
  };
}

export function isWrong({ state }: TestResult): boolean {
  return state === 'failed' || state === 'error';
}

export function countOf(results: readonly TestResult[], expected: TestResult['state']): number {
  return results.filter(({ state }) => state === expected).length;
}

/** @param end reason why the tests were not run to their end */
export function tap(results: readonly TestResult[], end?: string): string {
  const lines = results.map(({ name, state, complaint }, i) => {
    const skipped = state === 'skipped' ? ` # SKIP ${complaint ?? ''}` : '';
    return `${state === 'passed' || state === 'skipped' ? 'ok' : 'not ok'} ${i + 1} - ${tapText(name)}${skipped}`;
  });
  return [`1..${results.length}`, ...lines, ...(end === undefined ? [] : [`Bail out! ${end}`])].join('\n');
}

/** Returns a name as one line without directives, which begin with `#`. */
function tapText(name: string): string {
  return printableLine(name).replace(/[\\#]/g, (character) => `\\${character}`);
}

const JUNIT_ELEMENTS = { failed: 'failure', error: 'error', skipped: 'skipped' } as const;

export function junit(results: readonly TestResult[]): string {
  const seconds = (ms: number): string => (ms / 1000).toFixed(3);
  const totals = (own: readonly TestResult[]): string => {
    const count = (expected: TestResult['state']): number => countOf(own, expected);
    const time = seconds(own.reduce((sum, { ms }) => sum + ms, 0));
    return `tests="${own.length}" failures="${count('failed')}" errors="${count('error')}" skipped="${count('skipped')}" time="${time}"`;
  };
  const suites = [...new Set(results.map(({ file }) => file))].map((file) => {
    const own = results.filter((result) => result.file === file);
    const cases = own.map((result) => {
      const { name, state, place, ms } = result;
      const line = place.line === undefined ? '' : ` line="${place.line}"`;
      const head = `    <testcase classname="${escaped(file)}" name="${escaped(printableLine(name))}" file="${escaped(file)}"${line} time="${seconds(ms)}"`;
      return state === 'passed' ? `${head}/>` : `${head}>\n      ${junitReason(result, JUNIT_ELEMENTS[state])}\n    </testcase>`;
    });
    return `  <testsuite name="${escaped(file)}" ${totals(own)}>\n${cases.join('\n')}\n  </testsuite>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${totals(results)}>\n${suites.join('\n')}\n</testsuites>`;
}

/** Returns an element with the first line of the message as its attribute, and the whole message with its place as its text. */
function junitReason(result: TestResult, element: string): string {
  const problem = problemOf(result);
  const [first = ''] = problem.message.split('\n');
  const text = escaped(printProblem(problem)).replaceAll('&#10;', '\n');
  return `<${element} message="${escaped(first)}">${text}</${element}>`;
}

/** Escapes text for XML. XML has no form for some characters. */
function escaped(text: string): string {
  const named: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\n': '&#10;', '\r': '&#13;' };
  return printable(text)
    .replace(/[\ufffe\uffff]/g, '\ufffd')
    .replace(/[&<>"\n\r]/g, (character) => named[character] as string);
}
