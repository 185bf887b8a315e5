import { useState } from 'preact/hooks';
import { copyText } from '../../browser/clipboard.ts';
import { tsvOf } from '../../model/delimited.ts';
import { cellText } from '../../model/cell-text.ts';
import { isList, isObject, type Json, type JsonObject, printJson } from '../../model/json.ts';
import { personaLabel } from '../../model/persona.ts';
import { Button } from '../../parts/button.tsx';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Grid } from '../../parts/grid.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { Segments } from '../../parts/tabs.tsx';
import type { Run } from './run.ts';

/** The first list of objects in an answer. */
function rowsIn(json: Json | undefined): readonly JsonObject[] | undefined {
  if (isList(json)) {
    const rows = json.filter(isObject);
    return rows.length > 0 && rows.length === json.length ? rows : undefined;
  }
  if (!isObject(json)) return undefined;
  for (const value of Object.values(json)) {
    const found = rowsIn(value);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Of an answer beside another: which columns and how many rows this one lacks. */
function difference(mine: Json | undefined, theirs: Json | undefined): string | undefined {
  const own = rowsIn(mine);
  const other = rowsIn(theirs);
  if (own === undefined && other === undefined) return undefined;
  const columns = (rows: readonly JsonObject[] | undefined): string[] => Object.keys(rows?.[0] ?? {});
  const missing = columns(other).filter((name) => !columns(own).includes(name));
  const rows = (other?.length ?? 0) - (own?.length ?? 0);
  const parts = [...(missing.length > 0 ? [`${missing.length} columns`] : []), ...(rows > 0 ? [`${rows} rows`] : [])];
  return parts.length === 0 ? undefined : `${parts.join(' and ')} hidden here`;
}

export function Answer({ run, other }: { readonly run: Run; readonly other?: Run | undefined }) {
  const [form, setForm] = useState<'json' | 'table' | 'headers'>('json');
  const { answer, event, events, failure, isRunning, as } = run;
  const json = answer?.json ?? event;
  const data = isObject(json) ? json['data'] : undefined;
  const errors = isObject(json) && isList(json['errors']) ? json['errors'].filter(isObject) : [];
  const rows = rowsIn(data);
  const text = json === undefined ? (answer?.text ?? '') : printJson(json, 2);
  const otherJson = other?.answer?.json ?? other?.event;
  const hidden = isObject(otherJson) ? difference(data, otherJson['data']) : undefined;
  return (
    <section class="answer-pane stack-tight" aria-label={`Answer for ${personaLabel(as)}`}>
      <div class="row small" role="status">
        <strong>{personaLabel(as)}</strong>
        {answer !== undefined && (
          <span class="muted number">
            {answer.status} · {Math.round(answer.milliseconds)} ms · {sizeText(answer.text.length)}
            {rows !== undefined && ` · ${rows.length} rows`}
          </span>
        )}
        {event !== undefined && <span class="badge badge-accent">{isRunning ? `live · ${events}` : `ended after ${events}`}</span>}
        {hidden !== undefined && <span class="badge badge-warn">{hidden}</span>}
        <span class="grow" />
        {json !== undefined && (
          <Segments
            name="Form of the answer"
            options={[
              ['json', 'JSON'] as const,
              ...(rows === undefined ? [] : [['table', 'Table'] as const]),
              ...(answer === undefined ? [] : [['headers', 'Headers'] as const]),
            ]}
            chosen={form}
            onChoose={setForm}
          />
        )}
        {text !== '' && (
          <Button
            small
            kind="quiet"
            icon="copy"
            name="Copy the answer"
            onClick={() => void copyText(form === 'table' && rows !== undefined ? tsvOf(tableOf(rows)) : text)}
          />
        )}
      </div>
      {isRunning && answer === undefined && event === undefined && <Loading what="the answer" />}
      {failure !== undefined && <ErrorBox error={shownError(failure)} />}
      {errors.map((error, index) => {
        const extensions = isObject(error['extensions']) ? error['extensions'] : {};
        return (
          <ErrorBox
            key={index}
            error={shownError({
              message: String(error['message']),
              code: String(extensions['code'] ?? ''),
              path: typeof extensions['path'] === 'string' ? extensions['path'] : undefined,
              internal: extensions['internal'],
            })}
          />
        );
      })}
      {form === 'table' && rows !== undefined ? (
        <AnswerTable rows={rows} />
      ) : form === 'headers' && answer !== undefined ? (
        <dl class="facts small mono">
          {[...answer.headers].map(([name, value]) => (
            <>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </>
          ))}
        </dl>
      ) : (
        text !== '' && (
          <div class="answer-text">
            <CodeEditor name={`Answer for ${personaLabel(as)} as JSON`} language="json" height="100%" readOnly value={text} />
          </div>
        )
      )}
    </section>
  );
}

function tableOf(rows: readonly JsonObject[]): readonly (readonly (string | null)[])[] {
  const columns = Object.keys(rows[0] ?? {});
  return [columns, ...rows.map((row) => columns.map((name) => cellText(row[name])))];
}

function AnswerTable({ rows }: { readonly rows: readonly JsonObject[] }) {
  const columns = Object.keys(rows[0] ?? {});
  return (
    <Grid
      name="Answer as a table"
      class="grid-fill"
      columns={columns.map((id) => ({ id, header: id }))}
      count={rows.length}
      cell={(row, column) => cellText(rows[row]?.[columns[column] ?? ''])?.slice(0, 200) ?? <span class="null">null</span>}
      text={(row, column) => cellText(rows[row]?.[columns[column] ?? '']) ?? ''}
    />
  );
}

function sizeText(length: number): string {
  return length < 1000 ? `${length} B` : length < 1_000_000 ? `${(length / 1000).toFixed(1)} kB` : `${(length / 1_000_000).toFixed(1)} MB`;
}
