import { KINDS } from '../../model/kinds.generated.ts';
import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { type Failure, failureOf, isAbort } from '../../api/failure.ts';
import { askKind, hasOperation, runSql } from '../../api/metadata.ts';
import { overview, refreshOverview } from '../../api/overview.ts';
import { isReadOnly, label, READ_ONLY_REASON } from '../../api/settings.ts';
import { copyText, download } from '../../browser/clipboard.ts';
import { hrefOf, place, setQuery } from '../../browser/place.ts';
import { remember, remembered } from '../../browser/storage.ts';
import { csvOf, tsvOf } from '../../model/delimited.ts';
import { isList, isObject, type Json, type JsonObject } from '../../model/json.ts';
import { type SourceOverview, tableId } from '../../model/overview.ts';
import { mayDefine, statementAt, statementsOf } from '../../model/sql-statements.ts';
import { labelOf } from '../../model/steps.ts';
import { Button } from '../../parts/button.tsx';
import { CodeEditor, type EditorHandle } from '../../parts/code-editor.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Check } from '../../parts/field.tsx';
import { Grid } from '../../parts/grid.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Menu } from '../../parts/menu.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { tell } from '../../parts/toast.tsx';
import type { CodeMark } from '../../parts/code-editor-types.ts';

const MOST_ROWS = 1000;
const MOST_HISTORY = 50;

const text = signal(remembered('sql', ''));
const history = signal<readonly string[]>(remembered<readonly string[]>('sql-history', []));

interface Result {
  readonly columns: readonly string[] | undefined;
  readonly rows: readonly (readonly string[])[];
  readonly isTruncated: boolean;
  readonly milliseconds: number;
  readonly affected: readonly Json[];
}

/** SQL as the administrator of a source. */
export function Sql() {
  const data = overview.value;
  const { query } = place.value;
  const source = data?.sources.find(({ name }) => name === query.get('source')) ?? data?.sources[0];
  const { editor = 'sql', escapes = false, examples = [] } = KINDS[source?.kind ?? ''] ?? {};
  const [readOnly, setReadOnly] = useState(isReadOnly || label !== '');
  const [cascade, setCascade] = useState(false);
  const [checked, setChecked] = useState(true);
  const [result, setResult] = useState<Result | undefined>();
  const [failure, setFailure] = useState<Failure>();
  const [marks, setMarks] = useState<readonly CodeMark[]>([]);
  const [fresh, setFresh] = useState<readonly JsonObject[]>([]);
  const [since, setSince] = useState<number>();
  const handle = useRef<EditorHandle | null>(null);
  const [hasTracked, setTracked] = useState(false);
  const running = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  useEffect(() => {
    const given = query.get('sql');
    if (given === null) return;
    text.value = given;
    setQuery({ sql: undefined });
  }, [query]);
  if (data !== undefined && source === undefined) {
    return (
      <div class="page">
        <EmptyState
          icon="sql"
          title="There is no source to ask"
          actions={
            <a class="button" href={hrefOf(['data', '+'])}>
              Connect a database
            </a>
          }
        />
      </div>
    );
  }
  const run = async (whole: boolean, withCascade = cascade): Promise<void> => {
    if (source === undefined || since !== undefined) return;
    const all = text.peek();
    const { from, to } = handle.current?.selection() ?? { from: 0, to: 0 };
    const range =
      from !== to ? { from, to } : whole ? { from: 0, to: all.length } : (statementAt(all, from, escapes) ?? { from: 0, to: all.length });
    const sql = all.slice(range.from, range.to);
    if (sql.trim() === '') return;
    setFailure(undefined);
    setMarks([]);
    setFresh([]);
    setTracked(false);
    const controller = new AbortController();
    running.current = controller;
    const started = performance.now();
    setSince(Date.now());
    try {
      const before = mayDefine(sql) && !readOnly ? await tablesOf(source) : undefined;
      const answer = await runSql(
        source.kind,
        {
          source: source.name,
          sql,
          read_only: readOnly,
          cascade: withCascade,
          max_rows: MOST_ROWS,
          locate_errors: true,
          ...(readOnly ? {} : { check_metadata_consistency: checked }),
        },
        controller.signal,
      );
      setResult(readResult(answer, performance.now() - started));
      history.value = [sql, ...history.peek().filter((each) => each !== sql)].slice(0, MOST_HISTORY);
      remember('sql-history', history.peek());
      if (before !== undefined) {
        const known = new Set(before.map(labelOf));
        setFresh((await tablesOf(source)).filter((table) => !known.has(labelOf(table))));
        await refreshOverview();
      }
    } catch (error) {
      if (isAbort(error)) tell('Stopped');
      else {
        const failed = failureOf(error);
        setFailure(failed);
        setMarks(markOf(failed, range.from, all.length));
      }
    }
    setSince(undefined);
  };
  const dependents = failure?.code === 'dependency-error' ? failure.message.replace(/^[^:]*: /, '').split(/, (?=[a-z ]+ )/) : [];
  const track = async (tables: readonly JsonObject[]): Promise<void> => {
    if (source === undefined) return;
    const named = tables.map((table) => ({ source: source.name, table }));
    try {
      await makeChange({
        title: `Track ${tables.map(labelOf).join(', ')}`,
        steps: () => [{ type: `${source.kind}_track_tables`, args: { tables: named } }],
        inverse: [{ type: `${source.kind}_untrack_tables`, args: { tables: named.map((each) => ({ ...each, cascade: true })) } }],
      });
      setFresh([]);
      setTracked(true);
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  /** One of them is run at a time, unless all are wanted: the button says so. */
  const several = statementsOf(text.value, escapes).length > 1;
  const tables = Object.fromEntries((source?.tables ?? []).map((table) => [tableId(table), []]));
  return (
    <div class="page page-fill">
      <header>
        <h1>SQL</h1>
        <select
          class="select"
          aria-label="Source"
          value={source?.name}
          onChange={(event) => setQuery({ source: event.currentTarget.value })}
        >
          {data?.sources.map(({ name, kind }) => (
            <option key={name} value={name}>
              {name} ({kind})
            </option>
          ))}
        </select>
        <Check
          label="Read only"
          title="The database refuses whatever writes"
          checked={readOnly}
          disabled={isReadOnly}
          onChange={setReadOnly}
        />
        <Check
          label="Cascade"
          title="What depends on what is dropped leaves the metadata with it"
          checked={cascade}
          disabled={readOnly}
          onChange={setCascade}
        />
        <Check
          label="Check metadata"
          title="Refuses what would make the metadata inconsistent"
          checked={checked}
          disabled={readOnly}
          onChange={setChecked}
        />
        <span class="grow" />
        {history.value.length > 0 && (
          <Menu
            icon="history"
            items={history.value.slice(0, 20).map((sql) => ({
              label: sql.replace(/\s+/g, ' ').slice(0, 60),
              run: () => {
                text.value = sql;
              },
            }))}
          >
            History
          </Menu>
        )}
      </header>
      <CodeEditor
        key={editor}
        name="SQL"
        language={editor}
        height="min(34vh, 300px)"
        hint="select …"
        value={text.value}
        marks={marks}
        tables={tables}
        handle={handle}
        onChange={(next) => {
          text.value = next;
          remember('sql', next);
        }}
        onRun={() => void run(false)}
      />
      <div class="row">
        {since === undefined ? (
          <>
            <Button
              kind="primary"
              icon="play"
              title="Ctrl+Enter: what is selected, or the statement at the cursor"
              onClick={() => void run(false)}
            >
              {several ? 'Run this one' : 'Run'}
            </Button>
            {several && <Button onClick={() => void run(true)}>Run all</Button>}
          </>
        ) : (
          <>
            <Button kind="danger" icon="stop" onClick={() => running.current?.abort()}>
              Stop
            </Button>
            <Elapsed since={since} />
          </>
        )}
        <span class="grow" />
        {result?.columns !== undefined && (
          <>
            <span class="muted number" role="status">
              {result.rows.length} {result.rows.length === 1 ? 'row' : 'rows'} · {Math.round(result.milliseconds)} ms
            </span>
            <Button small kind="quiet" icon="copy" onClick={() => void copyText(tsvOf([result.columns ?? [], ...result.rows]))}>
              TSV
            </Button>
            <Button
              small
              kind="quiet"
              icon="download"
              onClick={() => download('result.csv', csvOf([result.columns ?? [], ...result.rows]), 'text/csv')}
            >
              CSV
            </Button>
          </>
        )}
      </div>
      {failure !== undefined && (
        <ErrorBox error={shownError({ code: failure.code, path: failure.path, internal: failure.internal, ...failureText(failure) })}>
          {dependents.length > 0 && (
            <>
              <ul class="stack-tight">
                {dependents.map((each) => (
                  <li key={each}>{each}</li>
                ))}
              </ul>
              <div>
                <Button kind="danger" small refusal={isReadOnly ? READ_ONLY_REASON : undefined} onClick={() => void run(false, true)}>
                  Run with cascade: these go too
                </Button>
              </div>
            </>
          )}
        </ErrorBox>
      )}
      {fresh.length > 0 && (
        <div class="banner banner-accent" role="status">
          <Icon name="table" />
          <span class="grow">New here: {fresh.map(labelOf).join(', ')}</span>
          <Button kind="link" onClick={() => void track(fresh)}>
            Track {fresh.length === 1 ? 'it' : `all ${fresh.length}`}
          </Button>
        </div>
      )}
      {hasTracked && fresh.length === 0 && source !== undefined && (
        <div class="banner banner-accent" role="status">
          <Icon name="link" />
          <span class="grow">The tables are part of the API. Their foreign keys can become relationships.</span>
          <a href={hrefOf(['data', source.name], { tab: 'relationships' })}>Relate them</a>
        </div>
      )}
      {result !== undefined && failure === undefined && <Shown result={result} />}
      {result === undefined && failure === undefined && text.value.trim() === '' && (
        <EmptyState
          icon="sql"
          title="Statements to start with"
          actions={examples.map(({ label: name, sql }) => (
            <Button
              key={name}
              onClick={() => {
                text.value = sql;
              }}
            >
              {name}
            </Button>
          ))}
        />
      )}
    </div>
  );
}

function Shown({ result }: { readonly result: Result }) {
  const { columns, rows, isTruncated, affected, milliseconds } = result;
  return (
    <>
      {affected.length > 0 && (
        <p class="banner banner-warn">
          Of the metadata also went or changed:{' '}
          {affected.map((each) => (isObject(each) ? String(each['name'] ?? each['type']) : String(each))).join(', ')}
        </p>
      )}
      {isTruncated && <p class="banner banner-warn">These are the first {rows.length} rows; there are more.</p>}
      {columns === undefined ? (
        <p class="banner banner-accent" role="status">
          Done in {Math.round(milliseconds)} ms.
        </p>
      ) : (
        <Grid
          name="Result"
          class="grid-fill"
          columns={columns.map((header, index) => ({
            id: `${index} ${header}`,
            header,
            isNumber: rows.length > 0 && rows.every((row) => /^-?\d+(?:\.\d+)?$|^NULL$/.test(row[index] ?? '')),
          }))}
          count={rows.length}
          cell={(row, column) => {
            const value = rows[row]?.[column] ?? '';
            return value === 'NULL' ? <span class="null">NULL</span> : value.slice(0, 200);
          }}
          text={(row, column) => rows[row]?.[column] ?? ''}
        />
      )}
    </>
  );
}

function Elapsed({ since }: { readonly since: number }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 200);
    return () => clearInterval(timer);
  }, []);
  return <span class="muted number">{((now - since) / 1000).toFixed(1)} s</span>;
}

function readResult(json: Json, milliseconds: number): Result {
  const answer = isObject(json) ? json : {};
  const all = isList(answer['result']) ? answer['result'].filter(isList).map((row) => row.map(String)) : undefined;
  return {
    columns: all?.[0],
    rows: all?.slice(1) ?? [],
    isTruncated: answer['truncated'] === true,
    milliseconds,
    affected: isList(answer['affected']) ? answer['affected'] : [],
  };
}

async function tablesOf({ name, kind }: SourceOverview): Promise<readonly JsonObject[]> {
  if (!hasOperation(kind, 'get_source_tables')) return [];
  const json = await askKind(kind, 'get_source_tables', { source: name });
  return isList(json) ? json.filter(isObject) : [];
}

/** What the database says, in place of what every refusal says. */
function failureText({ message, internal }: Failure): { readonly message: string } {
  const error = isObject(internal) && isObject(internal['error']) ? internal['error'] : {};
  return {
    message:
      typeof error['message'] === 'string'
        ? [error['message'], error['hint']].filter((part) => typeof part === 'string').join('. ')
        : message,
  };
}

/** The place in the text that the database complains of. */
function markOf({ internal }: Failure, from: number, length: number): readonly CodeMark[] {
  const error = isObject(internal) && isObject(internal['error']) ? internal['error'] : undefined;
  const position = isObject(internal) ? (internal['position'] ?? error?.['position']) : undefined;
  if (typeof position !== 'number') return [];
  const at = Math.min(length, from + position - 1);
  return [{ from: at, to: at + 1, message: String(error?.['message'] ?? 'here') }];
}
