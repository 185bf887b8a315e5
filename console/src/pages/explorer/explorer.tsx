import { DEFAULT_KIND } from '../../model/kinds.generated.ts';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Failure, failureOf, isAbort } from '../../api/failure.ts';
import { sendGraphql } from '../../api/graphql.ts';
import { administer } from '../../api/http.ts';
import { overview } from '../../api/overview.ts';
import { persona } from '../../api/persona.ts';
import { hasSecret } from '../../api/session.ts';
import { isReadOnly, READ_ONLY_REASON, sessionPrefixAliases } from '../../api/settings.ts';
import { subscribe } from '../../api/subscribe.ts';
import { copyText } from '../../browser/clipboard.ts';
import { addKey } from '../../browser/keys.ts';
import { base, place, setQuery } from '../../browser/place.ts';
import { placeOfPath } from '../../model/document-place.ts';
import { formatDocument, operationsOf, placeAt } from '../../model/graphql-document.ts';
import { isList, isObject, type Json, type JsonObject, parseJson } from '../../model/json.ts';
import { allTables } from '../../model/overview.ts';
import { type Persona, personaLabel, sessionOf } from '../../model/persona.ts';
import { curlOf, fetchOf } from '../../model/request-code.ts';
import { type RequestHeaders, requestHeaders, withoutAliases, withoutIdentity } from '../../model/request-headers.ts';
import { Button } from '../../parts/button.tsx';
import { CodeEditor, type EditorHandle } from '../../parts/code-editor.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Menu } from '../../parts/menu.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { Segments, tabPanel, Tabs } from '../../parts/tabs.tsx';
import { tell } from '../../parts/toast.tsx';
import { AddToCollection } from './add-to.tsx';
import { Answer } from './answer.tsx';
import { complete } from './complete.ts';
import { Explained } from './explained.tsx';
import { readHeaders } from './headers.ts';
import { type SideForm, SidePanel } from './side-panel.tsx';
import { addToHistory, changeDraft, chosenDraft, closeDraft, drafts, isUntouched, openDraft } from './tabs.ts';
import type { CodeMark } from '../../parts/code-editor-types.ts';
import type { Run } from './run.ts';

const SIDES = [
  ['schema', 'Schema'],
  ['saved', 'Saved'],
  ['history', 'History'],
] as const;

const NO_MARKS: readonly CodeMark[] = [];

const BLANK: Omit<Run, 'as'> = { answer: undefined, event: undefined, events: 0, failure: undefined, isRunning: false };

/** Queries, mutations and subscriptions, as the persona or as two of them side by side. */
export function Explorer() {
  const draft = drafts.value.find(({ id }) => id === chosenDraft.value) ?? drafts.value[0];
  const [runs, setRuns] = useState<readonly Run[]>([]);
  const [lower, setLower] = useState<'variables' | 'headers'>('variables');
  const [headers, setHeaders] = useState('');
  const [wrong, setWrong] = useState<string>();
  const [side, setSide] = useState<SideForm | null>(innerWidth > 1100 ? 'schema' : null);
  const [tab, setTab] = useState<'answer' | 'explain'>('answer');
  const [explained, setExplained] = useState<{ json?: Json; failure?: Failure }>({});
  const [adding, setAdding] = useState<'collection' | 'rest' | null>(null);
  const handle = useRef<EditorHandle | null>(null);
  /** The text that was answered: errors are about places of it. */
  const [ran, setRan] = useState<{ readonly text: string; readonly operation: string | undefined }>();
  const ending = useRef<(() => void)[]>([]);
  const as = persona.value;
  const { query } = place.value;
  useEffect(() => {
    // Another page hands over a document.
    const given = query.get('query');
    if (given === null) return;
    openDraft(given, query.get('variables') ?? '');
    setQuery({ query: undefined, variables: undefined });
  }, [query]);
  const stop = (): void => {
    for (const end of ending.current) end();
    ending.current = [];
    setRuns((before) => before.map((run) => ({ ...run, isRunning: false })));
  };
  useEffect(() => stop, []);
  useEffect(
    () =>
      addKey({
        keys: 'mod+s',
        does: 'format the document (Explorer)',
        run: () => draft !== undefined && changeDraft(draft.id, { text: formatDocument(draft.text) }),
      }),
    [draft],
  );
  const marks = useMemo(
    () => (ran !== undefined && ran.text === draft?.text ? marksOf(runs, ran.text, ran.operation) : NO_MARKS),
    [ran, runs, draft?.text],
  );
  if (draft === undefined) return null;

  const operations = operationsOf(draft.text);
  /** The operation under the cursor, of several. */
  const chosenOperation = () => {
    const at = handle.current?.selection().from ?? 0;
    return operations.find(({ from, to }) => at >= from && at <= to) ?? operations[0];
  };
  const requestOf = () => {
    const variables = draft.variables.trim() === '' ? undefined : labelled('Variables', () => parseJson(draft.variables));
    if (variables !== undefined && !isObject(variables)) throw new SyntaxError('Variables: they are an object');
    const { name } = chosenOperation() ?? {};
    return {
      query: draft.text,
      ...(variables === undefined ? {} : { variables }),
      ...(operations.length > 1 && name !== undefined ? { operationName: name } : {}),
    };
  };
  /** The headers that are sent; of another persona, without the role and the token that are written. */
  const headersFor = (other?: Persona): RequestHeaders =>
    labelled('Headers', () => {
      const given = withoutAliases(readHeaders(headers), sessionPrefixAliases);
      return other === undefined ? requestHeaders(as, given) : requestHeaders(other, withoutIdentity(given));
    });
  let asked = as;
  try {
    asked = headersFor().as;
  } catch {
    // What is wrong with the headers is shown when the document is run.
  }
  /** Among the fields where the cursor is; where it is elsewhere, as the last of the first operation. */
  const insert = (text: string): void => {
    const at = handle.current?.selection().from ?? 0;
    if (placeAt(draft.text, at).kind === 'fields') {
      handle.current?.insert(text);
      return;
    }
    const end = (operations[0]?.to ?? 0) - 1;
    const whole = end < 0 ? `${draft.text}{\n  ${text}}\n` : `${draft.text.slice(0, end).trimEnd()}\n  ${text}${draft.text.slice(end)}`;
    changeDraft(draft.id, { text: whole });
  };
  const run = async (other?: Persona): Promise<void> => {
    stop();
    setTab('answer');
    let request: { readonly query: string; readonly variables?: JsonObject };
    let all: readonly RequestHeaders[];
    try {
      request = requestOf();
      all = other === undefined ? [headersFor()] : [headersFor(), headersFor(other)];
      setWrong(undefined);
    } catch (error) {
      setWrong(error instanceof Error ? error.message : String(error));
      return;
    }
    addToHistory(draft.text, draft.variables);
    setRan({ text: draft.text, operation: operations.length > 1 ? chosenOperation()?.name : undefined });
    const isLive = chosenOperation()?.kind === 'subscription';
    setRuns(all.map((each) => ({ as: each.as, ...BLANK, isRunning: true })));
    const put = (index: number, change: (before: Run) => Run): void =>
      setRuns((before) => before.map((each, at) => (at === index ? change(each) : each)));
    await Promise.all(
      all.map(async (each, index) => {
        try {
          if (isLive) {
            const end = await subscribe(request, each, {
              next: (event) => put(index, (before) => ({ ...before, event, events: before.events + 1 })),
              failed: (message) => put(index, (before) => ({ ...before, failure: failureOf(new Error(message)), isRunning: false })),
              ended: () => put(index, (before) => ({ ...before, isRunning: false })),
            });
            ending.current.push(end);
            return;
          }
          const controller = new AbortController();
          ending.current.push(() => controller.abort());
          const answer = await sendGraphql(request, each, controller.signal);
          put(index, (before) => ({ ...before, answer, isRunning: false }));
        } catch (error) {
          if (!isAbort(error)) put(index, (before) => ({ ...before, failure: failureOf(error), isRunning: false }));
        }
      }),
    );
  };
  const explain = async (): Promise<void> => {
    setTab('explain');
    try {
      const { as: user } = headersFor();
      if (user.token !== undefined)
        throw new Failure('Explain takes a role and session variables: choose them as the persona, in place of the token.', {
          code: 'not-supported',
        });
      const json = await administer('v1/graphql/explain', { body: { query: requestOf() as JsonObject, user: sessionOf(user) } });
      setExplained({ json });
    } catch (error) {
      setExplained({ failure: failureOf(error) });
    }
  };
  const copy = (what: 'curl' | 'fetch'): void => {
    try {
      const request = headersFor();
      const options = { headers: request.headers, hasSecret: request.hasSecret && hasSecret.value, token: as.token };
      const text = (what === 'curl' ? curlOf : fetchOf)(`${base}v1/graphql`, requestOf() as JsonObject, options);
      setWrong(undefined);
      void copyText(text).then(() => tell(`Copied as ${what}`));
    } catch (error) {
      setWrong(failureOf(error).message);
    }
  };
  const others = [
    { role: 'admin', variables: {} },
    ...(overview.value?.roles ?? []).map((role): Persona => ({ role, variables: asked.variables })),
  ].filter(({ role }) => role !== asked.role || asked.token !== undefined);
  const isRunning = runs.some((each) => each.isRunning);
  const needsNoChange = isReadOnly && chosenOperation()?.kind === 'mutation' ? READ_ONLY_REASON : undefined;
  const untouched = isUntouched(draft.text);
  return (
    <div class="explorer">
      <h1 class="visually-hidden">Explorer</h1>
      <div class="explorer-bar row">
        <div class="draft-tabs" role="tablist" aria-label="Documents">
          {drafts.value.map((each) => (
            <span key={each.id} role="presentation" class={`draft-tab${each.id === draft.id ? ' is-chosen' : ''}`}>
              <button type="button" role="tab" aria-selected={each.id === draft.id} onClick={() => (chosenDraft.value = each.id)}>
                {operationsOf(each.text)[0]?.name ?? `query ${each.id}`}
              </button>
              {drafts.value.length > 1 && each.id === draft.id && (
                <Button kind="link" icon="cross" name="Close the document" onClick={() => closeDraft(each.id)} />
              )}
            </span>
          ))}
        </div>
        <Button small kind="quiet" icon="plus" name="New document" onClick={() => openDraft()} />
        <span class="grow" />
        {SIDES.map(([form, name]) => (
          <Button key={form} kind="quiet" small pressed={side === form} onClick={() => setSide(side === form ? null : form)}>
            {name}
          </Button>
        ))}
      </div>
      <div class={`explorer-body${side === null ? '' : ' has-side'}`}>
        {side !== null && (
          <SidePanel
            form={side}
            onInsert={insert}
            onOpen={(text, variables) => openDraft(text, variables)}
            onSave={() => setAdding('collection')}
          />
        )}
        <section class="explorer-edit" aria-label="Request">
          <div class="row">
            {isRunning ? (
              <Button kind="danger" icon="stop" onClick={stop}>
                Stop
              </Button>
            ) : (
              <Button kind="primary" icon="play" title="Ctrl+Enter" refusal={needsNoChange} onClick={() => void run()}>
                Run
              </Button>
            )}
            <Menu items={others.map((each) => ({ label: `${personaLabel(asked)}  |  ${personaLabel(each)}`, run: () => void run(each) }))}>
              Compare with …
            </Menu>
            <Button onClick={() => void explain()}>Explain</Button>
            <span class="grow" />
            <Menu
              icon="more"
              name="More"
              items={[
                { label: 'Format (Ctrl+S)', icon: 'edit', run: () => changeDraft(draft.id, { text: formatDocument(draft.text) }) },
                { label: 'Copy as curl', icon: 'copy', run: () => copy('curl') },
                { label: 'Copy as fetch', icon: 'copy', run: () => copy('fetch') },
                {
                  label: 'Add to a collection …',
                  icon: 'plus',
                  refusal: isReadOnly ? READ_ONLY_REASON : undefined,
                  run: () => setAdding('collection'),
                },
                {
                  label: 'Make a REST endpoint …',
                  icon: 'link',
                  refusal: isReadOnly ? READ_ONLY_REASON : undefined,
                  run: () => setAdding('rest'),
                },
              ]}
            />
          </div>
          <div class="explorer-editor">
            <CodeEditor
              key={draft.id}
              name="GraphQL document"
              language="graphql"
              height="100%"
              value={draft.text}
              handle={handle}
              marks={marks}
              onChange={(text) => changeDraft(draft.id, { text })}
              onRun={() => void (needsNoChange === undefined && run())}
              complete={(text, at) => complete(asked, text, at)}
            />
          </div>
          <Segments
            name="Below the document"
            options={[
              ['variables', 'Variables'],
              ['headers', 'Headers'],
            ]}
            chosen={lower}
            onChoose={setLower}
          />
          {wrong !== undefined && (
            <p class="banner banner-danger small" role="alert">
              {wrong}
            </p>
          )}
          {lower === 'variables' ? (
            <CodeEditor
              key={`${draft.id} variables`}
              name="Variables"
              language="json"
              height="120px"
              hint={'{"name": "value"}'}
              value={draft.variables}
              onChange={(variables) => changeDraft(draft.id, { variables })}
              onRun={() => void run()}
            />
          ) : (
            <CodeEditor
              key="headers"
              name="Headers of the request"
              language="json"
              height="120px"
              hint={'{"X-Svc-Use-Backend-Only-Permissions": "true"}'}
              value={headers}
              onChange={setHeaders}
              onRun={() => void run()}
            />
          )}
        </section>
        <section class="explorer-answer" aria-label="Answer">
          <Tabs
            name="Answer"
            tabs={[
              { id: 'answer', label: runs.length > 1 ? 'Answers' : 'Answer' },
              { id: 'explain', label: 'Explain' },
            ]}
            chosen={tab}
            onChoose={(id) => setTab(id === 'explain' ? 'explain' : 'answer')}
          />
          <div {...tabPanel(tab)} class="answers">
            {tab === 'explain' ? (
              explained.failure !== undefined ? (
                <ErrorBox error={shownError(explained.failure)} onRetry={() => void explain()} />
              ) : explained.json === undefined ? (
                <EmptyState
                  icon="info"
                  title="What would the database do?"
                  actions={<Button onClick={() => void explain()}>Explain the document</Button>}
                >
                  The SQL of each root field, and its plan.
                </EmptyState>
              ) : (
                <Explained json={explained.json} />
              )
            ) : runs.length === 0 ? (
              <Start untouched={untouched} as={asked} />
            ) : (
              runs.map((each, index) => <Answer key={index} run={each} {...(runs.length > 1 ? { other: runs[1 - index] } : {})} />)
            )}
          </div>
        </section>
      </div>
      {adding !== null && (
        <AddToCollection form={adding} text={draft.text} name={chosenOperation()?.name} onClose={() => setAdding(null)} />
      )}
    </div>
  );
}

/** Runs a reader of one of the editors; its errors say which. */
function labelled<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new SyntaxError(`${what}: ${failureOf(error).message}`);
  }
}

/** Where the errors of the answers are, in the document. */
function marksOf(runs: readonly Run[], text: string, operation: string | undefined): readonly CodeMark[] {
  return runs.flatMap(({ answer, event }) => {
    const json = answer?.json ?? event;
    const errors = isObject(json) && isList(json['errors']) ? json['errors'].filter(isObject) : [];
    return errors.flatMap(({ message, extensions }) => {
      const path = isObject(extensions) ? extensions['path'] : undefined;
      const place = typeof path === 'string' ? placeOfPath(text, path, operation) : undefined;
      return place === undefined ? [] : [{ ...place, message: String(message) }];
    });
  });
}

/** Three documents to begin with. */
function Start({ untouched, as }: { readonly untouched: boolean; readonly as: Persona }) {
  const { value: data } = overview;
  const tables =
    data === undefined
      ? []
      : allTables(data).filter(({ problem, relationships, kind }) => problem === undefined && relationships > 0 && kind === DEFAULT_KIND);
  const [table] = tables;
  if (data !== undefined && allTables(data).length === 0) {
    return (
      <EmptyState
        icon="explorer"
        title="The API is empty"
        actions={
          <a class="button button-primary" href="#/data">
            Track tables
          </a>
        }
      >
        Tracked tables become root fields.
      </EmptyState>
    );
  }
  const examples =
    table === undefined
      ? []
      : [
          { label: 'Rows', text: `query Rows {\n  ${table.name}(limit: 10) {\n    __typename\n  }\n}\n` },
          { label: 'How many', text: `query Count {\n  ${table.name}_aggregate {\n    aggregate {\n      count\n    }\n  }\n}\n` },
          { label: 'As they change', text: `subscription Live {\n  ${table.name}(limit: 10) {\n    __typename\n  }\n}\n` },
        ];
  return (
    <EmptyState
      icon="play"
      title="Run a document to see its answer"
      actions={
        untouched &&
        examples.map(({ label, text }) => (
          <Button key={label} onClick={() => changeDraft(chosenDraft.peek(), { text })}>
            {label}
          </Button>
        ))
      }
    >
      <kbd>Ctrl</kbd> <kbd>Enter</kbd> runs it as <strong>{personaLabel(as)}</strong>. The schema puts fields into the document.
    </EmptyState>
  );
}
