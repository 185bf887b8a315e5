/** Runs one transaction of a mutation. */
import type { Session } from '../auth/session.ts';
import type { MutationOptions, MutationStatement, Source, Writes } from '../backend/backend.ts';
import { invariant } from '../errors/svc-error.ts';
import { bindAll, firstErrorInRequest, type JoinValues, rowsOfRequest } from '../plan/bind.ts';
import { type BoundStatement, type MutationStep, withDefaultPath } from '../plan/plan.ts';
import { type Json, printJson } from '../util/json.ts';
import { storedSpan, traceContextOf } from '../webhooks/trace-context.ts';
import type { RunContext } from './run-context.ts';
import { type TracedStatement, tracedStatement } from './traced.ts';
import type { JsonRow } from '../backend/connection.ts';

/** Setting with the session variables, for triggers and functions. */
export const USER_SETTING = 'svc.user';
/** Setting with the trace context of the request, for triggers. */
export const TRACE_SETTING = 'svc.tracecontext';
const NO_CELLS: JsonRow = [];

const userTexts = new WeakMap<Session, string>();

/** Returns the session variables as JSON, printed once per session. */
export function userText(session: Session): string {
  let text = userTexts.get(session);
  if (text === undefined) {
    text = printJson(Object.fromEntries<Json>(session.variables));
    userTexts.set(session, text);
  }
  return text;
}

/** Returns the trace context for sources that store it with their events. */
function traceSettings(source: string, { sources, headers, options: { trace } }: RunContext): readonly (readonly [string, string])[] {
  if ((sources?.get(source)?.eventTriggers.size ?? 0) === 0) return [];
  const stored = trace === undefined ? traceContextOf(headers ?? {}) : trace.isSampled ? storedSpan(trace) : null;
  return stored === null ? [] : [[TRACE_SETTING, printJson(stored)]];
}

function tracedOf({ source, collection, verb, statements }: MutationStep): TracedStatement {
  return { source, verb, collection, statements: statements.length, text: statements.map(({ statement }) => statement.text).join(';\n') };
}

/** Repeats the settings under the prefixes that SQL from another service reads. */
function underAllNames(
  { settingPrefixes = [] }: Session,
  settings: readonly (readonly [name: string, value: string])[],
): readonly (readonly [name: string, value: string])[] {
  if (settingPrefixes.length === 0) return settings;
  const others = settingPrefixes.flatMap((prefix) =>
    settings.map(([name, value]) => [name.replace(/^svc\./, `${prefix}.`), value] as const),
  );
  return [...settings, ...others];
}

function canWrite(source: Source): source is Source & Writes {
  return source.runMutation !== undefined;
}

/**
 * @param reusable the statements may be prepared for reuse
 * @returns the cells of all statements in one row; a statement without a row contributes a null per column
 * @throws SvcError; then nothing has been changed
 */
export async function runMutation(
  step: MutationStep,
  source: Source,
  reusable: boolean,
  context: RunContext,
  joining?: JoinValues,
): Promise<JsonRow> {
  invariant(canWrite(source), 'a source without writes has no mutations');
  const { session, options } = context;
  const { fallback } = step;
  let { statements } = step;
  const { signal, deadline, trace } = options;
  const settings = underAllNames(session, [[USER_SETTING, userText(session)], ...traceSettings(step.source, context)]);
  const mutationOptions: MutationOptions = {
    signal,
    deadline,
    role: session.role,
    settings,
    tags: context.tags?.(step.source),
    resultBudget: context.resultBudget,
  };
  const bind = (): readonly MutationStatement[] => bound(statements, reusable, context, joining);
  const first = bind();
  context.onExternalRequest?.();
  let rows: readonly JsonRow[];
  const run = (): Promise<readonly JsonRow[]> =>
    fallback === undefined
      ? source.runMutation(first, mutationOptions)
      : source.runMutation(first, {
          ...mutationOptions,
          fallback: () => {
            statements = fallback();
            context.addStatements?.(statements.length);
            return bind();
          },
        });
  try {
    rows = await (trace === undefined ? run() : tracedStatement(options, source, () => tracedOf(step), run));
  } finally {
    // Also after an error: the response to a commit may have been lost.
    context.onWritten?.(step.source);
  }
  if (statements.length === 1) return rows[0] ?? NO_CELLS;
  return statements.flatMap(({ statement }, i) => {
    const row = rows[i] ?? NO_CELLS;
    return Array.from({ length: statement.columns }, (_, column) => row[column] ?? null);
  });
}

/** Binds the values of the request. @throws SvcError of the first invalid value */
function bound(
  statements: readonly BoundStatement[],
  reusable: boolean,
  { variables, session }: RunContext,
  joining: JoinValues | undefined,
): readonly MutationStatement[] {
  const repeated = reusable ? null : repeatedTexts(statements);
  try {
    return statements.map(({ statement, binders, path, failures, rows, flow }) => ({
      statement,
      values: withDefaultPath(path, () => bindAll(binders, variables, session, joining)),
      path,
      failures,
      ...(rows === undefined ? {} : { rows: () => rowsOfRequest(rows, variables, session) }),
      ...(flow === undefined ? {} : { flow }),
      once: repeated !== null && !repeated.has(statement.text),
    }));
  } catch (fault) {
    const binders = statements.flatMap((statement) => statement.binders);
    throw firstErrorInRequest(fault, binders, variables, session, joining);
  }
}

/** Returns the texts that occur more than once in the transaction, such as those of nested rows. */
function repeatedTexts(statements: readonly BoundStatement[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const { statement } of statements) {
    if (seen.has(statement.text)) repeated.add(statement.text);
    else seen.add(statement.text);
  }
  return repeated;
}
