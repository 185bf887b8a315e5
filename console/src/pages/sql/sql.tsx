import { useEffect, useState } from 'preact/hooks';
import type { ConsoleForm } from '../../../../packages/model/console-form.ts';
import { overview } from '../../api/overview.ts';
import { isReadOnly, readOnlyRefusal } from '../../api/settings.ts';
import { copyText, download } from '../../browser/clipboard.ts';
import { hrefOf, place, setQuery } from '../../browser/place.ts';
import { sqlHistory } from '../../browser/sql-history.ts';
import { SqlFailure } from '../../features/sql-failure.tsx';
import { csvOf, tsvOf } from '../../model/delimited.ts';
import { isObject } from '../../model/json.ts';
import { KINDS } from '../../model/kinds.generated.ts';
import type { SourceOverview } from '../../model/overview.ts';
import { STANDARD_LEXIS, statementAt, statementsOf } from '../../model/sql-statements.ts';
import { labelOf } from '../../model/steps.ts';
import { Button } from '../../parts/button.tsx';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { DraftTabs } from '../../parts/draft-tabs.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Check } from '../../parts/field.tsx';
import { Grid } from '../../parts/grid.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Menu } from '../../parts/menu.tsx';
import { Plan } from './plan.tsx';
import type { SqlResult } from './result.ts';
import { SavedDialog, SaveDialog } from './saved.tsx';
import { closeSqlTab, labelOfTab, openText, sqlTabs, updateOpenTab } from './tabs.ts';
import { useColumns } from './use-columns.ts';
import { type SqlState, useSql } from './use-sql.ts';

/** SQL as the administrator of a source. */
export function Sql() {
  const data = overview.value;
  const sourceName = place.value.query.get('source');
  const source = data?.sources.find(({ name }) => name === sourceName) ?? data?.sources[0];
  const { editor = 'sql', lexis = STANDARD_LEXIS, examples = [], explain } = KINDS[source?.kind ?? ''] ?? {};
  const state = useSql(source, lexis);
  const { result, plan, failure, marks, newTables, hasTracked, handle, run } = state;
  const { id, text } = sqlTabs.chosen.value;
  const columns = useColumns(source, text, data?.version ?? 0);
  const [hasSelection, setHasSelection] = useState(false);
  const hasSeveral = statementsOf(text, lexis).length > 1;
  if (data !== undefined && source === undefined) return <NoSource />;
  return (
    <div class="page page-fill">
      <Header sources={data?.sources ?? []} source={source} options={state.options} />
      <div class="row">
        <DraftTabs
          name="SQL tabs"
          tabs={sqlTabs.all.value.map((tab) => ({ id: tab.id, label: labelOfTab(tab) }))}
          chosen={id}
          onChoose={sqlTabs.choose}
          onClose={closeSqlTab}
          onNew={() => openText('')}
        />
      </div>
      <CodeEditor
        key={`${editor} ${id}`}
        name="SQL"
        language={editor}
        height="min(34vh, 18.75rem)"
        hint="select …"
        value={text}
        marks={marks}
        tables={columns.tables}
        handle={handle}
        rangeAt={(all, at) => (statementsOf(all, lexis).length > 1 ? statementAt(all, at, lexis) : undefined)}
        complete={columns.complete}
        onSelect={setHasSelection}
        onChange={(next) => updateOpenTab({ text: next })}
        onRun={() => void run(false)}
      />
      <RunBar state={state} hasSeveral={hasSeveral} hasSelection={hasSelection} explain={explain} />
      {failure !== undefined && <SqlFailure failure={failure} onCascade={state.runWithCascade} />}
      {newTables.length > 0 && (
        <div class="banner banner-accent" role="status">
          <Icon name="table" />
          <span class="grow">New tables: {newTables.map(labelOf).join(', ')}</span>
          <Button kind="link" onClick={() => void state.trackNewTables()}>
            Track {newTables.length} {newTables.length === 1 ? 'table' : 'tables'}
          </Button>
        </div>
      )}
      {hasTracked && newTables.length === 0 && source !== undefined && (
        <div class="banner banner-accent" role="status">
          <Icon name="link" />
          <span class="grow">The tables are now in the API. Next, add relationships for their foreign keys.</span>
          <a href={hrefOf(['data', source.name], { tab: 'relationships' })}>Add relationships</a>
        </div>
      )}
      {plan !== undefined && failure === undefined && <Plan node={plan} />}
      {result !== undefined && failure === undefined && <Result result={result} />}
      {result === undefined && plan === undefined && failure === undefined && text.trim() === '' && (
        <EmptyState
          icon="sql"
          title="Example statements"
          actions={examples.map(({ label: name, sql }) => (
            <Button key={name} onClick={() => openText(sql)}>
              {name}
            </Button>
          ))}
        />
      )}
    </div>
  );
}

function NoSource() {
  return (
    <div class="page">
      <EmptyState
        icon="sql"
        title="No source"
        actions={
          <a class="button" href={hrefOf(['data', '+'])}>
            Connect a database
          </a>
        }
      />
    </div>
  );
}

function Header({
  sources,
  source,
  options,
}: {
  readonly sources: readonly SourceOverview[];
  readonly source: SourceOverview | undefined;
  readonly options: SqlState['options'];
}) {
  const { readOnly, setReadOnly, cascade, setCascade, checksMetadata, setChecksMetadata } = options;
  return (
    <header>
      <h1>SQL</h1>
      <select class="select" aria-label="Source" value={source?.name} onChange={(event) => setQuery({ source: event.currentTarget.value })}>
        {sources.map(({ name, kind }) => (
          <option key={name} value={name}>
            {name} ({kind})
          </option>
        ))}
      </select>
      <Check label="Read only" title="The database rejects all writes" checked={readOnly} disabled={isReadOnly} onChange={setReadOnly} />
      <Check
        label="Cascade"
        title="Removes dependent objects from the metadata"
        checked={cascade}
        disabled={readOnly}
        onChange={setCascade}
      />
      <Check
        label="Check metadata"
        title="Rejects statements that make the metadata inconsistent"
        checked={checksMetadata}
        disabled={readOnly}
        onChange={setChecksMetadata}
      />
      <span class="grow" />
      <SavedButtons />
      {sqlHistory.value.length > 0 && (
        <Menu
          icon="history"
          items={sqlHistory.value.slice(0, 20).map((sql) => ({
            label: sql.replace(/\s+/g, ' ').slice(0, 60),
            run: () => openText(sql),
          }))}
        >
          History
        </Menu>
      )}
    </header>
  );
}

function SavedButtons() {
  const [dialog, setDialog] = useState<'save' | 'saved' | null>(null);
  const { text, name = '' } = sqlTabs.chosen.value;
  return (
    <>
      <Button
        icon="star"
        refusal={readOnlyRefusal ?? (text.trim() === '' ? 'Enter a statement first' : undefined)}
        onClick={() => setDialog('save')}
      >
        Save …
      </Button>
      <Button onClick={() => setDialog('saved')}>Saved …</Button>
      {dialog === 'save' && <SaveDialog text={text} name={name} onClose={() => setDialog(null)} />}
      {dialog === 'saved' && <SavedDialog onClose={() => setDialog(null)} />}
    </>
  );
}

function RunBar({
  state,
  hasSeveral,
  hasSelection,
  explain,
}: {
  readonly state: SqlState;
  readonly hasSeveral: boolean;
  readonly hasSelection: boolean;
  readonly explain: ConsoleForm['explain'];
}) {
  const { result, runningSince, run, stop } = state;
  const { columns, rows = [], milliseconds = 0 } = result ?? {};
  return (
    <div class="row">
      {runningSince === undefined ? (
        <>
          <Button
            kind="primary"
            icon="play"
            title="Ctrl+Enter: runs the selection or the statement at the cursor"
            onClick={() => void run(false)}
          >
            {hasSelection ? 'Run selection' : hasSeveral ? 'Run statement' : 'Run'}
          </Button>
          {hasSeveral && !hasSelection && <Button onClick={() => void run(true)}>Run all</Button>}
          {explain !== undefined && (
            <Menu
              items={[
                { label: 'Plan, without running it', run: () => void state.explain(explain.plan, false) },
                { label: 'Plan with times (runs the statement)', run: () => void state.explain(explain.analyze, true) },
              ]}
            >
              Explain …
            </Menu>
          )}
        </>
      ) : (
        <>
          <Button kind="danger" icon="stop" onClick={stop}>
            Stop
          </Button>
          <Elapsed since={runningSince} />
        </>
      )}
      <span class="grow" />
      {columns !== undefined && (
        <>
          <span class="muted number" role="status">
            {rows.length} {rows.length === 1 ? 'row' : 'rows'} · {Math.round(milliseconds)} ms
          </span>
          <Button small kind="quiet" icon="copy" onClick={() => void copyText(tsvOf([columns, ...rows]))}>
            TSV
          </Button>
          <Button small kind="quiet" icon="download" onClick={() => download('result.csv', csvOf([columns, ...rows]), 'text/csv')}>
            CSV
          </Button>
        </>
      )}
    </div>
  );
}

function Result({ result }: { readonly result: SqlResult }) {
  const { columns, rows, isTruncated, affected, milliseconds } = result;
  return (
    <>
      {affected.length > 0 && (
        <p class="banner banner-warn">
          Also changed in the metadata:{' '}
          {affected.map((each) => (isObject(each) ? String(each['name'] ?? each['type']) : String(each))).join(', ')}
        </p>
      )}
      {isTruncated && <p class="banner banner-warn">Only the first {rows.length} rows are shown.</p>}
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
