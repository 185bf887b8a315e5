/** One operation of a transport that can carry any number of answers: a query, a mutation or a subscription. */
import type { Session } from '../auth/session.ts';
import { toSvcError } from '../errors/encode.ts';
import { SvcError } from '../errors/svc-error.ts';
import { withAdmission } from '../pipeline/around/admitted.ts';
import { withMeter } from '../pipeline/around/metered.ts';
import { prepare } from '../pipeline/prepare.ts';
import { MemoryHold } from '../pipeline/result-memory.ts';
import type { GraphqlRequest } from '../pipeline/request.ts';
import type { RequestOptions, RequestRun } from '../pipeline/request-run.ts';
import { runAnew, runPrepared } from '../pipeline/run-request.ts';
import type { Subscriber, Subscription } from '../subscriptions/subscriptions.ts';
import { type Bytes, sizeOfBytes, wholeBytesInSlices } from '../util/bytes.ts';
import { inSlices } from '../util/sliced.ts';
import type { ServerContext } from './context.ts';
import type { Lane } from './sockets/lane.ts';

export type Outcome =
  /** A query or mutation: `{"data":…}` in pieces. */
  | { readonly kind: 'answered'; readonly body: readonly Bytes[] }
  /** From here on its subscriber hears of it. */
  | { readonly kind: 'subscribed'; readonly subscription: Subscription }
  /** Nobody was asked for it, no database and no other server. */
  | { readonly kind: 'refused'; readonly error: SvcError }
  | { readonly kind: 'failed'; readonly error: SvcError };

/** The client went away, or does not want it any more, before its turn came. */
const CANCELLED = new SvcError('unexpected', 'the operation was stopped');

/** What operations need of the service. */
export type Operating = Pick<ServerContext, 'pipeline' | 'state' | 'subscriptions' | 'observe'>;

/**
 * Never rejects.
 * @param lane null: it need not wait for others
 */
export async function operate(
  context: Operating,
  session: Session,
  request: GraphqlRequest,
  how: RequestOptions,
  lane: Lane | null,
  subscriber: Subscriber,
): Promise<Outcome> {
  const { pipeline, state } = context;
  let failure: 'refused' | 'failed' = 'refused';
  try {
    const snapshot = state.current();
    return await withMeter({ pipeline, snapshot, session, request, how }, (metered, onOperation) =>
      withAdmission(metered, async (run, limits): Promise<Outcome> => {
        const operation = prepare(run, limits);
        onOperation(operation);
        const { kind } = operation.prepared;
        if (kind === 'subscription') {
          return { kind: 'subscribed', subscription: await context.subscriptions.open(session, request, run.how, subscriber) };
        }
        const turn = lane?.enter(kind === 'mutation') ?? null;
        try {
          if (turn !== null) await turn;
          if (how.signal?.aborted === true) throw CANCELLED;
          const onAsked = (): void => {
            failure = 'failed';
          };
          const hold = new MemoryHold(pipeline.memory);
          const now: RequestRun = { ...run, snapshot: state.current(), how: { ...run.how, onAsked, hold } };
          try {
            const body = now.snapshot === snapshot ? await runPrepared(now, operation) : await runAnew(now);
            // A message has its length before it: it is made as a whole.
            if (body.some((part) => typeof part !== 'string') && !hold.take(sizeOfBytes(body))) throw hold.refusal(kind === 'mutation');
            const whole = await inSlices(wholeBytesInSlices(body), () => {
              if (how.signal?.aborted === true) throw CANCELLED;
            });
            return { kind: 'answered', body: whole };
          } finally {
            // From here on it counts among what waits for clients.
            hold.release();
          }
        } finally {
          lane?.leave();
        }
      }),
    );
  } catch (thrown) {
    if (!(thrown instanceof SvcError)) context.observe({ kind: 'unexpected', message: 'GraphQL operation failed', error: thrown });
    return { kind: failure, error: toSvcError(thrown) };
  }
}
