import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Failure, failureOf } from '../../api/failure.ts';
import { sendAsAdmin } from '../../api/http.ts';
import { persona } from '../../api/persona.ts';
import { hasSecret } from '../../api/session.ts';
import { sessionPrefixAliases } from '../../api/settings.ts';
import type { SchemaPersona } from '../../api/types.ts';
import { copyText } from '../../browser/clipboard.ts';
import { addKey } from '../../browser/keys.ts';
import { base, place, setQuery } from '../../browser/place.ts';
import { apolloOf, urqlOf } from '../../model/client-code.ts';
import { oneOperation } from '../../model/fragments.ts';
import { formatDocument, operationsOf, placeAt } from '../../model/graphql-document.ts';
import { isObject, type Json, type JsonObject, parseJsonText } from '../../model/json.ts';
import { type Persona, sessionOf } from '../../model/persona.ts';
import { curlOf, fetchOf } from '../../model/request-code.ts';
import { type RequestHeaders, requestHeaders, withoutAliases, withoutIdentity } from '../../model/request-headers.ts';
import type { CodeMark } from '../../parts/code-editor-types.ts';
import type { EditorHandle } from '../../parts/code-editor.tsx';
import { showToast } from '../../parts/toast.tsx';
import { readHeaders } from './headers.ts';
import type { SentDocument } from './response-error.tsx';
import { marksOf, type Run } from './run.ts';
import { addToHistory, endpoint, type QueryTab, queryTabs } from './tabs.ts';
import { typescriptOf } from './typescript-code.ts';
import { useProblems } from './use-problems.ts';
import { useRuns } from './use-runs.ts';

const NO_MARKS: readonly CodeMark[] = [];

/** Opens a document that another page passed in the address. */
function useDocumentInAddress(): void {
  const { query } = place.value;
  useEffect(() => {
    const text = query.get('query');
    if (text === null) return;
    queryTabs.open({ text, variables: query.get('variables') ?? '' });
    setQuery({ query: undefined, variables: undefined });
  }, [query]);
}

/** Runs a reader of one of the editors; its errors name the editor. */
function labelled<T>(editor: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new SyntaxError(`${editor}: ${failureOf(error).message}`);
  }
}

/** The request of the open document: its operation, variables and headers. */
function useRequest(draft: QueryTab, handle: { readonly current: EditorHandle | null }) {
  const as = persona.value;
  const [headers, setHeaders] = useState('');
  const operations = operationsOf(draft.text);
  /** The operation at the cursor, else the first one. */
  const chosenOperation = () => {
    const at = handle.current?.selection().from ?? 0;
    return operations.find(({ from, to }) => at >= from && at <= to) ?? operations[0];
  };
  const chosenIndex = (): number => operations.findIndex(({ from }) => from === chosenOperation()?.from);
  const readRequest = () => {
    const variables = draft.variables.trim() === '' ? undefined : labelled('Variables', () => parseJsonText(draft.variables));
    if (variables !== undefined && !isObject(variables)) throw new SyntaxError('Variables: expected a JSON object');
    const { name } = chosenOperation() ?? {};
    return {
      query: draft.text,
      ...(variables === undefined ? {} : { variables }),
      ...(operations.length > 1 && name !== undefined ? { operationName: name } : {}),
    };
  };
  /** The headers to send; for a comparison with `other`, without the role and the token of the request headers. */
  const readRequestHeaders = (other?: Persona): RequestHeaders =>
    labelled('Headers', () => {
      const custom = withoutAliases(readHeaders(headers), sessionPrefixAliases);
      return other === undefined ? requestHeaders(as, custom) : requestHeaders(other, withoutIdentity(custom));
    });
  let effective = as;
  try {
    effective = readRequestHeaders().as;
  } catch {
    // Errors in the headers are shown when the document is run.
  }
  /** `effective` is the persona that the headers of the request amount to. */
  return { operations, chosenOperation, chosenIndex, readRequest, readRequestHeaders, headers, setHeaders, effective };
}

type ExplorerRequest = ReturnType<typeof useRequest>;

/** The plan of the request. */
function useExplained({ readRequest, readRequestHeaders }: ExplorerRequest) {
  const [explained, setExplained] = useState<{ json?: Json; failure?: Failure }>({});
  const explain = async (): Promise<void> => {
    try {
      const { as: user } = readRequestHeaders();
      if (user.token !== undefined)
        throw new Failure('Explain does not support tokens. Act as a role with session variables instead.', { code: 'not-supported' });
      const isRelay = endpoint.peek() === 'v1/relay';
      const body: JsonObject = { query: readRequest() as JsonObject, user: sessionOf(user), ...(isRelay ? { is_relay: true } : {}) };
      const json = await sendAsAdmin('v1/graphql/explain', { body });
      setExplained({ json });
    } catch (error) {
      setExplained({ failure: failureOf(error) });
    }
  };
  return { explained, explain };
}

export const CODE_FORMS = ['curl', 'fetch', 'urql', 'Apollo', 'TypeScript'] as const;
export type CodeForm = (typeof CODE_FORMS)[number];

/** The request as code. @returns rejects if the request is invalid */
function useCode({ readRequest, readRequestHeaders, chosenOperation, chosenIndex }: ExplorerRequest, schema: SchemaPersona) {
  return async (form: CodeForm): Promise<string> => {
    const { headers, hasSecret: sendsSecret } = readRequestHeaders();
    const options = { headers, hasSecret: sendsSecret && hasSecret.value };
    const url = `${base}${schema.endpoint ?? 'v1/graphql'}`;
    const body = readRequest();
    /** For clients, which take a document of one operation. */
    const requestOfClient = () => ({
      url,
      query: oneOperation(body.query, chosenIndex()),
      variables: body.variables,
      kind: chosenOperation()?.kind ?? 'query',
    });
    switch (form) {
      case 'curl':
        return curlOf(url, body as JsonObject, options);
      case 'fetch':
        return fetchOf(url, body as JsonObject, options);
      case 'urql':
        return urqlOf(requestOfClient(), options);
      case 'Apollo':
        return apolloOf(requestOfClient(), options);
      case 'TypeScript':
        return typescriptOf(schema, body.query, chosenIndex());
    }
  };
}

/** Inserts at the cursor inside of a selection set, else at the end of the first operation. */
function insert(draft: QueryTab, editor: EditorHandle | null, text: string): void {
  const at = editor?.selection().from ?? 0;
  if (placeAt(draft.text, at).kind === 'fields') {
    editor?.insert(text);
    return;
  }
  const end = (operationsOf(draft.text)[0]?.to ?? 0) - 1;
  const whole = end < 0 ? `${draft.text}{\n  ${text}}\n` : `${draft.text.slice(0, end).trimEnd()}\n  ${text}${draft.text.slice(end)}`;
  queryTabs.update(draft.id, { text: whole });
}

/** The document that was sent, in which errors name places, while the editor still has it. */
function useSentDocument(draft: QueryTab, runs: readonly Run[], handle: { readonly current: EditorHandle | null }) {
  const [sent, setSent] = useState<{ readonly text: string; readonly operation: string | undefined }>();
  const isSame = sent?.text === draft.text;
  const marks = useMemo(() => (isSame ? marksOf(runs, sent.text, sent.operation) : NO_MARKS), [sent, runs, draft.text]);
  const sentDocument: SentDocument | undefined = isSame
    ? { text: draft.text, replace: ({ from, to }, name) => handle.current?.replace(from, to, name) }
    : undefined;
  return { setSent, marks, sentDocument };
}

/** Adds problems to the marks of errors, except where an error is marked already. */
function merged(marks: readonly CodeMark[], problems: readonly CodeMark[]): readonly CodeMark[] {
  if (marks.length === 0) return problems;
  return [...marks, ...problems.filter(({ from, to }) => !marks.some((each) => each.from < to && from < each.to))];
}

/** State of the explorer: the request of the open document, its answers, and what can be done with them. */
export function useExplorer(draft: QueryTab) {
  const handle = useRef<EditorHandle | null>(null);
  const request = useRequest(draft, handle);
  const { operations, chosenOperation, readRequest, readRequestHeaders, headers, setHeaders, effective } = request;
  const schema: SchemaPersona = { ...effective, endpoint: endpoint.value };
  const { runs, start, stop } = useRuns();
  const { explained, explain } = useExplained(request);
  const { setSent, marks, sentDocument } = useSentDocument(draft, runs, handle);
  const problems = useProblems(draft, schema, request.chosenIndex);
  const allMarks = useMemo(() => merged(marks, problems.document), [marks, problems.document]);
  const [requestError, setRequestError] = useState<string>();
  const [tab, setTab] = useState<'response' | 'explain'>('response');
  const format = (): void => queryTabs.update(draft.id, { text: formatDocument(draft.text) });
  useDocumentInAddress();
  useEffect(() => addKey({ keys: 'mod+s', does: 'format the query (Explorer)', run: format }), [draft]);
  /** Reads the request; shows its errors instead of throwing them. */
  const read = async <T>(reader: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      const found = await reader();
      setRequestError(undefined);
      return found;
    } catch (error) {
      setRequestError(failureOf(error).message);
      return undefined;
    }
  };
  /** Runs the query, optionally as a second persona as well. */
  const run = async (other?: Persona): Promise<void> => {
    stop();
    setTab('response');
    const found = await read(() => ({
      body: readRequest(),
      all: other === undefined ? [readRequestHeaders()] : [readRequestHeaders(), readRequestHeaders(other)],
    }));
    if (found === undefined) return;
    addToHistory(draft.text, draft.variables);
    setSent({ text: draft.text, operation: operations.length > 1 ? chosenOperation()?.name : undefined });
    await start(found.body, found.all, { isSubscription: chosenOperation()?.kind === 'subscription', endpoint: endpoint.peek() });
  };
  const codeOf = useCode(request, schema);
  const copyCurl = async (): Promise<void> => {
    const text = await read(() => codeOf('curl'));
    if (text === undefined) return;
    await copyText(text);
    showToast('Copied as curl');
  };
  return {
    runs,
    isRunning: runs.some(({ isRunning }) => isRunning),
    stop,
    marks: allMarks,
    problems,
    sentDocument,
    handle,
    headers,
    setHeaders,
    requestError,
    tab,
    setTab,
    explained,
    chosenOperation,
    format,
    schema,
    insert: (text: string): void => insert(draft, handle.current, text),
    run,
    explain: (): Promise<void> => {
      setTab('explain');
      return explain();
    },
    copyCurl,
    codeOf,
  };
}

export type ExplorerState = ReturnType<typeof useExplorer>;
