/** Runs one operation for a transport that can send any number of answers: a query, a mutation or a subscription. */
import type { Session } from '../auth/session.ts';
import { toSvcError } from '../errors/encode.ts';
import { SvcError } from '../errors/svc-error.ts';
import { withAdmission } from '../pipeline/around/with-admission.ts';
import { withMeter } from '../pipeline/around/with-meter.ts';
import { prepare } from '../pipeline/prepare.ts';
import { MemoryReservation } from '../pipeline/result-memory.ts';
import type { GraphqlRequest } from '../pipeline/request.ts';
import type { RequestOptions, RequestRun } from '../pipeline/request-run.ts';
import { runWithCurrentMetadata, runPrepared } from '../pipeline/run-request.ts';
import type { Subscriber, Subscription } from '../subscriptions/subscriptions.ts';
import { type Bytes, sizeOfBytes, wholeBytesCooperatively } from '../util/bytes.ts';
import { runCooperatively } from '../util/cooperative.ts';
import type { ServerContext } from './context.ts';
import type { OperationQueue } from './sockets/operation-queue.ts';

export type OperationOutcome =
  /** A query or mutation: `{"data":…}` in pieces. */
  | { readonly kind: 'answered'; readonly body: readonly Bytes[] }
  /** A subscription; its answers go to the subscriber. */
  | { readonly kind: 'subscribed'; readonly subscription: Subscription }
  /** Failed before any database or remote request. */
  | { readonly kind: 'refused'; readonly error: SvcError }
  | { readonly kind: 'failed'; readonly error: SvcError };

/** The client has disconnected or stopped the operation before it ran. */
const CANCELLED = new SvcError('unexpected', 'the operation was stopped');

/** The services that operations use. */
export type Operating = Pick<ServerContext, 'pipeline' | 'state' | 'subscriptions' | 'observe'>;

/**
 * Never rejects.
 * @param queue order of the operations of a connection; `null` if the operation need not wait for others
 */
export async function operate(
  context: Operating,
  session: Session,
  request: GraphqlRequest,
  options: RequestOptions,
  queue: OperationQueue | null,
  subscriber: Subscriber,
): Promise<OperationOutcome> {
  const { pipeline, state } = context;
  let failure: 'refused' | 'failed' = 'refused';
  try {
    const snapshot = state.current();
    return await withMeter({ pipeline, snapshot, session, request, options }, (metered, onOperation) =>
      withAdmission(metered, async (run, limits): Promise<OperationOutcome> => {
        const operation = prepare(run, limits);
        onOperation(operation);
        const { kind } = operation.prepared;
        if (kind === 'subscription') {
          return { kind: 'subscribed', subscription: await context.subscriptions.open(session, request, run.options, subscriber) };
        }
        const wait = queue?.acquire(kind === 'mutation') ?? null;
        try {
          if (wait !== null) await wait;
          if (options.signal?.aborted === true) throw CANCELLED;
          const onExternalRequest = (): void => {
            failure = 'failed';
          };
          const reservation = new MemoryReservation(pipeline.memory);
          const now: RequestRun = { ...run, snapshot: state.current(), options: { ...run.options, onExternalRequest, reservation } };
          try {
            const body = now.snapshot === snapshot ? await runPrepared(now, operation) : await runWithCurrentMetadata(now);
            // The whole message is made at once, because its length precedes it.
            if (body.some((part) => typeof part !== 'string') && !reservation.take(sizeOfBytes(body)))
              throw reservation.refusal(kind === 'mutation');
            const whole = await runCooperatively(wholeBytesCooperatively(body), () => {
              if (options.signal?.aborted === true) throw CANCELLED;
            });
            return { kind: 'answered', body: whole };
          } finally {
            // From here on, the bytes count with the unread responses.
            reservation.release();
          }
        } finally {
          queue?.release();
        }
      }),
    );
  } catch (thrown) {
    if (!(thrown instanceof SvcError)) context.observe({ kind: 'unexpected', message: 'GraphQL operation failed', error: thrown });
    return { kind: failure, error: toSvcError(thrown) };
  }
}
