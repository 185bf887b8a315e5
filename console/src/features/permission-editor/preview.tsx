import { useState } from 'preact/hooks';
import { failureOf } from '../../api/failure.ts';
import { graphql } from '../../api/graphql.ts';
import { persona } from '../../api/persona.ts';
import { previewChanges } from '../../api/preview.ts';
import { keyFields, type TableInfo } from '../../api/table-info.ts';
import { useResource } from '../../api/use-resource.ts';
import { cellText } from '../../model/cell-text.ts';
import { NotPreviewable, partsOfFilter, whereOfFilter } from '../../model/filter-preview.ts';
import { ANYTHING, type FilterNode, readFilter } from '../../model/filter-tree.ts';
import { literal } from '../../model/graphql-text.ts';
import { isList, isObject, type Json, type JsonObject, objectOf, objectsIn, printJson } from '../../model/json.ts';
import { type Overview, type TableOverview, tableJson } from '../../model/overview.ts';
import type { Step } from '../../model/steps.ts';
import { ADMIN, sessionVariablesIn, variableHeader } from '../../model/persona.ts';
import { memberOf, type PermissionOperation } from '../../model/table-entry.ts';
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

interface PreviewResult {
  readonly total: number;
  /** Rows that the draft includes. */
  readonly now: number;
  /** Rows that the stored permission includes. */
  readonly before: number | undefined;
  readonly included: readonly JsonObject[];
  readonly excluded: readonly JsonObject[];
}

const ROWS = 6;
const PAUSE_MS = 250;

function filterOf(permission: JsonObject | null): FilterNode {
  const filter = permission?.['filter'];
  return filter === undefined || filter === null ? ANYTHING : readFilter(filter);
}

/** Returns true if the value of a column that cannot be empty is still missing. */
function isUnfinished(node: FilterNode, info: TableInfo): boolean {
  if (node.kind !== 'test') return false;
  const column = info.columns.find(({ name }) => name === node.column);
  return column !== undefined && !/char|text|name|json/.test(column.type) && node.tests.some(([, value]) => value === '');
}

/** Values of session variables, by names without `x-svc-`. */
type Values = Readonly<Record<string, string>>;

/** Rows that the draft includes and excludes, before it is saved. */
export function Preview(props: PreviewProps) {
  const { info, role, operation, draft } = props;
  const [values, setValues] = useState<Values>(persona.peek().variables);
  const { value, failure, isLoading } = usePreview(props, values);
  if (info.names === undefined) return null;
  const result = failure === undefined ? value : undefined;
  return (
    <aside class="preview stack" aria-label="Preview">
      <div class="row">
        <Icon name="eye" />
        <strong>Preview as {role}</strong>
      </div>
      {sessionVariablesIn(printJson(draft['filter'] ?? {})).map((name) => (
        <label class="row-tight" key={name}>
          <span class="mono small">{variableHeader(name)}</span>
          <input
            class="input input-small grow"
            aria-label={`${variableHeader(name)} for the preview`}
            value={values[name] ?? ''}
            placeholder="value"
            spellcheck={false}
            onInput={(event) => setValues({ ...values, [name]: event.currentTarget.value })}
          />
        </label>
      ))}
      {failure !== undefined && <p class="banner banner-warn small">{failure.message}</p>}
      <div class={isLoading ? 'is-old' : ''} role="status">
        {result !== undefined && <PreviewCount result={result} operation={operation} />}
      </div>
      {result !== undefined && <PreviewRows result={result} shown={shownColumns(props)} info={info} draft={draft} values={values} />}
    </aside>
  );
}

function PreviewCount({ result: { now, total, before }, operation }: { readonly result: PreviewResult } & Pick<PreviewProps, 'operation'>) {
  const change = before === undefined ? 0 : now - before;
  return (
    <p class="preview-count">
      can {operation === 'select' ? 'read' : operation} <strong class="number">{now}</strong> of <span class="number">{total}</span> rows
      {change !== 0 && (
        <span class={`badge ${change > 0 ? 'badge-accent' : 'badge-warn'}`}>
          {change > 0 ? '+' : '−'}
          {Math.abs(change)} compared to stored
        </span>
      )}
    </p>
  );
}

function PreviewRows({
  result,
  shown,
  info,
  draft,
  values,
}: { readonly result: PreviewResult; readonly shown: readonly string[]; readonly values: Values } & Pick<PreviewProps, 'info' | 'draft'>) {
  const [side, setSide] = useState<'included' | 'excluded'>('included');
  const [why, setWhy] = useState<JsonObject | null>(null);
  const list = result[side];
  return (
    <>
      <Segments
        name="Preview rows"
        options={[
          ['included', 'Included'],
          ['excluded', 'Excluded'],
        ]}
        chosen={side}
        onChoose={(next) => {
          setSide(next);
          setWhy(null);
        }}
      />
      {list.length === 0 ? (
        <p class="muted small">{side === 'included' ? 'No rows' : 'No rows are excluded'}</p>
      ) : (
        <ListTable
          name="Preview rows"
          columns={[...(shown.length === 0 ? ['Row'] : shown), ...(side === 'excluded' ? [{ hidden: 'Reason' }] : [])]}
          class="small"
        >
          {list.map((row, index) => (
            <tr key={index}>
              {shown.length === 0 && <td class="number">{index + 1}</td>}
              {shown.map((name) => (
                <td key={name}>{cellText(row[name])?.slice(0, 40) ?? <span class="null">null</span>}</td>
              ))}
              {side === 'excluded' && (
                <td>
                  <Button kind="link" name={`Why is row ${index + 1} excluded?`} onClick={() => setWhy(row)}>
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
  );
}

/** Columns shown of each row. */
const SHOWN_COLUMNS = 3;

/**
 * Returns the first columns that the role may read: those of the draft, and for other operations than select those of its stored select
 * permission. The rows are read as admin, so any other column would show more than the role sees.
 */
function shownColumns({ info, role, operation, draft }: PreviewProps): readonly string[] {
  const stored = memberOf(info.entry, 'select_permissions', 'role', role)?.['permission'];
  const { columns = [] } = operation === 'select' ? draft : objectOf(stored);
  const allowed = info.columns.filter(({ name }) => columns === '*' || (isList(columns) && columns.includes(name)));
  return allowed.flatMap(({ name }) => info.columnNames.get(name) ?? []).slice(0, SHOWN_COLUMNS);
}

/** Fields of a row: the shown columns, and the key to find the row again. */
function fieldsOf(props: PreviewProps): string {
  const fields = new Set([...shownColumns(props), ...keyFields(props.info)]);
  return fields.size === 0 ? '__typename' : [...fields].join(' ');
}

/** Reads the rows once the draft has not changed for a moment. */
function usePreview(props: PreviewProps, values: Values) {
  const { info, draft, saved } = props;
  return useResource(
    async (signal) => {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      return signal.aborted ? undefined : readDraftRows(props, values, signal);
    },
    printJson([printJson(draft['filter'] ?? {}), printJson(values), String(saved === null), fieldsOf(props), info.version]),
  );
}

/** @throws NotPreviewable */
async function readDraftRows(props: PreviewProps, values: Values, signal: AbortSignal): Promise<PreviewResult | undefined> {
  const { info, operation, draft, saved } = props;
  const { names } = info;
  if (names === undefined) return undefined;
  const unfinished = partsOfFilter(filterOf(draft)).find(({ node }) => isUnfinished(node, info));
  if (unfinished?.node.kind === 'test') throw new NotPreviewable(`Enter a value for ${unfinished.node.column}`, true);
  let where: JsonObject;
  try {
    where = whereOfFilter(filterOf(draft), values, info.columnNames);
  } catch (error) {
    if (!(error instanceof NotPreviewable) || error.needsValue || operation !== 'select') throw error;
    return previewDraft(props, values, signal);
  }
  let before: JsonObject | undefined;
  try {
    before = saved === null ? undefined : whereOfFilter(filterOf(saved), values, info.columnNames);
  } catch (error) {
    if (!(error instanceof NotPreviewable)) throw error;
  }
  const count = (alias: string, condition: JsonObject): string =>
    `${alias}: ${names.selectAggregate}(where: ${literal(condition)}) { aggregate { count } }`;
  const rows = (alias: string, condition: JsonObject): string =>
    `${alias}: ${names.select}(where: ${literal(condition)}, limit: ${ROWS}) { ${fieldsOf(props)} }`;
  const fields = [
    count('total', {}),
    count('now', where),
    ...(before === undefined ? [] : [count('before', before)]),
    rows('included', where),
    rows('excluded', { _not: where }),
  ].join(' ');
  const query = `query Preview { ${names.namespace === undefined ? fields : `namespace: ${names.namespace} { ${fields} }`} }`;
  const found = await graphql({ query }, ADMIN, signal);
  return readPreview(names.namespace === undefined ? found : found['namespace']);
}

function readPreview(json: Json | undefined): PreviewResult {
  const result = objectOf(json);
  const count = (key: string): number => {
    const found = result[key];
    return isObject(found) && isObject(found['aggregate']) ? Number(found['aggregate']['count']) : 0;
  };
  const rows = (key: string): readonly JsonObject[] => objectsIn(result[key]);
  return {
    total: count('total'),
    now: count('now'),
    before: result['before'] === undefined ? undefined : count('before'),
    included: rows('included'),
    excluded: rows('excluded'),
  };
}

/** Previews a condition that no `where` argument can express: the service runs the role's query on the draft permission. */
async function previewDraft(props: PreviewProps, values: Values, signal: AbortSignal): Promise<PreviewResult | undefined> {
  const { table, info, role, draft, saved } = props;
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
  const queryOf = (fields: string): string =>
    `query Preview { ${names.namespace === undefined ? fields : `namespace: ${names.namespace} { ${fields} }`} }`;
  const count = (alias: string): string => `${alias}: ${names.selectAggregate} { aggregate { count } }`;
  const { answers } = await previewChanges(steps, {
    queries: [
      {
        query: queryOf(`${count('now')} included: ${names.select}(limit: ${ROWS}) { ${fieldsOf(props)} }`),
        as: { role, variables: values },
      },
      { query: queryOf(count('total')), as: ADMIN },
    ],
    signal,
  });
  const [own, all] = answers.map((response) => {
    const [error] = isList(response['errors']) ? response['errors'].filter(isObject) : [];
    if (error !== undefined) throw new NotPreviewable(String(error['message']));
    const data = isObject(response['data']) ? response['data'] : {};
    return readPreview(names.namespace === undefined ? data : data['namespace']);
  });
  return own === undefined ? undefined : { ...own, total: all?.total ?? 0 };
}

/** Shows which parts of the condition a row fails. */
function Why({
  info,
  draft,
  values,
  row,
}: {
  readonly info: TableInfo;
  readonly draft: JsonObject;
  readonly values: Values;
  readonly row: JsonObject;
}) {
  const key = keyFields(info);
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
        { query: `query Why { ${names.namespace === undefined ? fields : `namespace: ${names.namespace} { ${fields} }`} }` },
        ADMIN,
        signal,
      );
      const response = names.namespace === undefined ? found : found['namespace'];
      return parts.map(({ text }, index) => {
        const rows = isObject(response) ? response[`p${index}`] : undefined;
        return { text, holds: isList(rows) && rows.length > 0 };
      });
    },
    printJson([row, draft]),
  );
  if (failure !== undefined) return <p class="banner banner-warn small">{failureOf(failure).message}</p>;
  return (
    <ul class="stack-tight small" aria-label="Why the row is excluded">
      {key.length === 0 && <li class="muted">The table has no primary key to find the row.</li>}
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
