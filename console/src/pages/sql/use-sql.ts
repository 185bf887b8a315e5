import { useEffect, useRef, useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { type Failure, failureOf, isAbort } from '../../api/failure.ts';
import { runSql } from '../../api/metadata.ts';
import { refreshOverview } from '../../api/overview.ts';
import { isReadOnly, label } from '../../api/settings.ts';
import { place, setQuery } from '../../browser/place.ts';
import { type JsonObject, parseJsonText } from '../../model/json.ts';
import type { SourceOverview } from '../../model/overview.ts';
import { type PlanNode, planTree } from '../../model/plan-tree.ts';
import { mayDefine, type SqlLexis, statementAt, type StatementRange } from '../../model/sql-statements.ts';
import { labelOf } from '../../model/steps.ts';
import type { CodeMark } from '../../parts/code-editor-types.ts';
import type { EditorHandle } from '../../parts/code-editor.tsx';
import { showToast } from '../../parts/toast.tsx';
import { markOf, readResult, type SqlResult, tablesOf } from './result.ts';
import { addToSqlHistory, chosenTab, openText } from './tabs.ts';

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

/** Tables that the last statement created, until they are tracked. */
function useNewTables(source: SourceOverview | undefined, onFailure: (failure: Failure) => void) {
  const [newTables, setNewTables] = useState<readonly JsonObject[]>([]);
  const [hasTracked, setTracked] = useState(false);
  return {
    newTables,
    hasTracked,
    show(tables: readonly JsonObject[]): void {
      setNewTables(tables);
      setTracked(false);
    },
    async trackNewTables(): Promise<void> {
      if (source === undefined) return;
      const { name, kind } = source;
      const tables = newTables.map((table) => ({ source: name, table }));
      try {
        await makeChange({
          title: `Track ${newTables.map(labelOf).join(', ')}`,
          steps: () => [{ type: `${kind}_track_tables`, args: { tables } }],
          inverse: [{ type: `${kind}_untrack_tables`, args: { tables: tables.map((each) => ({ ...each, cascade: true })) } }],
        });
        setNewTables([]);
        setTracked(true);
      } catch (error) {
        onFailure(failureOf(error));
      }
    },
  };
}

/** The selection; without one, all of the text or the statement at the cursor. */
function rangeToRun(editor: EditorHandle | null, all: string, whole: boolean, lexis: SqlLexis): StatementRange {
  const { from, to } = editor?.selection() ?? { from: 0, to: 0 };
  if (from !== to) return { from, to };
  return (whole ? undefined : statementAt(all, from, lexis)) ?? { from: 0, to: all.length };
}

/**
 * State of the SQL page: options, the last result, and the tables that the last statement created.
 * @param lexis of the console form of the source's kind
 */
export function useSql(source: SourceOverview | undefined, lexis: SqlLexis) {
  const options = useOptions();
  const { readOnly, cascade, checksMetadata } = options;
  const [plan, setPlan] = useState<PlanNode>();
  const [result, setResult] = useState<SqlResult | undefined>();
  const [failure, setFailure] = useState<Failure>();
  const [marks, setMarks] = useState<readonly CodeMark[]>([]);
  const [runningSince, setRunningSince] = useState<number>();
  const { show: showNewTables, ...created } = useNewTables(source, setFailure);
  const handle = useRef<EditorHandle | null>(null);
  const running = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  useSqlInAddress();
  /** Runs a task for a part of the text. It can be stopped; its error is shown, with its place in the text. */
  const attempt = async (whole: boolean, task: (sql: string, signal: AbortSignal) => Promise<void>, prefix = 0): Promise<void> => {
    if (source === undefined || runningSince !== undefined) return;
    const all = chosenTab.peek().text;
    const range = rangeToRun(handle.current, all, whole, lexis);
    const sql = all.slice(range.from, range.to);
    if (sql.trim() === '') return;
    setFailure(undefined);
    setMarks([]);
    showNewTables([]);
    const controller = new AbortController();
    running.current = controller;
    setRunningSince(Date.now());
    try {
      await task(sql, controller.signal);
    } catch (error) {
      if (isAbort(error)) showToast('Stopped');
      else {
        const failed = failureOf(error);
        setFailure(failed);
        setMarks(markOf(failed, range.from - prefix, all.length));
      }
    }
    setRunningSince(undefined);
  };
  const run = (whole: boolean, withCascade = cascade): Promise<void> =>
    attempt(whole, async (sql, signal) => {
      if (source === undefined) return;
      const started = performance.now();
      const before = mayDefine(sql) && !readOnly ? await tablesOf(source) : undefined;
      const args = {
        source: source.name,
        sql,
        read_only: readOnly,
        cascade: withCascade,
        max_rows: ROW_LIMIT,
        locate_errors: true,
        ...(readOnly ? {} : { check_metadata_consistency: checksMetadata }),
      };
      const response = await runSql(source.kind, args, signal);
      setPlan(undefined);
      setResult(readResult(response, performance.now() - started));
      addToSqlHistory(sql);
      if (before !== undefined) {
        const known = new Set(before.map(labelOf));
        showNewTables((await tablesOf(source)).filter((table) => !known.has(labelOf(table))));
        await refreshOverview();
      }
    });
  /** Shows the plan of a statement. @param statement that returns the plan; it may run the statement only if the option allows writes */
  const explain = (statement: string, isRun: boolean): Promise<void> =>
    attempt(
      false,
      async (sql, signal) => {
        if (source === undefined) return;
        const args = {
          source: source.name,
          sql: `${statement} ${sql}`,
          read_only: readOnly || !isRun,
          max_rows: ROW_LIMIT,
          locate_errors: true,
          ...(readOnly || !isRun ? {} : { check_metadata_consistency: checksMetadata }),
        };
        const { rows } = readResult(await runSql(source.kind, args, signal), 0);
        setResult(undefined);
        setPlan(planTree(parseJsonText(rows.map((row) => row[0] ?? '').join('\n'))));
      },
      statement.length + 1,
    );
  return {
    options,
    result,
    plan,
    failure,
    marks,
    ...created,
    runningSince,
    handle,
    stop: (): void => running.current?.abort(),
    run,
    explain,
  };
}

export type SqlState = ReturnType<typeof useSql>;
