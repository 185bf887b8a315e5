/** Runs one transaction of a mutation. */
import type { Session } from '../auth/session.ts';
import type { MutationOptions, MutationStatement, Source, Writes } from '../backend/backend.ts';
import { invariant } from '../errors/svc-error.ts';
import { bindAll, firstFault, type JoinValues, rowsOfRequest } from '../plan/bind.ts';
import { type BoundStatement, type MutationStep, placed } from '../plan/plan.ts';
import { type Json, printJson } from '../util/json.ts';
import { storedSpan, traceContextOf } from '../webhooks/trace-context.ts';
import type { RunContext } from './run-context.ts';
import { type TracedStatement, tracedStatement } from './traced.ts';
import type { JsonRow } from '../backend/connection.ts';

/** Triggers and functions read who is asking from here. */
export const USER_SETTING = 'svc.user';
/** Triggers read from here of which request a change is part. */
export const TRACE_SETTING = 'svc.tracecontext';
const NO_CELLS: JsonRow = [];

const userTexts = new WeakMap<Session, string>();

/** The session variables as JSON, printed once per session. */
export function userText(session: Session): string {
  let text = userTexts.get(session);
  if (text === undefined) {
    text = printJson(Object.fromEntries<Json>(session.variables));
    userTexts.set(session, text);
  }
  return text;
}

/** Only for sources that keep it with the events that they capture. */
function traceSettings(source: string, { sources, headers, how }: RunContext): readonly (readonly [name: string, value: string])[] {
  if ((sources?.get(source)?.eventTriggers.size ?? 0) === 0) return [];
  const trace = how.trace === undefined ? traceContextOf(headers ?? {}) : how.trace.isSampled ? storedSpan(how.trace) : null;
  return trace === null ? [] : [[TRACE_SETTING, printJson(trace)]];
}

function tracedOf({ source, collection, verb, statements }: MutationStep): TracedStatement {
  return { source, verb, collection, statements: statements.length, text: statements.map(({ statement }) => statement.text).join(';\n') };
}

/** Settings, and the same under the names that SQL from another service reads. */
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
 * @param reusable whether the statements may come again
 * @returns the cells of all statements in one row; a statement without a row gives as many nulls as it has columns
 * @throws SvcError and then nothing has been changed
 */
export async function runMutation(
  step: MutationStep,
  source: Source,
  reusable: boolean,
  context: RunContext,
  joining?: JoinValues,
): Promise<JsonRow> {
  invariant(canWrite(source), 'a source without writes has no mutations');
  const { session, how } = context;
  const { apart } = step;
  let { statements } = step;
  const { signal, deadline } = how;
  const settings = underAllNames(session, [[USER_SETTING, userText(session)], ...traceSettings(step.source, context)]);
  const options: MutationOptions = {
    signal,
    deadline,
    turn: session.role,
    settings,
    tags: context.tags?.(step.source),
    intake: context.intake,
  };
  const bind = (): readonly MutationStatement[] => bound(statements, reusable, context, joining);
  const first = bind();
  context.onAsked?.();
  let rows: readonly JsonRow[];
  const run = (): Promise<readonly JsonRow[]> =>
    apart === undefined
      ? source.runMutation(first, options)
      : source.runMutation(first, {
          ...options,
          apart: () => {
            statements = apart();
            context.addStatements?.(statements.length);
            return bind();
          },
        });
  try {
    rows = await (how.trace === undefined ? run() : tracedStatement(how, source, () => tracedOf(step), run));
  } finally {
    // Also when it failed: the answer to a commit may be what was lost.
    context.onWritten?.(step.source);
  }
  if (statements.length === 1) return rows[0] ?? NO_CELLS;
  return statements.flatMap(({ statement }, i) => {
    const row = rows[i] ?? NO_CELLS;
    return Array.from({ length: statement.columns }, (_, column) => row[column] ?? null);
  });
}

/** With the values of the request. @throws SvcError of the first value that does not fit */
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
      values: placed(path, () => bindAll(binders, variables, session, joining)),
      path,
      failures,
      ...(rows === undefined ? {} : { rows: () => rowsOfRequest(rows, variables, session) }),
      ...(flow === undefined ? {} : { flow }),
      once: repeated !== null && !repeated.has(statement.text),
    }));
  } catch (fault) {
    const binders = statements.flatMap((statement) => statement.binders);
    throw firstFault(fault, binders, variables, session, joining);
  }
}

/** Texts that come more than once in the same transaction, such as those of nested rows. */
function repeatedTexts(statements: readonly BoundStatement[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const { statement } of statements) {
    if (seen.has(statement.text)) repeated.add(statement.text);
    else seen.add(statement.text);
  }
  return repeated;
}
