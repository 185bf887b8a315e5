/**
 * Finds or creates the pollers of subscriptions. When the metadata changes, it plans the affected subscriptions again before any answer
 * that was read under the old metadata can reach a subscriber.
 */
import type { Session } from '../auth/session.ts';
import type { Polls, Source } from '../backend/backend.ts';
import { toSvcError } from '../errors/encode.ts';
import { invariant, SvcError } from '../errors/svc-error.ts';
import { asynchronousCallState } from '../execute/run-asynchronous-action.ts';
import { limitsFor } from '../pipeline/api-limits.ts';
import { planOperationFor, prepare, clientError, requireTypes, schemaOf } from '../pipeline/prepare.ts';
import type { GraphqlRequest } from '../pipeline/request.ts';
import { MemoryReservation } from '../pipeline/result-memory.ts';
import { runContext } from '../pipeline/run-context.ts';
import { runReserved } from '../pipeline/run-request.ts';
import type { RequestRun } from '../pipeline/request-run.ts';
import type { PollerReport } from './poller-report.ts';
import type { Counted } from '../observability/metrics/counting.ts';
import type { Observer, RunTimes } from '../observability/observation.ts';
import { spanTime } from '../observability/tracing/span.ts';
import type { Tracer } from '../observability/tracing/tracer.ts';
import { bindAll } from '../plan/bind.ts';
import type { OperationPlan, PlanStep } from '../plan/plan.ts';
import type { Variables } from '../graphql-engine/constraint.ts';
import type { Snapshots } from '../state/state.ts';
import type { Snapshot } from '../state/snapshot.ts';
import { ActionResultSubscription, type ResultLookup, type NextLookup } from './action-result.ts';
import { CallWaits } from './call-waits.ts';
import { Detector } from './detector.ts';
import { isAway } from './failures.ts';
import { RequestBudget } from './request-budget.ts';
import { Poller } from './poller.ts';
import type { PollerOptions, PollerWork } from './poller-work.ts';
import { runObservation } from './run-observation.ts';
import type { RunMeter, SubscriptionMeter } from './subscription-meter.ts';
import { sizeOfBytes, wholeBytes } from '../util/bytes.ts';
import type { Subscription, Subscriptions } from './subscriptions.ts';
import { CacheBudget } from './version.ts';
import type { OperationLabels } from '../pipeline/operation-counts.ts';
import type { RequestPipeline } from '../pipeline/request-pipeline.ts';
import { Member } from './cohort.ts';

export interface SubscriptionOptions {
  readonly liveQueries: Pick<PollerOptions, 'refetchIntervalMs' | 'batchSize'>;
  readonly streams: Pick<PollerOptions, 'refetchIntervalMs' | 'batchSize'>;
  /** Interval for reading the database's snapshot. */
  readonly detectorIntervalMs: number;
  /** Maximum number of different statements per role. */
  readonly pollersPerRole: number;
  /** Timeout of a statement; 0 for the default. */
  readonly timeoutMs: number;
}

export interface RunningSubscriptions extends Subscriptions {
  reports(): readonly PollerReport[];
  /** Called after this instance has written to a source: its detector reads the snapshot at once. */
  written(source: string): void;
}

interface Needs {
  readonly state: Snapshots;
  readonly pipeline: RequestPipeline;
  readonly options: SubscriptionOptions;
  readonly observe: Observer;
  readonly meter?: Counted<SubscriptionMeter>;
  readonly tracing?: { current(): Tracer | null };
}

/** Default timeout of a statement. */
const DEFAULT_TIMEOUT_MS = 60_000;
/** Maximum size of the answers that are cached for comparison and for new subscribers, in bytes. */
const MAX_CACHED_BYTES = 32 * 1024 * 1024;
/** Maximum size of the documents and variables of open subscriptions, in characters. */
const MAX_REQUEST_SIZE = 128 * 1024 * 1024;
/** Number of subscribers that are planned again per turn of the event loop. */
const SLICE = 50;
const NO_LABELS: OperationLabels = ['', ''];

export function createSubscriptions(needs: Needs): RunningSubscriptions {
  return new Registry(needs);
}

function nextLook(state: Awaited<ReturnType<typeof asynchronousCallState>>, hasJoins: boolean): NextLookup {
  if (state === null) return { when: 'changed' };
  if (!state.isDone) return { when: 'answered', id: state.id };
  return hasJoins ? { when: 'soon' } : { when: 'never' };
}

/** The poller of a request, and the values that select its cohort. */
interface Target {
  readonly poller: Poller;
  readonly values: readonly (string | null)[];
}

interface Planned {
  readonly snapshot: Snapshot;
  /** Labels of the operation in metrics. */
  readonly labels: OperationLabels;
  readonly plan: OperationPlan;
  readonly variables: Variables;
  readonly step: PlanStep | undefined;
}

class Registry implements RunningSubscriptions {
  readonly #needs: Needs;
  readonly #pollers = new Map<string, Poller>();
  readonly #keys = new WeakMap<Poller, string>();
  /** Number of pollers per role. */
  readonly #ofRole = new Map<string, number>();
  /** Detectors of the sources, with the number of pollers that use each. */
  readonly #detectors = new Map<Source, { readonly detector: Detector; pollers: number }>();
  readonly #cacheBudget = new CacheBudget(MAX_CACHED_BYTES);
  readonly #requestBudget = new RequestBudget(MAX_REQUEST_SIZE);
  /** Members whose source is unavailable: they are planned again with every snapshot. */
  readonly #parked = new Set<Member>();
  /** Subscriptions to results of asynchronous actions. */
  readonly #results = new Set<ActionResultSubscription>();
  readonly #callWaits: CallWaits;
  readonly #stopListening: () => void;
  #isClosed = false;

  constructor(needs: Needs) {
    this.#needs = needs;
    needs.meter?.meter.watch(() => [...this.#pollers.values()].map((poller) => ({ report: poller.report(), labels: poller.work.labels })));
    this.#callWaits = new CallWaits(async (ids) => (await needs.pipeline.asynchronousCalls?.log.stillWaiting(ids)) ?? new Set());
    this.#stopListening = needs.state.onSnapshot((next, previous) => this.#onSnapshot(next, previous));
  }

  async open(...[session, request, options, subscriber]: Parameters<Subscriptions['open']>): Promise<Subscription> {
    if (this.#isClosed) throw new SvcError('unexpected', 'the service is shutting down');
    const planned = await this.#checked(session, request);
    // The check of types may have waited.
    if (this.#isClosed) throw new SvcError('unexpected', 'the service is shutting down');
    const release = this.#requestBudget.take(request);
    if (planned.step?.kind === 'call') return this.#openResult(release, session, request, options, subscriber);
    const member = new Member(session, request, subscriber, (closed) => {
      release();
      this.#leave(closed);
    });
    try {
      const { poller, values } = this.#target(session, request, planned, true);
      poller.join(member, values);
      return member;
    } catch (error) {
      release();
      throw error;
    }
  }

  #openResult(release: () => void, ...[session, request, options, subscriber]: Parameters<Subscriptions['open']>): Subscription {
    const look = async (): Promise<ResultLookup> => {
      const { pipeline } = this.#needs;
      const { snapshot, plan, variables, step } = this.#planned(session, request);
      invariant(step?.kind === 'call' && step.root.root.task === 'result', 'an action cannot become anything else');
      const reservation = new MemoryReservation(pipeline.memory);
      const lookOptions = { ...options, reservation, deadline: Date.now() + this.#timeoutMs };
      const context = runContext({ pipeline, snapshot, session, request, options: lookOptions, plan, variables }, request.query);
      try {
        // State first: if the call ends between the two queries, another lookup follows.
        const next = nextLook(await asynchronousCallState(step.root.root, context), plan.joins.length > 0);
        const body = await runReserved(plan, context, reservation);
        if (body.some((part) => typeof part !== 'string') && !reservation.take(sizeOfBytes(body))) throw reservation.refusal(false);
        return { body: wholeBytes(body), next, release: () => reservation.release() };
      } catch (error) {
        reservation.release();
        throw error;
      }
    };
    const result = new ActionResultSubscription(look, this.#callWaits, subscriber, {
      onFault: (error) => this.#onFault(error),
      onClose: (closed) => {
        release();
        this.#results.delete(closed);
      },
    });
    this.#results.add(result);
    result.start();
    return result;
  }

  get #timeoutMs(): number {
    const { timeoutMs } = this.#needs.options;
    return timeoutMs === 0 ? DEFAULT_TIMEOUT_MS : timeoutMs;
  }

  #onFault(error: unknown): void {
    this.#needs.observe({ kind: 'unexpected', message: 'a run of a subscription failed', error });
  }

  reports(): readonly PollerReport[] {
    return [...this.#pollers.values()].map((poller) => poller.report());
  }

  written(source: string): void {
    const connection = this.#needs.state.current().connections.get(source);
    if (connection !== undefined) this.#detectors.get(connection)?.detector.wake();
  }

  close(): Promise<void> {
    this.#isClosed = true;
    this.#stopListening();
    for (const poller of [...this.#pollers.values()]) this.#drop(poller);
    this.#parked.clear();
    for (const result of [...this.#results]) result.close();
    return Promise.resolve();
  }

  #leave(member: Member): void {
    this.#parked.delete(member);
    member.leave();
  }

  /** Returns the plan after a check of all types that its fragments name. @throws SvcError like `#planned` */
  async #checked(session: Session, request: GraphqlRequest): Promise<Planned> {
    const { plan, ...planned } = this.#planned(session, request);
    if (plan.unmatchedTypes === undefined) return { plan, ...planned };
    try {
      await requireTypes({ snapshot: planned.snapshot, session, request }, plan.unmatchedTypes);
    } catch (error) {
      throw clientError(error, { pipeline: this.#needs.pipeline, snapshot: planned.snapshot, session, request });
    }
    // The snapshot may have changed meanwhile, which plans only the open subscriptions again.
    return this.#planned(session, request);
  }

  /** @throws SvcError if the request is not a valid subscription for this session, redacted if the role has no introspection */
  #planned(session: Session, request: GraphqlRequest): Planned {
    const { pipeline, state } = this.#needs;
    const snapshot = state.current();
    try {
      const run = { pipeline, snapshot, session, request, options: {} };
      const operation = prepare(run, limitsFor(snapshot.cache.apiLimits, session));
      if (operation.prepared.kind !== 'subscription') throw new SvcError('unexpected-payload', 'only subscriptions can be subscribed to');
      const variables = operation.prepared.variables(request.variables, request.variableDepth);
      const plan = planOperationFor(run, operation, variables);
      const labels = pipeline.meter?.current()?.labelsOf(operation, request) ?? NO_LABELS;
      return { snapshot, labels, plan, variables, step: plan.steps[0] };
    } catch (error) {
      throw clientError(error, { pipeline, snapshot, session, request });
    }
  }

  /** @throws SvcError like `#planned` */
  #target(session: Session, request: GraphqlRequest, { snapshot, labels, plan, variables, step }: Planned, isNew: boolean): Target {
    invariant(step?.kind === 'live', 'a subscription repeats one statement');
    const values = boundValues(step.binders, variables, { pipeline: this.#needs.pipeline, snapshot, session, request });
    const connection = snapshot.connections.get(step.source);
    if (connection === undefined) {
      const code = snapshot.cache.sources.get(step.source)?.backend.errorCodes.failed ?? 'unexpected';
      throw new SvcError(code, `the source "${step.source}" is not available`, { status: 500, isTransient: true });
    }
    invariant(canPoll(connection), 'a source without polls has no live queries');
    const work: PollerWork = {
      source: step.source,
      connection,
      schema: schemaOf(snapshot, session, request.api),
      role: session.role,
      variant: session.backendOnly ? 'backend' : 'frontend',
      api: request.api,
      document: request.query,
      labels,
      query: step.query,
      template: plan.template,
      expected: plan.expected ?? 0,
    };
    const poller = this.#poller(work, isNew);
    return { poller, values };
  }

  /** @param isNew new subscriptions may be rejected, those that are planned again may not @throws SvcError busy */
  #poller(work: PollerWork, isNew: boolean): Poller {
    const key = keyOf(work);
    const known = this.#pollers.get(key);
    if (known !== undefined) return known;
    const { options, observe, meter } = this.#needs;
    const { role } = work;
    const count = this.#ofRole.get(role) ?? 0;
    if (isNew && count >= options.pollersPerRole) {
      throw new SvcError(
        'busy',
        `the limit of ${options.pollersPerRole} different concurrent subscriptions of the role "${role}" is reached; those that differ only in variables count as one`,
        { status: 429 },
      );
    }
    this.#ofRole.set(role, count + 1);
    const isStream = work.query.cursor !== null;
    let metered: RunMeter | undefined;
    const poller = new Poller(
      work,
      {
        ...(isStream ? options.streams : options.liveQueries),
        timeoutMs: this.#timeoutMs,
        responseLimit: this.#needs.pipeline.responseLimit,
        memory: this.#needs.pipeline.memory,
      },
      {
        detector: this.#detector(work.connection),
        cacheBudget: this.#cacheBudget,
        onRun: (ran, times) => {
          tracePoll(this.#needs.tracing?.current() ?? null, ran, times);
          const now = meter?.current() ?? null;
          metered ??= now?.runs(isStream ? 'streaming' : 'live-query', work.labels);
          if (now !== null) metered?.(times);
          observe(runObservation(ran.report(), times));
        },
        onFault: (error) => this.#onFault(error),
        onEmpty: (empty) => this.#drop(empty),
      },
    );
    this.#pollers.set(key, poller);
    this.#keys.set(poller, key);
    return poller;
  }

  #detector(connection: Source): Detector {
    let used = this.#detectors.get(connection);
    if (used === undefined) {
      used = { detector: new Detector(connection, this.#needs.options.detectorIntervalMs), pollers: 0 };
      this.#detectors.set(connection, used);
    }
    used.pollers += 1;
    return used.detector;
  }

  #drop(poller: Poller): void {
    poller.close();
    const key = this.#keys.get(poller);
    if (key === undefined) return;
    this.#keys.delete(poller);
    this.#pollers.delete(key);
    const { connection, role } = poller.work;
    const count = (this.#ofRole.get(role) ?? 0) - 1;
    if (count > 0) this.#ofRole.set(role, count);
    else this.#ofRole.delete(role);
    const used = this.#detectors.get(connection);
    if (used === undefined) return;
    used.pollers -= 1;
    if (used.pollers === 0) this.#detectors.delete(connection);
  }

  /** Drops all pollers whose subscribers may have other permissions, limits or sources with the new snapshot, and plans them again. */
  #onSnapshot(next: Snapshot, previous: Snapshot): void {
    for (const result of this.#results) result.changed();
    const { allowList } = this.#needs.pipeline;
    const rulesChanged =
      next.cache.apiLimits !== previous.cache.apiLimits || (allowList !== null && next.storedOperations !== previous.storedOperations);
    const members: Member[] = [];
    for (const poller of [...this.#pollers.values()]) {
      const { schema, role, variant, api, source, connection } = poller.work;
      const isSame = next.roleSchema(role, variant, api) === schema && next.connections.get(source) === connection;
      if (isSame && !rulesChanged) continue;
      for (const member of poller.members) members.push(member);
      this.#drop(poller);
    }
    members.push(...this.#parked);
    this.#parked.clear();
    this.#moveAll(members);
  }

  #moveAll(members: readonly Member[]): void {
    for (const member of members.slice(0, SLICE)) if (!this.#isClosed && !member.isOver) this.#move(member);
    if (members.length > SLICE) setImmediate(() => this.#moveAll(members.slice(SLICE)));
  }

  /** Plans a request again; a stream continues at its cursor. */
  #move(member: Member): void {
    const cursor = member.cursor;
    try {
      const planned = this.#planned(member.session, member.request);
      const { poller, values } = this.#target(member.session, member.request, planned, false);
      const at = poller.work.query.cursor;
      poller.join(member, at === null || cursor === undefined ? values : values.with(at, cursor));
    } catch (error) {
      if (!(error instanceof SvcError)) this.#onFault(error);
      const fault = toSvcError(error);
      const isParked = isAway(fault);
      if (isParked) this.#parked.add(member);
      member.fail(fault, !isParked);
    }
  }
}

/** Binds values for a client. @throws SvcError as `clientError` returns it */
function boundValues(
  binders: Parameters<typeof bindAll>[0],
  variables: Planned['variables'],
  run: Pick<RequestRun, 'pipeline' | 'session' | 'request'> & { readonly snapshot: Snapshot },
): ReturnType<typeof bindAll> {
  try {
    return bindAll(binders, variables, run.session);
  } catch (error) {
    throw clientError(error, run);
  }
}

/** Traces a run, which serves many requests and so is its own trace. */
function tracePoll(tracer: Tracer | null, poller: Poller, { at, total, cohorts, sent }: RunTimes): void {
  if (tracer === null) return;
  const span = tracer.begin('poll', 'internal', null, Math.min(at.getTime(), spanTime() - total));
  if (!span.isSampled) return;
  span.set('svc.source', poller.work.source).set('svc.cohorts', cohorts).set('svc.subscribers', poller.members.length);
  span.set('svc.sent', sent).end();
}

/** Returns a key that is equal for requests that share a statement and the form of its answers. */
function keyOf({ source, role, variant, api, query, template }: PollerWork): string {
  const form = template.map((part) => (typeof part === 'string' ? part : 'column' in part ? part.column : 'layout' in part ? part : ''));
  return JSON.stringify([source, role, variant, api, query.text, form]);
}

function canPoll(source: Source): source is Source & Polls {
  return source.runRows !== undefined;
}
