/**
 * Makes pollers for what is subscribed to and finds those that are there already; plans anew what a change of the metadata
 * concerns, before anything that was read under the old one can reach a subscriber.
 */
import type { Session } from '../auth/session.ts';
import type { Polls, Source } from '../backend/backend.ts';
import { toSvcError } from '../errors/encode.ts';
import { invariant, SvcError } from '../errors/svc-error.ts';
import { callState } from '../execute/run-later-action.ts';
import { limitsFor } from '../pipeline/api-limits.ts';
import { planOperationFor, prepare, redacted, schemaOf } from '../pipeline/prepare.ts';
import type { GraphqlRequest } from '../pipeline/request.ts';
import { MemoryHold } from '../pipeline/result-memory.ts';
import { runContext } from '../pipeline/run-context.ts';
import { runWithin } from '../pipeline/run-request.ts';
import type { PollerReport } from './poller-report.ts';
import type { Counted } from '../observability/metrics/counting.ts';
import type { Observer, RunTimes } from '../observability/observation.ts';
import { spanTime } from '../observability/tracing/span.ts';
import type { Tracer } from '../observability/tracing/tracer.ts';
import { bindAll } from '../plan/bind.ts';
import type { Plan, Step } from '../plan/plan.ts';
import type { Variables } from '../graphql-engine/constraint.ts';
import type { Snapshots } from '../state/state.ts';
import type { Snapshot } from '../state/snapshot.ts';
import { ActionResultSubscription, type Look, type NextLook } from './action-result.ts';
import { CallWaits } from './call-waits.ts';
import { Detector } from './detector.ts';
import { isAway } from './failures.ts';
import { KeptRequests } from './kept-requests.ts';
import { Poller } from './poller.ts';
import type { PollerOptions, PollerWork } from './poller-work.ts';
import { runObservation } from './run-observation.ts';
import type { RunMeter, SubscriptionMeter } from './subscription-meter.ts';
import { sizeOfBytes, wholeBytes } from '../util/bytes.ts';
import type { Subscription, Subscriptions } from './subscriptions.ts';
import { Room } from './version.ts';
import type { OperationLabels } from '../pipeline/operation-counts.ts';
import type { RequestPipeline } from '../pipeline/request-pipeline.ts';
import { Member } from './cohort.ts';

export interface SubscriptionOptions {
  readonly liveQueries: Pick<PollerOptions, 'refetchIntervalMs' | 'batchSize'>;
  readonly streams: Pick<PollerOptions, 'refetchIntervalMs' | 'batchSize'>;
  /** How often the database is asked for its snapshot. */
  readonly detectorIntervalMs: number;
  /** Most different statements of one role. */
  readonly pollersPerRole: number;
  /** Of a statement; 0: the longest that is sensible. */
  readonly timeoutMs: number;
}

export interface RunningSubscriptions extends Subscriptions {
  reports(): readonly PollerReport[];
  /** A source has been written to, by this instance: whoever waits for changes of it looks now. */
  written(source: string): void;
}

interface Needs {
  readonly state: Snapshots;
  readonly pipeline: RequestPipeline;
  readonly options: SubscriptionOptions;
  readonly observe: Observer;
  /** Absent: nobody wants to know. */
  readonly meter?: Counted<SubscriptionMeter>;
  readonly tracing?: { current(): Tracer | null };
}

/** Every wait has an end. */
const DEFAULT_TIMEOUT_MS = 60_000;
/** Bytes of answers that are kept to be compared and for who comes next. */
const ROOM = 32 * 1024 * 1024;
/** Characters of documents and variables that are kept to be planned anew. */
const REQUESTS = 128 * 1024 * 1024;
/** Subscribers that are planned anew in one turn of the event loop. */
const SLICE = 50;
const NO_LABELS: OperationLabels = ['', ''];

export function createSubscriptions(needs: Needs): RunningSubscriptions {
  return new Registry(needs);
}

function nextLook(state: Awaited<ReturnType<typeof callState>>, hasJoins: boolean): NextLook {
  if (state === null) return { when: 'changed' };
  if (!state.isDone) return { when: 'answered', id: state.id };
  return hasJoins ? { when: 'soon' } : { when: 'never' };
}

/** The poller of a request, and what tells its cohort from others. */
interface Place {
  readonly poller: Poller;
  readonly values: readonly (string | null)[];
}

interface Planned {
  readonly snapshot: Snapshot;
  /** Of its operation, for whoever counts. */
  readonly labels: OperationLabels;
  readonly plan: Plan;
  readonly variables: Variables;
  readonly step: Step | undefined;
}

class Registry implements RunningSubscriptions {
  readonly #needs: Needs;
  readonly #pollers = new Map<string, Poller>();
  readonly #keys = new WeakMap<Poller, string>();
  /** How many pollers there are of each role. */
  readonly #ofRole = new Map<string, number>();
  /** Of each source, with the number of its pollers. */
  readonly #detectors = new Map<Source, { readonly detector: Detector; pollers: number }>();
  readonly #room = new Room(ROOM);
  readonly #kept = new KeptRequests(REQUESTS);
  /** Those whose source is away: they are tried again with every snapshot. */
  readonly #parked = new Set<Member>();
  /** Of asynchronous actions. */
  readonly #results = new Set<ActionResultSubscription>();
  readonly #callWaits: CallWaits;
  readonly #stopListening: () => void;
  #isClosed = false;

  constructor(needs: Needs) {
    this.#needs = needs;
    needs.meter?.meter.watch(() => [...this.#pollers.values()].map((poller) => ({ report: poller.report(), labels: poller.work.labels })));
    this.#callWaits = new CallWaits(async (ids) => (await needs.pipeline.laterCalls?.log.stillWaiting(ids)) ?? new Set());
    this.#stopListening = needs.state.onSnapshot((shown, before) => this.#shown(shown, before));
  }

  async open(...[session, request, how, subscriber]: Parameters<Subscriptions['open']>): Promise<Subscription> {
    if (this.#isClosed) throw new SvcError('unexpected', 'the service is shutting down');
    const planned = this.#planned(session, request);
    const giveBack = this.#kept.take(request);
    if (planned.step?.kind === 'call') return this.#openResult(giveBack, session, request, how, subscriber);
    const member = new Member(session, request, subscriber, (closed) => {
      giveBack();
      this.#leave(closed);
    });
    try {
      const { poller, values } = this.#place(session, request, planned, true);
      poller.join(member, values);
      return member;
    } catch (error) {
      giveBack();
      throw error;
    }
  }

  #openResult(giveBack: () => void, ...[session, request, how, subscriber]: Parameters<Subscriptions['open']>): Subscription {
    const look = async (): Promise<Look> => {
      const { pipeline } = this.#needs;
      const { snapshot, plan, variables, step } = this.#planned(session, request);
      invariant(step?.kind === 'call' && step.root.root.task === 'result', 'an action cannot become anything else');
      const hold = new MemoryHold(pipeline.memory);
      const within = { ...how, hold, deadline: Date.now() + this.#timeoutMs };
      const context = runContext({ pipeline, snapshot, session, request, how: within, plan, variables }, request.query);
      try {
        // Before the result itself: what is done in between is looked at once more.
        const next = nextLook(await callState(step.root.root, context), plan.joins.length > 0);
        const body = await runWithin(plan, context, hold);
        if (body.some((part) => typeof part !== 'string') && !hold.take(sizeOfBytes(body))) throw hold.refusal(false);
        return { body: wholeBytes(body), next, release: () => hold.release() };
      } catch (error) {
        hold.release();
        throw error;
      }
    };
    const made = new ActionResultSubscription(look, this.#callWaits, subscriber, {
      onFault: (error) => this.#onFault(error),
      onClose: (closed) => {
        giveBack();
        this.#results.delete(closed);
      },
    });
    this.#results.add(made);
    made.start();
    return made;
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

  /** @throws SvcError for what cannot be subscribed to, or not by this session; without what the role may not know of the schema */
  #planned(session: Session, request: GraphqlRequest): Planned {
    const { pipeline, state } = this.#needs;
    const snapshot = state.current();
    try {
      const run = { pipeline, snapshot, session, request, how: {} };
      const operation = prepare(run, limitsFor(snapshot.cache.apiLimits, session));
      if (operation.prepared.kind !== 'subscription') throw new SvcError('unexpected-payload', 'only subscriptions can be subscribed to');
      const variables = operation.prepared.variables(request.variables, request.variableDepth);
      const plan = planOperationFor(run, operation, variables);
      const labels = pipeline.meter?.current()?.labelsOf(operation, request) ?? NO_LABELS;
      return { snapshot, labels, plan, variables, step: plan.steps[0] };
    } catch (error) {
      throw redacted(error, snapshot, session);
    }
  }

  /** @throws SvcError */
  #place(session: Session, request: GraphqlRequest, { snapshot, labels, plan, variables, step }: Planned, isNew: boolean): Place {
    invariant(step?.kind === 'live', 'a subscription repeats one statement');
    const values = bindAll(step.binders, variables, session);
    const connection = snapshot.connections.get(step.source);
    if (connection === undefined) {
      const code = snapshot.cache.sources.get(step.source)?.backend.errorCodes.failed ?? 'unexpected';
      throw new SvcError(code, `the source "${step.source}" is not available`, { status: 500, isPassing: true });
    }
    invariant(canPoll(connection), 'a source without polls has no live queries');
    const work: PollerWork = {
      source: step.source,
      connection,
      schema: schemaOf(snapshot, session),
      role: session.role,
      variant: session.backendOnly ? 'backend' : 'frontend',
      document: request.query,
      labels,
      query: step.query,
      template: plan.template,
      expected: plan.expected ?? 0,
    };
    const poller = this.#poller(work, isNew);
    return { poller, values };
  }

  /** @param isNew whether it may be refused: what is planned anew has its place @throws SvcError busy */
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
        `the limit of ${options.pollersPerRole} different subscriptions of the role "${role}" at the same time is reached; those that differ in variables only count as one`,
        { status: 429 },
      );
    }
    this.#ofRole.set(role, count + 1);
    const isStream = work.query.cursor !== null;
    let metered: RunMeter | undefined;
    const made = new Poller(
      work,
      {
        ...(isStream ? options.streams : options.liveQueries),
        timeoutMs: this.#timeoutMs,
        responseLimit: this.#needs.pipeline.responseLimit,
        memory: this.#needs.pipeline.memory,
      },
      {
        detector: this.#detector(work.connection),
        room: this.#room,
        onRun: (poller, times) => {
          tracePoll(this.#needs.tracing?.current() ?? null, poller, times);
          const now = meter?.current() ?? null;
          metered ??= now?.runs(isStream ? 'streaming' : 'live-query', work.labels);
          if (now !== null) metered?.(times);
          observe(runObservation(poller.report(), times));
        },
        onFault: (error) => this.#onFault(error),
        onEmpty: (poller) => this.#drop(poller),
      },
    );
    this.#pollers.set(key, made);
    this.#keys.set(made, key);
    return made;
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

  /** From here on nothing reaches a subscriber whose rights, limits or source may be others than before. */
  #shown(shown: Snapshot, before: Snapshot): void {
    for (const result of this.#results) result.changed();
    const { allowList } = this.#needs.pipeline;
    const rulesChanged =
      shown.cache.apiLimits !== before.cache.apiLimits || (allowList !== null && shown.storedOperations !== before.storedOperations);
    const members: Member[] = [];
    for (const poller of [...this.#pollers.values()]) {
      const { schema, role, variant, source, connection } = poller.work;
      const isSame = shown.roleSchema(role, variant) === schema && shown.connections.get(source) === connection;
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

  /** Plans a request anew; a stream goes on where it was. */
  #move(member: Member): void {
    const cursor = member.cursor;
    try {
      const planned = this.#planned(member.session, member.request);
      const { poller, values } = this.#place(member.session, member.request, planned, false);
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

/** A run serves many requests and is a trace of its own. */
function tracePoll(tracer: Tracer | null, poller: Poller, { at, total, cohorts, sent }: RunTimes): void {
  if (tracer === null) return;
  const span = tracer.begin('poll', 'internal', null, Math.min(at.getTime(), spanTime() - total));
  if (!span.isSampled) return;
  span.set('svc.source', poller.work.source).set('svc.cohorts', cohorts).set('svc.subscribers', poller.members.length);
  span.set('svc.sent', sent).end();
}

/** What must be equal for two requests to share a statement and the form of their answers. */
function keyOf({ source, role, variant, query, template }: PollerWork): string {
  const form = template.map((part) => (typeof part === 'string' ? part : 'column' in part ? part.column : 'layout' in part ? part : ''));
  return JSON.stringify([source, role, variant, query.text, form]);
}

function canPoll(source: Source): source is Source & Polls {
  return source.runRows !== undefined;
}
