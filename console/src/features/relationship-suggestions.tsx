import { useState } from 'preact/hooks';
import { makeChange } from '../api/changes.ts';
import { readEntries } from '../api/entries.ts';
import { type Failure, failureOf } from '../api/failure.ts';
import { readKindOperation } from '../api/metadata.ts';
import { hasOperation } from '../api/operation-names.ts';
import { isReadOnly, READ_ONLY_REASON } from '../api/settings.ts';
import { useResource } from '../api/use-resource.ts';
import type { SourceOverview } from '../model/overview.ts';
import { createRelationshipStep, readSuggestions, type SuggestedRelationship } from '../model/relationship-names.ts';
import { labelOf } from '../model/steps.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { membersOf } from '../model/table-entry.ts';
import { Button } from '../parts/button.tsx';
import { ErrorBox } from '../parts/error-box.tsx';
import { Icon } from '../parts/icon.tsx';
import { ListTable } from '../parts/list-table.tsx';
import { Loading } from '../parts/loading.tsx';
import { shownError } from '../parts/shown-error.ts';

interface SuggestionsProps {
  readonly source: Pick<SourceOverview, 'name' | 'kind'>;
  readonly version: number;
  /** Limits the suggestions to one table. */
  readonly table?: Json;
  /** Names of fields of `table` in use, at `version`. */
  readonly usedNames?: readonly string[];
}

/** Relationships that foreign keys suggest and that do not exist yet, with editable names. */
export function SuggestedRelationships(props: SuggestionsProps) {
  const [names, setNames] = useState<Readonly<Record<string, string>>>({});
  const [skipped, setSkipped] = useState<ReadonlySet<string>>(new Set());
  const [failure, setFailure] = useState<Failure>();
  const { value, failure: unread, isLoading, reload } = useSuggestions(props);
  const create = async (chosen: readonly SuggestedRelationship[]): Promise<void> => {
    setFailure(undefined);
    try {
      await createRelationships(props.source, chosen);
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  if (unread !== undefined) return <ErrorBox error={shownError(unread)} onRetry={reload} />;
  if (value === undefined) return isLoading ? <Loading what="suggested relationships" /> : null;
  const chosen = value.filter((each) => !skipped.has(keyOf(each))).map((each) => ({ ...each, name: names[keyOf(each)] ?? each.name }));
  return (
    <section class="card">
      <header>
        <Icon name="link" />
        <h2 class="grow">
          Suggestions from foreign keys <span class="badge">{value.length}</span>
        </h2>
        {value.length > 0 && (
          <Button
            kind="primary"
            small
            refusal={isReadOnly ? READ_ONLY_REASON : chosen.length === 0 ? 'Select a relationship' : undefined}
            onClick={() => void create(chosen)}
          >
            Create {chosen.length === value.length ? 'all' : ''} {chosen.length}
          </Button>
        )}
      </header>
      {failure !== undefined && <ErrorBox error={shownError(failure)} />}
      {value.length === 0 ? (
        <p class="muted">All foreign keys between tracked tables have relationships.</p>
      ) : (
        <ListTable name="Suggested relationships" columns={[{ hidden: 'Selected' }, 'Table', 'Name', 'Target']}>
          {value.map((each) => {
            const key = keyOf(each);
            return (
              <Suggestion
                key={key}
                suggestion={each}
                name={names[key] ?? each.name}
                isChosen={!skipped.has(key)}
                onName={(name) => setNames({ ...names, [key]: name })}
                onChoose={(on) => setSkipped(new Set(on ? [...skipped].filter((other) => other !== key) : [...skipped, key]))}
              />
            );
          })}
        </ListTable>
      )}
    </section>
  );
}

function Suggestion({
  suggestion: { kind, table, name: suggested, columns, toTable, toColumns },
  name,
  isChosen,
  onName,
  onChoose,
}: {
  readonly suggestion: SuggestedRelationship;
  readonly name: string;
  readonly isChosen: boolean;
  onName(name: string): void;
  onChoose(isChosen: boolean): void;
}) {
  return (
    <tr>
      <td>
        <input
          type="checkbox"
          class="tick"
          aria-label={`Create ${suggested} of ${labelOf(table)}`}
          checked={isChosen}
          onChange={(event) => onChoose(event.currentTarget.checked)}
        />
      </td>
      <td>{labelOf(table)}</td>
      <td>
        <input
          class="input input-small"
          aria-label={`Name of the relationship from ${labelOf(table)} to ${labelOf(toTable)}`}
          value={name}
          spellcheck={false}
          onInput={(event) => onName(event.currentTarget.value)}
        />
      </td>
      <td>
        <span class="muted">{kind}</span> {labelOf(toTable)}{' '}
        <span class="muted small mono">
          {columns.join(', ')} → {toColumns.join(', ')}
        </span>
      </td>
    </tr>
  );
}

function useSuggestions({ source: { name, kind }, version, table, usedNames = [] }: SuggestionsProps) {
  return useResource(
    async (signal) => {
      if (!hasOperation(kind, 'suggest_relationships')) return [];
      const json = await readKindOperation(
        kind,
        'suggest_relationships',
        { source: name, omit_tracked: true, ...(table === undefined ? {} : { tables: [table] }) },
        { signal },
      );
      const used = table === undefined ? await namesInUse({ name, kind }, json, signal) : undefined;
      const all = readSuggestions(json, (label) => used?.get(label) ?? usedNames);
      return table === undefined ? all : all.filter((each) => labelOf(each.table) === labelOf(table));
    },
    `${name} ${version} ${JSON.stringify(table ?? null)}`,
  );
}

/** Maximum number of tables whose entries are read for their names. */
const MAX_READ = 200;
const LISTS = ['object_relationships', 'array_relationships', 'remote_relationships', 'computed_fields'];

/** Returns the names of relationships and computed fields of the tables with suggestions, by table. @throws Failure */
async function namesInUse(
  { name: source, kind }: SuggestionsProps['source'],
  suggestions: Json,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const tables = new Map(readSuggestions(suggestions, () => []).map(({ table }) => [labelOf(table), table]));
  if (tables.size === 0) return new Map();
  const addresses = [...tables.values()].slice(0, MAX_READ).map((table) => ({ source, kind, table }));
  const { entries } = await readEntries(addresses, [], signal);
  const namesOf = (entry: JsonObject | null): readonly string[] =>
    LISTS.flatMap((key) => membersOf(entry, key).map((member) => String(member['name'])));
  return new Map([...tables.keys()].map((label, index) => [label, namesOf(entries[index] ?? null)]));
}

/** @throws Failure */
async function createRelationships({ name, kind }: SuggestionsProps['source'], chosen: readonly SuggestedRelationship[]): Promise<void> {
  await makeChange({
    title: chosen.length === 1 ? `Create relationship ${chosen[0]?.name}` : `Create ${chosen.length} relationships`,
    steps: () => chosen.map((each) => createRelationshipStep(name, kind, each)),
    inverse: chosen.map((each) => ({
      type: `${kind}_drop_relationship`,
      args: { source: name, table: each.table, relationship: each.name },
    })),
  });
}

function keyOf({ kind, table, columns, toTable, toColumns }: SuggestedRelationship): string {
  return [kind, labelOf(table), columns.join(), labelOf(toTable), toColumns.join()].join(' ');
}
