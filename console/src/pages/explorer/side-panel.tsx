import { useState } from 'preact/hooks';
import { type FieldType, readType, rootFields, rootTypes, type SchemaPersona, type SchemaType } from '../../api/types.ts';
import { useResource } from '../../api/use-resource.ts';
import type { OperationKind } from '../../model/graphql-document.ts';
import { personaLabel } from '../../model/persona.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Search } from '../../parts/field.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { Segments } from '../../parts/tabs.tsx';
import { VirtualList } from '../../parts/virtual-list.tsx';
import { DocsPanel } from './docs-panel.tsx';
import { SavedPanel } from './saved-panel.tsx';
import { queryHistory, star } from './tabs.ts';

export type SideForm = 'schema' | 'docs' | 'saved' | 'history';

interface SidePanelProps {
  readonly form: SideForm;
  readonly as: SchemaPersona;
  onInsert(text: string): void;
  onOpen(text: string, variables: string): void;
  onSave(): void;
}

export function SidePanel({ form, as, onInsert, onOpen, onSave }: SidePanelProps) {
  return (
    <aside class="explorer-side">
      {form === 'schema' ? (
        <SchemaPanel as={as} onInsert={onInsert} />
      ) : form === 'docs' ? (
        <DocsPanel as={as} />
      ) : form === 'saved' ? (
        <SavedPanel onOpen={(text) => onOpen(text, '')} onSave={onSave} />
      ) : (
        <HistoryPanel onOpen={onOpen} />
      )}
    </aside>
  );
}

/** Schema of the persona, read type by type. */
function SchemaPanel({ as, onInsert }: { readonly as: SchemaPersona; onInsert(text: string): void }) {
  const [operation, setOperation] = useState<OperationKind>('query');
  const [path, setPath] = useState<readonly FieldType[]>([]);
  const [filter, setFilter] = useState('');
  const { value, failure, reload } = useResource(
    () => readSelection(as, operation, path),
    JSON.stringify([as, operation, path.map(({ field }) => field)]),
  );
  const fields = (value?.fields ?? []).filter(({ field }) => field.toLowerCase().includes(filter.toLowerCase()));
  const open = (next: readonly FieldType[]): void => {
    setPath(next);
    setFilter('');
  };
  return (
    <>
      <Segments
        name="Operation"
        options={[
          ['query', 'query'],
          ['mutation', 'mutation'],
          ['subscription', 'subscription'],
        ]}
        chosen={operation}
        onChoose={(next) => {
          setOperation(next);
          open([]);
        }}
      />
      <Search name="Filter fields" value={filter} onInput={setFilter} />
      {path.length > 0 && <Crumbs operation={operation} path={path} onChoose={(to) => open(path.slice(0, to))} />}
      {value?.description !== undefined && value.description !== '' && <p class="muted small">{value.description}</p>}
      {value !== undefined && value.arguments.length > 0 && <Arguments fields={value.arguments} of={path.at(-1)?.field} />}
      {failure !== undefined && <ErrorBox error={shownError(failure)} onRetry={reload} />}
      {value === undefined && failure === undefined && <Loading what="the schema" />}
      {value !== undefined && fields.length === 0 && (
        <EmptyState icon="search" title={filter === '' ? `No fields for ${personaLabel(as)}` : 'No matches'} />
      )}
      <VirtualList
        name="Fields"
        count={fields.length}
        row={(index) => {
          const field = fields[index];
          return field && <SchemaField key={field.field} as={as} field={field} onInsert={onInsert} onOpen={() => open([...path, field])} />;
        }}
      />
    </>
  );
}

interface Selection {
  readonly fields: readonly FieldType[];
  readonly description: string;
  /** Arguments of the field at the end of the path. */
  readonly arguments: readonly FieldType[];
}

/** Reads the fields below a path of fields. */
async function readSelection(as: SchemaPersona, operation: OperationKind, path: readonly FieldType[]): Promise<Selection> {
  const last = path.at(-1);
  const root = (await rootTypes(as))[operation];
  if (last === undefined)
    return { fields: root === undefined ? [] : [...(await rootFields(as, root)).values()], description: '', arguments: [] };
  const type = await readType(as, last.name);
  // Root fields are read without their arguments.
  const whole = path.length > 1 || root === undefined ? last : (await readType(as, root))?.fields.get(last.field);
  return { fields: [...(type?.fields.values() ?? [])], description: type?.description ?? '', arguments: whole?.arguments ?? [] };
}

/** @param onChoose called with the number of fields of the path to keep */
function Crumbs({
  operation,
  path,
  onChoose,
}: {
  readonly operation: OperationKind;
  readonly path: readonly FieldType[];
  onChoose(to: number): void;
}) {
  return (
    <div class="row-tight crumbs small">
      <Button kind="link" onClick={() => onChoose(0)}>
        {operation}
      </Button>
      {path.map(({ field }, index) => (
        <>
          <span class="muted">›</span>
          <Button kind="link" onClick={() => onChoose(index + 1)}>
            {field}
          </Button>
        </>
      ))}
    </div>
  );
}

function Arguments({ fields, of }: { readonly fields: readonly FieldType[]; readonly of: string | undefined }) {
  return (
    <details class="small">
      <summary>
        {fields.length} {fields.length === 1 ? 'argument' : 'arguments'} of {of}
      </summary>
      <dl class="stack-tight">
        {fields.map((each) => (
          <div key={each.field}>
            <dt class="mono">
              {each.field}: <span class="muted">{each.text}</span>
            </dt>
            <dd class="muted">{each.description}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

function SchemaField({
  as,
  field,
  onInsert,
  onOpen,
}: {
  readonly as: SchemaPersona;
  readonly field: FieldType;
  onInsert(text: string): void;
  onOpen(): void;
}) {
  const label = (
    <>
      <span class="ellipsis">{field.field}</span> <span class="muted small ellipsis">{field.text}</span>
    </>
  );
  return (
    <div class="schema-row" title={field.description}>
      <Button small kind="quiet" icon="plus" name={`Insert ${field.field}`} onClick={() => void textOf(as, field).then(onInsert)} />
      {field.kind === 'OBJECT' || field.kind === 'INTERFACE' ? (
        <button type="button" class="schema-field" onClick={onOpen}>
          {label}
        </button>
      ) : (
        <span class="schema-field">{label}</span>
      )}
    </div>
  );
}

const MAX_FIELDS = 8;

/** Returns the text of a field with the scalar fields of its type. */
async function textOf(as: SchemaPersona, field: FieldType): Promise<string> {
  if (field.kind !== 'OBJECT') return `${field.field}\n`;
  const type = await readType(as, field.name);
  const rows = await nodeOf(as, type);
  if (rows !== undefined) {
    return `${field.field}(first: 10) {\n    edges {\n      node {\n        ${simpleFields(rows).join('\n        ')}\n      }\n    }\n  }\n`;
  }
  const limit = field.text.startsWith('[') ? '(limit: 10)' : '';
  return `${field.field}${limit} {\n    ${simpleFields(type).join('\n    ')}\n  }\n`;
}

/** Type of the rows of a connection; undefined for other types. */
async function nodeOf(as: SchemaPersona, type: SchemaType | undefined): Promise<SchemaType | undefined> {
  const edges = as.endpoint === 'v1/relay' ? type?.fields.get('edges') : undefined;
  const node = edges === undefined ? undefined : (await readType(as, edges.name))?.fields.get('node');
  return node === undefined ? undefined : readType(as, node.name);
}

function simpleFields(type: SchemaType | undefined): readonly string[] {
  const simple = [...(type?.fields.values() ?? [])].filter(({ kind }) => kind === 'SCALAR' || kind === 'ENUM').slice(0, MAX_FIELDS);
  return simple.length === 0 ? ['__typename'] : simple.map(({ field }) => field);
}

function HistoryPanel({ onOpen }: { onOpen(text: string, variables: string): void }) {
  const [filter, setFilter] = useState('');
  const found = queryHistory.value
    .filter(({ text }) => text.toLowerCase().includes(filter.toLowerCase()))
    .toSorted((a, b) => Number(b.isStarred) - Number(a.isStarred));
  return (
    <>
      <Search name="Filter history" value={filter} onInput={setFilter} />
      {found.length === 0 ? (
        <EmptyState icon="history" title="No history yet" />
      ) : (
        <ul class="history-list">
          {found.map((entry) => (
            <li key={entry.at + entry.text} class="row-tight">
              <Button small kind="quiet" icon="star" pressed={entry.isStarred} name="Pin to top" onClick={() => star(entry)} />
              <button type="button" class="history-entry" onClick={() => onOpen(entry.text, entry.variables)}>
                <code class="ellipsis">
                  {entry.text
                    .replace(/#[^\n]*/g, '')
                    .replace(/\s+/g, ' ')
                    .trim()}
                </code>
                <span class="muted small">{new Date(entry.at).toLocaleString()}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
