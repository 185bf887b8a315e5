import { useEffect, useRef, useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { Failure, failureOf, isAbort } from '../../api/failure.ts';
import { runSql } from '../../api/metadata.ts';
import { refreshOverview } from '../../api/overview.ts';
import { isReadOnly, label } from '../../api/settings.ts';
import { place, setQuery } from '../../browser/place.ts';
import { addToSqlHistory } from '../../browser/sql-history.ts';
import { type JsonObject, parseJsonText } from '../../model/json.ts';
import type { SourceOverview } from '../../model/overview.ts';
import { type PlanNode, planTree } from '../../model/plan-tree.ts';
import { isOneStatement, mayDefine, type SqlLexis, statementAt, type StatementRange } from '../../model/sql-statements.ts';
import { labelOf } from '../../model/steps.ts';
import type { CodeMark } from '../../parts/code-editor-types.ts';
import type { EditorHandle } from '../../parts/code-editor.tsx';
import { showToast } from '../../parts/toast.tsx';
import { markOf, readResult, type SqlResult, tablesOf } from './result.ts';
import { openText, type SqlTab, sqlTabs } from './tabs.ts';

const ROW_LIMIT = 1000;

/** Opens SQL that another page passed in the address. */
function useSqlInAddress(): void {
  const { query } = place.value;
  useEffect(() => {
    const sql = query.get('sql');
    if (sql === null) return;
    openText(sql);
    setQuery({ sql: undefined });
  }, [query]);
}

/** Options of a run. */
function useOptions() {
  const [readOnly, setReadOnly] = useState(isReadOnly || label !== '');
  const [cascade, setCascade] = useState(false);
  const [checksMetadata, setChecksMetadata] = useState(true);
  return { readOnly, setReadOnly, cascade, setCascade, checksMetadata, setChecksMetadata };
}

/** SQL that was sent, with the tab that it is from, and its place in the text of that tab. */
interface SentSql {
  readonly tab: SqlTab;
  readonly source: SourceOverview;
  readonly sql: string;
  readonly range: StatementRange;
}

/** A failure, as long as the tab has the text that it had when it arrived. */
interface ShownFailure {
  readonly failure: Failure;
  readonly marks: readonly CodeMark[];
  readonly tab: SqlTab;
  /** The run that failed; undefined if it cannot be repeated with cascade. */
  readonly run?: SentSql;
}

/** Results and failures of a source that a tab shows. */
interface Shown {
  readonly result?: SqlResult | undefined;
  readonly plan?: PlanNode | undefined;
  readonly failed?: ShownFailure | undefined;
  /** Tables that the last statement created, until they are tracked. */
  readonly newTables: readonly JsonObject[];
  readonly hasTracked: boolean;
}

const NOTHING: Shown = { newTables: [], hasTracked: false };
const NO_MARKS: readonly CodeMark[] = [];

type Show = (change: Partial<Shown>) => void;

/**
 * State of the results of a source, by tab. Another source starts with nothing, and late changes for the one before it are dropped, as
 * those for closed tabs are.
 * @returns what the open tab shows, and a function that changes what a tab shows
 */
function useShown(source: string | undefined): readonly [Shown, (tab: number) => Show] {
  const current = useRef(source);
  current.current = source;
  const [state, setState] = useState<{ readonly source: string | undefined; readonly byTab: ReadonlyMap<number, Shown> }>({
    source,
    byTab: new Map(),
  });
  const showIn =
    (tab: number): Show =>
    (change) => {
      if (current.current !== source) return;
      setState((before) => {
        const open = new Set(sqlTabs.all.peek().map(({ id }) => id));
        const byTab = new Map(before.source === source ? [...before.byTab].filter(([id]) => open.has(id)) : []);
        if (open.has(tab)) byTab.set(tab, { ...(byTab.get(tab) ?? NOTHING), ...change });
        return { source, byTab };
      });
    };
  const shown = state.source === source ? state.byTab.get(sqlTabs.chosen.value.id) : undefined;
  return [shown ?? NOTHING, showIn];
}

/** The selection; without one, all of the text or the statement at the cursor. */
function rangeToRun(editor: EditorHandle | null, all: string, whole: boolean, lexis: SqlLexis): StatementRange {
  const { from, to } = editor?.selection() ?? { from: 0, to: 0 };
  if (from !== to) return { from, to };
  return (whole ? undefined : statementAt(all, from, lexis)) ?? { from: 0, to: all.length };
}

/** Runs tasks for SQL, one at a time. A task ends with the page, and with the choice of another source. */
function useAttempts(source: string | undefined, showIn: (tab: number) => Show) {
  const [runningSince, setRunningSince] = useState<number>();
  const running = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => running.current?.abort(), [source]);
  /** Runs a task for SQL. It can be stopped; its error is shown, with its place in the text. @param canCascade whether a failure offers it */
  const attempt = async (
    sent: SentSql | undefined,
    task: (sent: SentSql, signal: AbortSignal, show: Show) => Promise<void>,
    { prefix = 0, canCascade = false }: { readonly prefix?: number; readonly canCascade?: boolean } = {},
  ): Promise<void> => {
    if (sent === undefined || runningSince !== undefined) return;
    const { id, text } = sent.tab;
    const show = showIn(id);
    show({ failed: undefined, newTables: [], hasTracked: false });
    const controller = new AbortController();
    running.current = controller;
    setRunningSince(Date.now());
    try {
      await task(sent, controller.signal, show);
    } catch (error) {
      if (isAbort(error)) showToast('Stopped');
      else {
        const failure = failureOf(error);
        const tab = sqlTabs.all.peek().find((each) => each.id === id) ?? sent.tab;
        const isSame = tab.text === text;
        const marks = isSame ? markOf(failure, sent.range.from - prefix, text.length) : NO_MARKS;
        show({ result: undefined, plan: undefined, failed: { failure, marks, tab, ...(isSame && canCascade ? { run: sent } : {}) } });
      }
    }
    setRunningSince(undefined);
  };
  return { attempt, runningSince, stop: (): void => running.current?.abort() };
}

/** Returns the arguments of `run_sql`. */
function argumentsOf({
  source,
  sql,
  readOnly,
  cascade,
  checksMetadata,
}: {
  readonly source: string;
  readonly sql: string;
  readonly readOnly: boolean;
  readonly cascade?: boolean;
  readonly checksMetadata: boolean;
}): JsonObject {
  return {
    source,
    sql,
    read_only: readOnly,
    ...(cascade === undefined ? {} : { cascade }),
    max_rows: ROW_LIMIT,
    locate_errors: true,
    ...(readOnly ? {} : { check_metadata_consistency: checksMetadata }),
  };
}

async function trackTables({ name, kind }: SourceOverview, newTables: readonly JsonObject[]): Promise<void> {
  const tables = newTables.map((table) => ({ source: name, table }));
  await makeChange({
    title: `Track ${newTables.map(labelOf).join(', ')}`,
    steps: () => [{ type: `${kind}_track_tables`, args: { tables } }],
    inverse: [{ type: `${kind}_untrack_tables`, args: { tables: tables.map((each) => ({ ...each, cascade: true })) } }],
  });
}

/**
 * State of the SQL page: options, the last result, and the tables that the last statement created.
 * @param lexis of the console form of the source's kind
 */
export function useSql(source: SourceOverview | undefined, lexis: SqlLexis) {
  const options = useOptions();
  const { readOnly, cascade, checksMetadata } = options;
  const [shown, showIn] = useShown(source?.name);
  const handle = useRef<EditorHandle | null>(null);
  const { attempt, ...running } = useAttempts(source?.name, showIn);
  useSqlInAddress();
  /** The SQL to run; undefined if there is none. */
  const chosen = (whole: boolean): SentSql | undefined => {
    const tab = sqlTabs.chosen.peek();
    const range = rangeToRun(handle.current, tab.text, whole, lexis);
    const sql = tab.text.slice(range.from, range.to);
    return source === undefined || sql.trim() === '' ? undefined : { tab, source, sql, range };
  };
  const runSent = (sent: SentSql | undefined, withCascade: boolean): Promise<void> =>
    attempt(
      sent,
      async ({ source: { name, kind }, sql }, signal, show) => {
        const started = performance.now();
        const before = mayDefine(sql) && !readOnly ? await tablesOf({ name, kind }) : undefined;
        const args = argumentsOf({ source: name, sql, readOnly, cascade: withCascade, checksMetadata });
        const response = await runSql(kind, args, signal);
        show({ plan: undefined, result: readResult(response, performance.now() - started) });
        addToSqlHistory(sql);
        if (before !== undefined) {
          const known = new Set(before.map(labelOf));
          show({ newTables: (await tablesOf({ name, kind })).filter((table) => !known.has(labelOf(table))) });
          await refreshOverview();
        }
      },
      { canCascade: true },
    );
  /** Shows the plan of a statement. @param statement that returns the plan; it may run the statement only if the option allows writes */
  const explain = (statement: string, isRun: boolean): Promise<void> =>
    attempt(
      chosen(false),
      async ({ source: { name, kind }, sql }, signal, show) => {
        if (!isOneStatement(sql, lexis)) throw new Failure('Select a single statement to explain.', { code: 'not-supported' });
        const args = argumentsOf({ source: name, sql: `${statement} ${sql}`, readOnly: readOnly || !isRun, checksMetadata });
        const { rows } = readResult(await runSql(kind, args, signal), 0);
        show({ result: undefined, plan: planTree(parseJsonText(rows.map((row) => row[0] ?? '').join('\n'))) });
      },
      { prefix: statement.length + 1 },
    );
  const trackNewTables = async (): Promise<void> => {
    if (source === undefined) return;
    const tab = sqlTabs.chosen.peek();
    const show = showIn(tab.id);
    try {
      await trackTables(source, shown.newTables);
      show({ newTables: [], hasTracked: true });
    } catch (error) {
      show({ failed: { failure: failureOf(error), marks: NO_MARKS, tab } });
    }
  };
  const tab = sqlTabs.chosen.value;
  const failed = shown.failed?.tab.id === tab.id && shown.failed.tab.text === tab.text ? shown.failed : undefined;
  const failedRun = failed?.run;
  return {
    ...shown,
    options,
    failure: failed?.failure,
    marks: failed?.marks ?? NO_MARKS,
    trackNewTables,
    ...running,
    handle,
    run: (whole: boolean): Promise<void> => runSent(chosen(whole), cascade),
    /** Runs exactly the SQL that failed again, with cascade; undefined if no run failed. */
    runWithCascade: failedRun === undefined ? undefined : (): Promise<void> => runSent(failedRun, true),
    explain,
  };
}

export type SqlState = ReturnType<typeof useSql>;
