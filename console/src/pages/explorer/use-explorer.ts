import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Failure, failureOf } from '../../api/failure.ts';
import type { GraphqlRequest } from '../../api/graphql.ts';
import { sendAsAdmin } from '../../api/http.ts';
import { persona } from '../../api/persona.ts';
import { hasSecret } from '../../api/session.ts';
import { sessionPrefixAliases } from '../../api/settings.ts';
import { copyText } from '../../browser/clipboard.ts';
import { addKey } from '../../browser/keys.ts';
import { base, place, setQuery } from '../../browser/place.ts';
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
import { marksOf } from './run.ts';
import { addToHistory, updateTab, type QueryTab, openTab } from './tabs.ts';
import { useRuns } from './use-runs.ts';

const NO_MARKS: readonly CodeMark[] = [];

/** Opens a document that another page passed in the address. */
function useDocumentInAddress(): void {
  const { query } = place.value;
  useEffect(() => {
    const text = query.get('query');
    if (text === null) return;
    openTab(text, query.get('variables') ?? '');
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

/** State of the explorer: the request of the open document, its answers, and what can be done with them. */
export function useExplorer(draft: QueryTab) {
  const as = persona.value;
  const { runs, start, stop } = useRuns();
  const [headers, setHeaders] = useState('');
  const [requestError, setRequestError] = useState<string>();
  const [tab, setTab] = useState<'response' | 'explain'>('response');
  const [explained, setExplained] = useState<{ json?: Json; failure?: Failure }>({});
  /** The document that was sent: errors name places in it. */
  const [sent, setSent] = useState<{ readonly text: string; readonly operation: string | undefined }>();
  const handle = useRef<EditorHandle | null>(null);
  const format = (): void => updateTab(draft.id, { text: formatDocument(draft.text) });
  useDocumentInAddress();
  useEffect(() => addKey({ keys: 'mod+s', does: 'format the query (Explorer)', run: format }), [draft]);
  const marks = useMemo(
    () => (sent !== undefined && sent.text === draft.text ? marksOf(runs, sent.text, sent.operation) : NO_MARKS),
    [sent, runs, draft.text],
  );
  const sentDocument: SentDocument | undefined =
    sent?.text === draft.text ? { text: draft.text, replace: ({ from, to }, name) => handle.current?.replace(from, to, name) } : undefined;

  const operations = operationsOf(draft.text);
  /** The operation at the cursor, else the first one. */
  const chosenOperation = () => {
    const at = handle.current?.selection().from ?? 0;
    return operations.find(({ from, to }) => at >= from && at <= to) ?? operations[0];
  };
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
  return {
    runs,
    isRunning: runs.some(({ isRunning }) => isRunning),
    stop,
    marks,
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
    /** The persona that the headers of the request amount to. */
    effective,
    /** Inserts at the cursor inside of a selection set, else at the end of the first operation. */
    insert(text: string): void {
      const at = handle.current?.selection().from ?? 0;
      if (placeAt(draft.text, at).kind === 'fields') {
        handle.current?.insert(text);
        return;
      }
      const end = (operations[0]?.to ?? 0) - 1;
      const whole = end < 0 ? `${draft.text}{\n  ${text}}\n` : `${draft.text.slice(0, end).trimEnd()}\n  ${text}${draft.text.slice(end)}`;
      updateTab(draft.id, { text: whole });
    },
    /** Runs the query, optionally as a second persona as well. */
    async run(other?: Persona): Promise<void> {
      stop();
      setTab('response');
      let request: GraphqlRequest;
      let all: readonly RequestHeaders[];
      try {
        request = readRequest();
        all = other === undefined ? [readRequestHeaders()] : [readRequestHeaders(), readRequestHeaders(other)];
        setRequestError(undefined);
      } catch (error) {
        setRequestError(failureOf(error).message);
        return;
      }
      addToHistory(draft.text, draft.variables);
      setSent({ text: draft.text, operation: operations.length > 1 ? chosenOperation()?.name : undefined });
      await start(request, all, chosenOperation()?.kind === 'subscription');
    },
    async explain(): Promise<void> {
      setTab('explain');
      try {
        const { as: user } = readRequestHeaders();
        if (user.token !== undefined)
          throw new Failure('Explain does not support tokens. Act as a role with session variables instead.', {
            code: 'not-supported',
          });
        const json = await sendAsAdmin('v1/graphql/explain', { body: { query: readRequest() as JsonObject, user: sessionOf(user) } });
        setExplained({ json });
      } catch (error) {
        setExplained({ failure: failureOf(error) });
      }
    },
    copyAs(what: 'curl' | 'fetch'): void {
      try {
        const request = readRequestHeaders();
        const options = { headers: request.headers, hasSecret: request.hasSecret && hasSecret.value, token: as.token };
        const text = (what === 'curl' ? curlOf : fetchOf)(`${base}v1/graphql`, readRequest() as JsonObject, options);
        setRequestError(undefined);
        void copyText(text).then(() => showToast(`Copied as ${what}`));
      } catch (error) {
        setRequestError(failureOf(error).message);
      }
    },
  };
}

export type ExplorerState = ReturnType<typeof useExplorer>;
