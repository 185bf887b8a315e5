import { useMemo, useState } from 'preact/hooks';
import { copyText, download } from '../../browser/clipboard.ts';
import { csvOf, tsvOf } from '../../model/delimited.ts';
import { type FlatRows, flatRows, type RowList, rowLists } from '../../model/flat-rows.ts';
import { isList, isObject, type Json, type JsonObject, printJson } from '../../model/json.ts';
import { personaLabel } from '../../model/persona.ts';
import { Button } from '../../parts/button.tsx';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Grid } from '../../parts/grid.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { Segments } from '../../parts/tabs.tsx';
import { ResponseError, type SentDocument } from './response-error.tsx';
import type { Run } from './run.ts';

/** Describes the columns and rows that `data` lacks in comparison with `otherData`. */
function missingFrom(data: Json | undefined, otherData: Json | undefined): string | undefined {
  const own = rowLists(data)[0]?.rows;
  const other = rowLists(otherData)[0]?.rows;
  if (own === undefined && other === undefined) return undefined;
  const columns = (rows: readonly JsonObject[] | undefined): string[] => Object.keys(rows?.[0] ?? {});
  const missing = columns(other).filter((name) => !columns(own).includes(name));
  const rows = (other?.length ?? 0) - (own?.length ?? 0);
  const parts = [...(missing.length > 0 ? [`${missing.length} columns`] : []), ...(rows > 0 ? [`${rows} rows`] : [])];
  return parts.length === 0 ? undefined : `${parts.join(' and ')} hidden`;
}

export function ResponseView({
  run,
  document,
  other,
}: {
  readonly run: Run;
  readonly document: SentDocument | undefined;
  readonly other?: Run | undefined;
}) {
  const [form, setForm] = useState<'json' | 'table' | 'headers'>('json');
  const { response, event, failure, isRunning, as } = run;
  const json = response?.json ?? event;
  const data = isObject(json) ? json['data'] : undefined;
  const errors = isObject(json) && isList(json['errors']) ? json['errors'].filter(isObject) : [];
  const lists = useMemo(() => rowLists(data), [data]);
  const [path, setPath] = useState<string>();
  const list = lists.find((each) => each.path === path) ?? lists[0];
  const table = useMemo(() => (form === 'table' && list !== undefined ? flatRows(list.rows) : undefined), [form, list]);
  const text = json === undefined ? (response?.text ?? '') : printJson(json, 2);
  const otherJson = other?.response?.json ?? other?.event;
  const hidden = isObject(otherJson) ? missingFrom(data, otherJson['data']) : undefined;
  return (
    <section class="response-pane stack-tight" aria-label={`Response for ${personaLabel(as)}`}>
      <div class="row small" role="status">
        <ResponseFacts run={run} rows={lists[0]?.rows.length} hidden={hidden} />
        <span class="row-tools">
          {json !== undefined && (
            <Segments
              name="Response format"
              options={[
                ['json', 'JSON'] as const,
                ...(list === undefined ? [] : [['table', 'Table'] as const]),
                ...(response === undefined ? [] : [['headers', 'Headers'] as const]),
              ]}
              chosen={form}
              onChoose={setForm}
            />
          )}
          {table !== undefined && list !== undefined && <TableTools lists={lists} list={list} table={table} onChoose={setPath} />}
          {text !== '' && (
            <Button
              small
              kind="quiet"
              icon="copy"
              name={table === undefined ? 'Copy response' : 'Copy table (TSV)'}
              onClick={() => void copyText(table === undefined ? text : tsvOf(linesOf(table)))}
            />
          )}
        </span>
      </div>
      {isRunning && response === undefined && event === undefined && <Loading what="the response" />}
      {failure !== undefined && <ErrorBox error={shownError(failure)} />}
      {errors.map((error, index) => (
        <ResponseError key={index} error={error} document={document} />
      ))}
      {table !== undefined ? (
        <ResponseTable table={table} />
      ) : form === 'headers' && response !== undefined ? (
        <ResponseHeaders headers={response.headers} />
      ) : (
        text !== '' && (
          <div class="response-text">
            <CodeEditor name={`Response for ${personaLabel(as)} as JSON`} language="json" height="100%" readOnly value={text} />
          </div>
        )
      )}
    </section>
  );
}

/** Choice of the list that the table shows, and its download. */
function TableTools({
  lists,
  list,
  table,
  onChoose,
}: {
  readonly lists: readonly RowList[];
  readonly list: RowList;
  readonly table: FlatRows;
  onChoose(path: string): void;
}) {
  return (
    <>
      {lists.length > 1 && (
        <select class="select" aria-label="Rows of" value={list.path} onChange={(event) => onChoose(event.currentTarget.value)}>
          {lists.map((each) => (
            <option key={each.path}>{each.path}</option>
          ))}
        </select>
      )}
      <Button small kind="quiet" icon="download" onClick={() => download(`${list.path}.csv`, csvOf(linesOf(table)), 'text/csv')}>
        CSV
      </Button>
    </>
  );
}

/** Status of a run. @param props.hidden what the response lacks in comparison with the other one */
function ResponseFacts({
  run: { as, response, event, events, isRunning },
  rows,
  hidden,
}: {
  readonly run: Run;
  readonly rows: number | undefined;
  readonly hidden: string | undefined;
}) {
  return (
    <>
      <strong>{personaLabel(as)}</strong>
      {response !== undefined && (
        <span class="muted number">
          {response.status} · {Math.round(response.milliseconds)} ms · {sizeText(response.text.length)}
          {rows !== undefined && ` · ${rows} ${rows === 1 ? 'row' : 'rows'}`}
        </span>
      )}
      {event !== undefined && <span class="badge badge-accent">{isRunning ? `live · ${events}` : `ended · ${events}`}</span>}
      {hidden !== undefined && <span class="badge badge-warn">{hidden}</span>}
    </>
  );
}

function ResponseHeaders({ headers }: { readonly headers: Headers }) {
  return (
    <dl class="facts small mono">
      {[...headers].map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </>
      ))}
    </dl>
  );
}

function linesOf({ columns, rows }: FlatRows): readonly (readonly (string | null)[])[] {
  return [columns, ...rows];
}

function ResponseTable({ table: { columns, rows } }: { readonly table: FlatRows }) {
  return (
    <Grid
      name="Response as table"
      class="grid-fill"
      columns={columns.map((id) => ({ id, header: id }))}
      count={rows.length}
      cell={(row, column) => rows[row]?.[column]?.slice(0, 200) ?? <span class="null">null</span>}
      text={(row, column) => rows[row]?.[column] ?? ''}
    />
  );
}

function sizeText(length: number): string {
  return length < 1000 ? `${length} B` : length < 1_000_000 ? `${(length / 1000).toFixed(1)} kB` : `${(length / 1_000_000).toFixed(1)} MB`;
}
