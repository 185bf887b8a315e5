/** Makes the calls of asynchronous actions that were written down. */
import type { CallOutcome, CallStore, DueCall } from '../metadata-store/action-log.ts';
import type { HandlerCaller } from '../webhooks/handler-call.ts';
import { ADMIN_ROLE } from '../auth/session.ts';
import { ROLE_VARIABLE } from '../auth/session-variables.ts';
import { encodeAdminError, toSvcError } from '../errors/encode.ts';
import type { SvcError } from '../errors/svc-error.ts';
import { AnswerRefused, checkAnswer } from '../execute/action-answer.ts';
import { expectationOf } from '../schema/actions/expectation.ts';
import type { ActionInfo } from '../schema-cache/action-info.ts';
import type { SchemaCache } from '../schema-cache/schema-cache.ts';
import type { PromptCancellation } from '../util/cancellation.ts';
import { printJson } from '../util/json.ts';
import type { Hold } from './holdings.ts';
import type { Queue } from './queue.ts';

export interface ActionCallsOptions {
  readonly store: CallStore;
  /** ms */
  readonly pollInterval: number;
  /** As it is now. */
  cache(): Pick<SchemaCache, 'actions' | 'customTypes'>;
  readonly call: HandlerCaller;
  /** Whether a caller of this role sees internals of errors. */
  showsInternal(role: string): boolean;
}

export function actionCalls(options: ActionCallsOptions): Queue<DueCall, CallOutcome> {
  const asynchronous = (): readonly ActionInfo[] => [...options.cache().actions.values()].filter(({ kind }) => kind === 'asynchronous');
  return {
    name: 'asynchronous actions',
    pollInterval: options.pollInterval,
    store: () => options.store,
    sizeOf: ({ result }) => (result.kind === 'completed' ? result.response.length : result.kind === 'failed' ? result.errors.length : 0),
    lanes: () => asynchronous().map(({ name }) => ({ name })),
    async work(due, signal, hold) {
      const action = asynchronous().find(({ name }) => name === due.lane);
      if (action === undefined) throw new Error(`the action ${due.lane} has gone`);
      return { id: due.id, result: await resultOf(due, action, options, signal, hold) };
    },
  };
}

async function resultOf(
  { input, headers, sessionVariables, tries }: DueCall,
  action: ActionInfo,
  { cache, call, showsInternal }: ActionCallsOptions,
  signal: PromptCancellation,
  hold: Hold,
): Promise<CallOutcome['result']> {
  const { name, definition, output } = action;
  let wait: number | null = null;
  try {
    const reply = await call(
      {
        name,
        definition,
        input,
        sessionVariables,
        query: null,
        headers,
        how: { signal },
        hold,
        onRetryAfter: (seconds) => {
          wait = seconds;
        },
      },
      { bytes: 0 },
    );
    try {
      checkAnswer(reply.body, { type: output, expects: expectationOf(output, cache().customTypes), fields: null });
    } catch (error) {
      throw error instanceof AnswerRefused ? reply.refused(error.message) : error;
    }
    return { kind: 'completed', response: printJson(reply.body) };
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    const error = toSvcError(thrown);
    const { numRetries = 0, intervalSec = 0 } = definition.retryConf ?? {};
    if (tries < numRetries && !isFinal(error)) return { kind: 'retry', seconds: wait ?? intervalSec };
    const shown = showsInternal(sessionVariables.get(ROLE_VARIABLE) ?? ADMIN_ROLE);
    return { kind: 'failed', errors: printJson(encodeAdminError(error, shown)) };
  }
}

/** What the handler itself has said is its answer. */
function isFinal(error: SvcError): boolean {
  return error.graphqlErrors !== undefined;
}
