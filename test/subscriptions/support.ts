/** Subscriptions on a real state over a real database, without sockets. */
import pg from 'pg';
import type { Session } from '../../src/auth/session.ts';
import type { SvcError } from '../../src/errors/svc-error.ts';
import { runRequest } from '../../src/pipeline/run-request.ts';
import type { Observation } from '../../src/observability/observation.ts';
import type { SubscriptionOptions } from '../../src/subscriptions/create-subscriptions.ts';
import { createSubscriptions, type RunningSubscriptions } from '../../src/subscriptions/create-subscriptions.ts';
import type { SubscriptionAnswer, Subscriber, Subscription } from '../../src/subscriptions/subscriptions.ts';
import { textOfBytes } from '../../src/util/bytes.ts';
import { type Json, type JsonObject, parseJson } from '../../src/util/json.ts';
import { PIPELINE, type TestAdministration, testAdministration } from '../metadata-api/support.ts';
import { WAIT } from '../support/wait.ts';
import type { RequestPipeline } from '../../src/pipeline/request-pipeline.ts';

export function session(role: string, variables: Readonly<Record<string, string>> = {}): Session {
  return { role, variables: new Map([['x-svc-role', role], ...Object.entries(variables)]), backendOnly: false };
}

export const ADMIN = session('admin');

/** Records the messages of a subscriber. */
export class Recorder implements Subscriber {
  readonly answers: SubscriptionAnswer[] = [];
  readonly errors: { readonly error: SvcError; readonly final: boolean }[] = [];
  isReady = true;
  isComplete = false;
  #heard = (): void => undefined;

  next(answer: SubscriptionAnswer): void {
    if (!this.isReady) throw new Error('it was not ready');
    this.answers.push(answer);
    this.#heard();
  }

  failed(errors: readonly SvcError[], final: boolean): void {
    for (const error of errors) this.errors.push({ error, final });
    this.#heard();
  }

  complete(): void {
    this.isComplete = true;
    this.#heard();
  }

  ready(): boolean {
    return this.isReady;
  }

  /** The data of all answers so far. */
  get data(): readonly Json[] {
    return this.answers.map(({ body }) => (parseJson(textOfBytes(body)) as JsonObject)['data'] as Json);
  }

  get last(): Json {
    return this.data.at(-1) ?? null;
  }

  /** Resolves when the condition holds, which is checked on every message. */
  async until(holds: (self: Recorder) => boolean): Promise<this> {
    const deadline = Date.now() + WAIT.timeout;
    while (!holds(this)) {
      if (Date.now() > deadline) {
        throw new Error(
          `it never came to that: ${JSON.stringify({ data: this.data, errors: this.errors.map(({ error }) => error.message) })}`,
        );
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 100);
        this.#heard = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    return this;
  }
}

export interface TestSubscriptions extends TestAdministration {
  readonly subscriptions: RunningSubscriptions;
  /** A database client beside the service. */
  readonly client: pg.Client;
  readonly observations: readonly Observation[];
  open(
    query: string,
    how?: { readonly session?: Session; readonly variables?: JsonObject },
  ): Promise<Recorder & { subscription: Subscription }>;
  /** The data of a query or mutation. */
  run(query: string, how?: { readonly session?: Session; readonly variables?: JsonObject }): Promise<Json>;
}

export const QUICK: SubscriptionOptions = {
  liveQueries: { refetchIntervalMs: 30, batchSize: 100 },
  streams: { refetchIntervalMs: 30, batchSize: 100 },
  detectorIntervalMs: 10,
  pollersPerRole: 5,
  timeoutMs: 5_000,
};

/** @param sql creates the database, whose tables the test tracks */
export async function testSubscriptions(sql: string, options: SubscriptionOptions = QUICK): Promise<TestSubscriptions> {
  const administration = await testAdministration(sql);
  const { state, url } = administration;
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  const observations: Observation[] = [];
  const pipeline: RequestPipeline = { ...PIPELINE, onWritten: (source) => subscriptions.written(source) };
  const subscriptions = createSubscriptions({ state, pipeline, options, observe: (one) => void observations.push(one) });
  return {
    ...administration,
    subscriptions,
    client,
    observations,
    async open(query, { session: who = ADMIN, variables = {} } = {}) {
      const recorder = new Recorder();
      const subscription = await subscriptions.open(who, { query, variables, operationName: null, api: 'graphql' }, {}, recorder);
      return Object.assign(recorder, { subscription });
    },
    async run(query, { session: who = ADMIN, variables = {} } = {}) {
      const request = { query, variables, operationName: null, api: 'graphql' } as const;
      const body = await runRequest({ pipeline, snapshot: state.current(), session: who, request, options: {} });
      return (parseJson(textOfBytes(body)) as JsonObject)['data'] as Json;
    },
    async close() {
      await subscriptions.close();
      await client.end().catch(() => undefined);
      await administration.close();
    },
  };
}
