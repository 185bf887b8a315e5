/** Makes the stored calls of asynchronous actions. */
import type { CallOutcome, CallStore, DueCall } from '../metadata-store/action-log.ts';
import type { HandlerCaller } from '../webhooks/handler-call.ts';
import { ADMIN_ROLE } from '../auth/session.ts';
import { ROLE_VARIABLE } from '../auth/session-variables.ts';
import { encodeAdminError, toSvcError } from '../errors/encode.ts';
import type { SvcError } from '../errors/svc-error.ts';
import { InvalidAnswer, checkAnswer } from '../execute/action-answer.ts';
import { expectationOf } from '../schema/actions/expectation.ts';
import type { ActionInfo } from '../schema-cache/action-info.ts';
import type { SchemaCache } from '../schema-cache/schema-cache.ts';
import type { PromptCancellation } from '../util/cancellation.ts';
import { printJson } from '../util/json.ts';
import type { ReserveMemory } from './event-memory.ts';
import type { Queue } from './queue.ts';

export interface ActionCallsOptions {
  readonly store: CallStore;
  /** In ms. */
  readonly pollInterval: number;
  /** Returns the current schema cache. */
  cache(): Pick<SchemaCache, 'actions' | 'customTypes'>;
  readonly call: HandlerCaller;
  /** Returns true if a caller with this role may see internals of errors. */
  showsInternal(role: string): boolean;
}

export function actionCalls(options: ActionCallsOptions): Queue<DueCall, CallOutcome> {
  const asynchronous = (): readonly ActionInfo[] => [...options.cache().actions.values()].filter(({ kind }) => kind === 'asynchronous');
  return {
    name: 'asynchronous actions',
    pollInterval: options.pollInterval,
    store: () => options.store,
    sizeOf: ({ result }) => (result.kind === 'completed' ? result.response.length : result.kind === 'failed' ? result.errors.length : 0),
    triggerQueues: () => asynchronous().map(({ name }) => ({ name })),
    async process(due, signal, reserve) {
      const action = asynchronous().find(({ name }) => name === due.queue);
      if (action === undefined) throw new Error(`the action ${due.queue} no longer exists`);
      return { id: due.id, result: await resultOf(due, action, options, signal, reserve) };
    },
  };
}

async function resultOf(
  { input, headers, sessionVariables, tries }: DueCall,
  action: ActionInfo,
  { cache, call, showsInternal }: ActionCallsOptions,
  signal: PromptCancellation,
  reserveMemory: ReserveMemory,
): Promise<CallOutcome['result']> {
  const { name, definition, output } = action;
  let requestedDelay: number | null = null;
  try {
    const reply = await call(
      {
        name,
        definition,
        input,
        sessionVariables,
        query: null,
        headers,
        options: { signal },
        reserveMemory,
        onRetryAfter: (seconds) => {
          requestedDelay = seconds;
        },
      },
      { bytes: 0 },
    );
    try {
      checkAnswer(reply.body, { type: output, expects: expectationOf(output, cache().customTypes), fields: null });
    } catch (error) {
      throw error instanceof InvalidAnswer ? reply.refused(error.message) : error;
    }
    return { kind: 'completed', response: printJson(reply.body) };
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    const error = toSvcError(thrown);
    const { numRetries = 0, intervalSec = 0 } = definition.retryConf ?? {};
    if (tries < numRetries && !isFinal(error)) return { kind: 'retry', seconds: requestedDelay ?? intervalSec };
    const shown = showsInternal(sessionVariables.get(ROLE_VARIABLE) ?? ADMIN_ROLE);
    return { kind: 'failed', errors: printJson(encodeAdminError(error, shown)) };
  }
}

/** Errors of the handler itself are final. */
function isFinal(error: SvcError): boolean {
  return error.graphqlErrors !== undefined;
}
