import { useState } from 'preact/hooks';
import { failureOf } from '../../api/failure.ts';
import { graphql } from '../../api/graphql.ts';
import { persona } from '../../api/persona.ts';
import { previewChanges } from '../../api/preview.ts';
import type { TableInfo } from '../../api/table-info.ts';
import { useResource } from '../../api/use-resource.ts';
import { cellText } from '../../model/cell-text.ts';
import { NotPreviewable, partsOfFilter, whereOfFilter } from '../../model/filter-preview.ts';
import { ANYTHING, type FilterNode, readFilter } from '../../model/filter-tree.ts';
import { literal } from '../../model/graphql-text.ts';
import { isList, isObject, type Json, type JsonObject, printJson } from '../../model/json.ts';
import { type Overview, type TableOverview, tableJson } from '../../model/overview.ts';
import type { Step } from '../../model/steps.ts';
import { ADMIN, sessionVariablesIn, variableHeader } from '../../model/persona.ts';
import type { PermissionOperation } from '../../model/table-entry.ts';
import { Button } from '../../parts/button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { ListTable } from '../../parts/list-table.tsx';
import { Segments } from '../../parts/tabs.tsx';

interface PreviewProps {
  readonly data: Overview;
  readonly table: TableOverview;
  readonly info: TableInfo;
  readonly role: string;
  readonly operation: PermissionOperation;
  readonly draft: JsonObject;
  readonly saved: JsonObject | null;
}

interface Seen {
  readonly total: number;
  readonly now: number;
  readonly before: number | undefined;
  readonly seen: readonly JsonObject[];
  readonly hidden: readonly JsonObject[];
}

const ROWS = 6;

function filterOf(permission: JsonObject | null): FilterNode {
  const filter = permission?.['filter'];
  return filter === undefined || filter === null ? ANYTHING : readFilter(filter);
}

/** Whether nothing was written yet for a column that has no empty values. */
function isUnfinished(node: FilterNode, info: TableInfo): boolean {
  if (node.kind !== 'test') return false;
  const column = info.columns.find(({ name }) => name === node.column);
  return column !== undefined && !/char|text|name|json/.test(column.type) && node.tests.some(([, value]) => value === '');
}

/** Which rows the draft lets through, of the rows that there are, before anything is saved. */
export function Preview({ table, info, role, operation, draft, saved }: PreviewProps) {
  const text = printJson(draft['filter'] ?? {});
  const names = sessionVariablesIn(text);
  const [values, setValues] = useState<Readonly<Record<string, string>>>(persona.peek().variables);
  const [side, setSide] = useState<'seen' | 'hidden'>('seen');
  const [why, setWhy] = useState<JsonObject | null>(null);
  const { names: graphqlNames } = info;
  const columns = info.columns.flatMap(({ name }) => info.columnNames.get(name) ?? []);
  const shown = columns.slice(0, 3);
  const { value, failure, isLoading } = useResource(
    async (signal) => {
      await new Promise((resolve) => setTimeout(resolve, 250));
      if (signal.aborted || graphqlNames === undefined) return undefined;
      const unfinished = partsOfFilter(filterOf(draft)).find(({ node }) => isUnfinished(node, info));
      if (unfinished?.node.kind === 'test') throw new NotPreviewable(`give ${unfinished.node.column} a value`, true);
      let where: JsonObject;
      try {
        where = whereOfFilter(filterOf(draft), values, info.columnNames);
      } catch (error) {
        if (!(error instanceof NotPreviewable) || error.needsValue || operation !== 'select') throw error;
        return seenByDraft({ table, info, role, draft, saved, values, columns }, signal);
      }
      let before: JsonObject | undefined;
      try {
        before = saved === null ? undefined : whereOfFilter(filterOf(saved), values, info.columnNames);
      } catch (error) {
        if (!(error instanceof NotPreviewable)) throw error;
      }
      const { select, selectAggregate, namespace } = graphqlNames;
      const count = (alias: string, condition: JsonObject): string =>
        `${alias}: ${selectAggregate}(where: ${literal(condition)}) { aggregate { count } }`;
      const rows = (alias: string, condition: JsonObject): string =>
        `${alias}: ${select}(where: ${literal(condition)}, limit: ${ROWS}) { ${columns.join(' ')} }`;
      const fields = [
        count('total', {}),
        count('now', where),
        ...(before === undefined ? [] : [count('before', before)]),
        rows('seen', where),
        rows('hidden', { _not: where }),
      ].join(' ');
      const found = await graphql(
        { query: `query Preview { ${namespace === undefined ? fields : `within: ${namespace} { ${fields} }`} }` },
        ADMIN,
        signal,
      );
      return readSeen(namespace === undefined ? found : found['within']);
    },
    printJson([text, printJson(values), String(saved === null), info.version]),
  );
  if (graphqlNames === undefined) return null;
  const reason = failure?.message;
  const change = value?.before === undefined ? 0 : value.now - value.before;
  const list = value === undefined ? [] : side === 'seen' ? value.seen : value.hidden;
  return (
    <aside class="preview stack" aria-label="Preview">
      <div class="row">
        <Icon name="eye" />
        <strong>Preview as {role}</strong>
      </div>
      {names.map((name) => (
        <label class="row-tight" key={name}>
          <span class="mono small">{variableHeader(name)}</span>
          <input
            class="input input-small grow"
            aria-label={`${variableHeader(name)} of the preview`}
            value={values[name] ?? ''}
            placeholder="value"
            spellcheck={false}
            onInput={(event) => setValues({ ...values, [name]: event.currentTarget.value })}
          />
        </label>
      ))}
      {reason !== undefined && <p class="banner banner-warn small">{reason}</p>}
      <div class={isLoading ? 'is-old' : ''} role="status">
        {value !== undefined && reason === undefined && (
          <p class="preview-count">
            {operation === 'select' ? 'sees' : operation === 'update' ? 'may update' : 'may delete'}{' '}
            <strong class="number">{value.now}</strong> of <span class="number">{value.total}</span> rows
            {change !== 0 && (
              <span class={`badge ${change > 0 ? 'badge-accent' : 'badge-warn'}`}>
                {change > 0 ? '+' : '−'}
                {Math.abs(change)} since saved
              </span>
            )}
          </p>
        )}
      </div>
      {value !== undefined && reason === undefined && (
        <>
          <Segments
            name="Rows of the preview"
            options={[
              ['seen', 'Let through'],
              ['hidden', 'Kept back'],
            ]}
            chosen={side}
            onChoose={(next) => {
              setSide(next);
              setWhy(null);
            }}
          />
          {list.length === 0 ? (
            <p class="muted small">{side === 'seen' ? 'No row at all.' : 'No row is kept back.'}</p>
          ) : (
            <ListTable name="Rows of the preview" columns={[...shown, ...(side === 'hidden' ? [{ hidden: 'Why' }] : [])]} class="small">
              {list.map((row, index) => (
                <tr key={index}>
                  {shown.map((name) => (
                    <td key={name}>{cellText(row[name])?.slice(0, 40) ?? <span class="null">null</span>}</td>
                  ))}
                  {side === 'hidden' && (
                    <td>
                      <Button kind="link" name={`Why is row ${index + 1} kept back?`} onClick={() => setWhy(row)}>
                        why?
                      </Button>
                    </td>
                  )}
                </tr>
              ))}
            </ListTable>
          )}
          {why !== null && <Why info={info} draft={draft} values={values} row={why} />}
        </>
      )}
    </aside>
  );
}

function readSeen(json: Json | undefined): Seen {
  const answer = isObject(json) ? json : {};
  const count = (key: string): number => {
    const found = answer[key];
    return isObject(found) && isObject(found['aggregate']) ? Number(found['aggregate']['count']) : 0;
  };
  const rows = (key: string): readonly JsonObject[] => {
    const found = answer[key];
    return isList(found) ? found.filter(isObject) : [];
  };
  return {
    total: count('total'),
    now: count('now'),
    before: answer['before'] === undefined ? undefined : count('before'),
    seen: rows('seen'),
    hidden: rows('hidden'),
  };
}

interface Draft extends Pick<PreviewProps, 'table' | 'info' | 'role' | 'draft' | 'saved'> {
  readonly values: Readonly<Record<string, string>>;
  readonly columns: readonly string[];
}

/** What no argument of a query can say, a draft of the permission in the service can: the role's own rows on it. */
async function seenByDraft({ table, info, role, draft, saved, values, columns }: Draft, signal: AbortSignal): Promise<Seen | undefined> {
  const { names } = info;
  if (names === undefined) return undefined;
  const { source, kind } = table;
  const address = tableJson(table);
  const { limit: _, ...unlimited } = draft;
  const permission = { ...unlimited, allow_aggregations: true, columns: '*' };
  const steps: Step[] = [
    ...(saved === null ? [] : [{ type: `${kind}_drop_select_permission`, args: { source, table: address, role } }]),
    { type: `${kind}_create_select_permission`, args: { source, table: address, role, permission } },
  ];
  const within = (fields: string): string =>
    `query Preview { ${names.namespace === undefined ? fields : `within: ${names.namespace} { ${fields} }`} }`;
  const count = (alias: string): string => `${alias}: ${names.selectAggregate} { aggregate { count } }`;
  const { answers } = await previewChanges(steps, {
    queries: [
      { query: within(`${count('now')} seen: ${names.select}(limit: ${ROWS}) { ${columns.join(' ')} }`), as: { role, variables: values } },
      { query: within(count('total')), as: ADMIN },
    ],
    signal,
  });
  const [own, all] = answers.map((answer) => {
    const [error] = isList(answer['errors']) ? answer['errors'].filter(isObject) : [];
    if (error !== undefined) throw new NotPreviewable(String(error['message']));
    const data = isObject(answer['data']) ? answer['data'] : {};
    return readSeen(names.namespace === undefined ? data : data['within']);
  });
  return own === undefined ? undefined : { ...own, total: all?.total ?? 0 };
}

/** Asks for each part of the condition whether it holds for the row. */
function Why({
  info,
  draft,
  values,
  row,
}: {
  readonly info: TableInfo;
  readonly draft: JsonObject;
  readonly values: Readonly<Record<string, string>>;
  readonly row: JsonObject;
}) {
  const key = info.primaryKey.map((column) => info.columnNames.get(column) ?? column);
  const { value, failure } = useResource(
    async (signal) => {
      const { names } = info;
      if (names === undefined || key.length === 0) return [];
      const parts = partsOfFilter(filterOf(draft));
      const identity = Object.fromEntries(key.map((column) => [column, { _eq: row[column] ?? null }]));
      const fields = parts
        .map(
          ({ node }, index) =>
            `p${index}: ${names.select}(where: ${literal({ _and: [identity, whereOfFilter(node, values, info.columnNames)] })}) { ${key.join(' ')} }`,
        )
        .join(' ');
      const found = await graphql(
        { query: `query Why { ${names.namespace === undefined ? fields : `within: ${names.namespace} { ${fields} }`} }` },
        ADMIN,
        signal,
      );
      const answer = names.namespace === undefined ? found : found['within'];
      return parts.map(({ text }, index) => {
        const rows = isObject(answer) ? answer[`p${index}`] : undefined;
        return { text, holds: isList(rows) && rows.length > 0 };
      });
    },
    printJson([row, draft]),
  );
  if (failure !== undefined) return <p class="banner banner-warn small">{failureOf(failure).message}</p>;
  return (
    <ul class="stack-tight small" aria-label="Why the row is kept back">
      {key.length === 0 && <li class="muted">The table has no key to find the row by.</li>}
      {value?.map(({ text, holds }) => (
        <li key={text} class="row-tight">
          <span class={`badge ${holds ? 'badge-ok' : 'badge-danger'}`}>
            <Icon name={holds ? 'check' : 'cross'} />
            {holds ? 'yes' : 'no'}
          </span>
          <code>{text}</code>
        </li>
      ))}
    </ul>
  );
}
