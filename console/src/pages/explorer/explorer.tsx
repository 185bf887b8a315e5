import { useState } from 'preact/hooks';
import { overview } from '../../api/overview.ts';
import { isReadOnly, READ_ONLY_REASON, readOnlyRefusal } from '../../api/settings.ts';
import { operationsOf } from '../../model/graphql-document.ts';
import { type Persona, personaLabel } from '../../model/persona.ts';
import { Button } from '../../parts/button.tsx';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { DraftTabs } from '../../parts/draft-tabs.tsx';
import { Menu } from '../../parts/menu.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { Segments, tabPanel, Tabs } from '../../parts/tabs.tsx';
import { AddToCollection } from './add-to.tsx';
import { ProblemLine } from './problem-line.tsx';
import { ResponseView } from './response-view.tsx';
import { CodeDialog } from './code-dialog.tsx';
import { complete } from './complete.ts';
import { Explained } from './explained.tsx';
import { type SideForm, SidePanel } from './side-panel.tsx';
import { Start } from './start.tsx';
import { chooseEndpoint, endpoint, isUntouched, type QueryTab, queryTabs } from './tabs.ts';
import { type ExplorerState, useExplorer } from './use-explorer.ts';

const SIDES = [
  ['schema', 'Schema'],
  ['docs', 'Docs'],
  ['saved', 'Saved'],
  ['history', 'History'],
] as const;

interface ViewProps {
  readonly draft: QueryTab;
  readonly state: ExplorerState;
}

/** Queries, mutations and subscriptions, as the persona or as two personas side by side. */
export function Explorer() {
  const draft = queryTabs.chosen.value;
  const state = useExplorer(draft);
  const [side, setSide] = useState<SideForm | null>(matchMedia('(max-width: 68.75em)').matches ? null : 'schema');
  const [adding, setAdding] = useState<'collection' | 'rest' | null>(null);
  return (
    <div class="explorer">
      <h1 class="visually-hidden">Explorer</h1>
      <div class="explorer-bar row">
        <DraftTabs
          name="Query tabs"
          tabs={queryTabs.all.value.map(({ id, text }) => ({ id, label: operationsOf(text)[0]?.name ?? `query ${id}` }))}
          chosen={draft.id}
          onChoose={queryTabs.choose}
          onClose={queryTabs.close}
          onNew={() => queryTabs.open()}
        />
        <span class="grow" />
        <span class="row-tight">
          {SIDES.map(([form, name]) => (
            <Button key={form} kind="quiet" small pressed={side === form} onClick={() => setSide(side === form ? null : form)}>
              {name}
            </Button>
          ))}
        </span>
      </div>
      <div class={`explorer-body${side === null ? '' : ' has-side'}`}>
        {side !== null && (
          <SidePanel
            form={side}
            as={state.schema}
            onInsert={state.insert}
            onOpen={(text, variables) => queryTabs.open({ text, variables })}
            onSave={() => setAdding('collection')}
          />
        )}
        <RequestPane draft={draft} state={state} onAdd={setAdding} />
        <ResponsePane draft={draft} state={state} />
      </div>
      {adding !== null && (
        <AddToCollection form={adding} text={draft.text} name={state.chosenOperation()?.name} onClose={() => setAdding(null)} />
      )}
    </div>
  );
}

function RequestPane({ draft, state, onAdd }: ViewProps & { onAdd(form: 'collection' | 'rest'): void }) {
  const { marks, handle, schema, run } = state;
  const refusal = isReadOnly && state.chosenOperation()?.kind === 'mutation' ? READ_ONLY_REASON : undefined;
  return (
    <section class="explorer-edit" aria-label="Request">
      <RequestActions draft={draft} state={state} refusal={refusal} onAdd={onAdd} />
      <div class="explorer-editor">
        <CodeEditor
          key={draft.id}
          name="Query editor"
          language="graphql"
          height="100%"
          value={draft.text}
          handle={handle}
          marks={marks}
          onChange={(text) => queryTabs.update(draft.id, { text })}
          onRun={() => void (refusal === undefined && run())}
          complete={(text, at) => complete(schema, text, at)}
        />
      </div>
      <ProblemLine draft={draft} problems={state.problems} onShow={({ from, to }) => handle.current?.select(from, to)} />
      <RequestInputs draft={draft} state={state} />
    </section>
  );
}

function RequestActions({
  state,
  refusal,
  onAdd,
}: ViewProps & { readonly refusal: string | undefined; onAdd(form: 'collection' | 'rest'): void }) {
  const { isRunning, stop, run, explain, format, copyCurl, codeOf, schema: effective } = state;
  const [showsCode, setShowsCode] = useState(false);
  const others = [
    { role: 'admin', variables: {} },
    ...(overview.value?.roles ?? []).map((role): Persona => ({ role, variables: effective.variables })),
  ].filter(({ role }) => role !== effective.role || effective.token !== undefined);
  return (
    <div class="row">
      {isRunning ? (
        <Button kind="danger" icon="stop" onClick={stop}>
          Stop
        </Button>
      ) : (
        <Button kind="primary" icon="play" title="Ctrl+Enter" refusal={refusal} onClick={() => void run()}>
          Run
        </Button>
      )}
      <Menu items={others.map((each) => ({ label: `${personaLabel(effective)}  |  ${personaLabel(each)}`, run: () => void run(each) }))}>
        Compare with …
      </Menu>
      <Button onClick={() => void explain()}>Explain</Button>
      <span class="grow" />
      {showsCode && <CodeDialog codeOf={codeOf} onClose={() => setShowsCode(false)} />}
      <Button
        kind="quiet"
        title="Sends requests to /v1/relay, and reads the schema for Relay"
        pressed={endpoint.value === 'v1/relay'}
        onClick={() => chooseEndpoint(endpoint.peek() === 'v1/relay' ? 'v1/graphql' : 'v1/relay')}
      >
        Relay
      </Button>
      <Menu
        icon="more"
        name="More"
        items={[
          { label: 'Format (Ctrl+S)', icon: 'edit', run: format },
          { label: 'Copy as curl', icon: 'copy', run: () => void copyCurl() },
          { label: 'Code …', icon: 'explorer', run: () => setShowsCode(true) },
          { label: 'Add to collection …', icon: 'plus', refusal: readOnlyRefusal, run: () => onAdd('collection') },
          { label: 'Create REST endpoint …', icon: 'link', refusal: readOnlyRefusal, run: () => onAdd('rest') },
        ]}
      />
    </div>
  );
}

/** Variables and headers, one editor at a time. */
function RequestInputs({ draft, state }: ViewProps) {
  const [shown, setShown] = useState<'variables' | 'headers'>('variables');
  const { requestError, headers, setHeaders, run } = state;
  return (
    <>
      <Segments
        name="Variables and headers"
        options={[
          ['variables', 'Variables'],
          ['headers', 'Headers'],
        ]}
        chosen={shown}
        onChoose={setShown}
      />
      {requestError !== undefined && (
        <p class="banner banner-danger small" role="alert">
          {requestError}
        </p>
      )}
      {shown === 'variables' ? (
        <CodeEditor
          key={`${draft.id} variables`}
          name="Variables"
          language="json"
          height="7.5rem"
          hint={'{"name": "value"}'}
          value={draft.variables}
          marks={state.problems.variables}
          onChange={(variables) => queryTabs.update(draft.id, { variables })}
          onRun={() => void run()}
        />
      ) : (
        <CodeEditor
          key="headers"
          name="Request headers"
          language="json"
          height="7.5rem"
          hint={'{"X-Svc-Use-Backend-Only-Permissions": "true"}'}
          value={headers}
          onChange={setHeaders}
          onRun={() => void run()}
        />
      )}
    </>
  );
}

function ResponsePane({ draft, state }: ViewProps) {
  const { runs, tab, setTab, explained, explain, schema } = state;
  return (
    <section class="explorer-response" aria-label="Response">
      <Tabs
        name="Response"
        tabs={[
          { id: 'response', label: runs.length > 1 ? 'Responses' : 'Response' },
          { id: 'explain', label: 'Explain' },
        ]}
        chosen={tab}
        onChoose={(id) => setTab(id === 'explain' ? 'explain' : 'response')}
      />
      <div {...tabPanel(tab)} class="responses">
        {tab === 'response' && runs.length === 0 && <Start untouched={isUntouched(draft.text)} as={schema} />}
        {tab === 'response' &&
          runs.map((each, index) => (
            <ResponseView key={index} run={each} document={state.sentDocument} {...(runs.length > 1 ? { other: runs[1 - index] } : {})} />
          ))}
        {tab === 'explain' && explained.failure !== undefined && (
          <ErrorBox error={shownError(explained.failure)} onRetry={() => void explain()} />
        )}
        {tab === 'explain' && explained.failure === undefined && explained.json !== undefined && <Explained json={explained.json} />}
        {tab === 'explain' && explained.failure === undefined && explained.json === undefined && (
          <EmptyState icon="info" title="Query plan" actions={<Button onClick={() => void explain()}>Explain query</Button>}>
            The SQL and the execution plan of each root field.
          </EmptyState>
        )}
      </div>
    </section>
  );
}
