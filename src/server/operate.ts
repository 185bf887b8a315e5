/** One operation of a transport that can carry any number of answers: a query, a mutation or a subscription. */
import type { Session } from '../auth/session.ts';
import { toSvcError } from '../errors/encode.ts';
import { SvcError } from '../errors/svc-error.ts';
import { prepare } from '../graphql/prepare.ts';
import type { GraphqlRequest } from '../graphql/request.ts';
import { admitted, failOperation, nameOperation, type RequestOptions, runAnew, runPrepared } from '../graphql/run-request.ts';
import type { Subscriber, Subscription } from '../subscriptions/subscriptions.ts';
import type { Bytes } from '../util/bytes.ts';
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
  const metered = pipeline.meter?.current()?.begin(request) ?? null;
  const span = how.trace?.child('operation') ?? null;
  const traced = span === null || span === how.trace ? how : { ...how, trace: span };
  try {
    const snapshot = state.current();
    const outcome = await admitted(pipeline, snapshot, session, traced, async (within, limits): Promise<Outcome> => {
      const operation = prepare(pipeline, snapshot, session, request, limits, how.budget, within.trace);
      metered?.known(operation);
      how.onOperation?.(operation);
      if (span !== null) nameOperation(span, operation);
      const { kind } = operation.prepared;
      if (kind === 'subscription') {
        return { kind: 'subscribed', subscription: await context.subscriptions.open(session, request, within, subscriber) };
      }
      const turn = lane?.enter(kind === 'mutation') ?? null;
      try {
        if (turn !== null) await turn;
        if (how.signal?.aborted === true) throw CANCELLED;
        const onAsked = (): void => {
          failure = 'failed';
        };
        const running = { ...within, onAsked };
        const now = state.current();
        const body =
          now === snapshot
            ? await runPrepared(pipeline, now, session, request, operation, running)
            : await runAnew(pipeline, now, session, request, running);
        return { kind: 'answered', body };
      } finally {
        lane?.leave();
      }
    });
    metered?.succeeded();
    return outcome;
  } catch (thrown) {
    metered?.failed(thrown);
    if (span !== null) failOperation(span, thrown);
    if (!(thrown instanceof SvcError)) context.observe({ kind: 'unexpected', message: 'GraphQL operation failed', error: thrown });
    return { kind: failure, error: toSvcError(thrown) };
  } finally {
    if (span !== how.trace) span?.end();
  }
}
