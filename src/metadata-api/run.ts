import type { ResultBudget } from '../backend/result-budget.ts';
import { describeFailure } from '../errors/describe-failure.ts';
import { encodeAdminError, toSvcError } from '../errors/encode.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { BatchBudget } from '../pipeline/batch-budget.ts';
import type { RequestOptions } from '../pipeline/request-run.ts';
import { requireVersion } from '../state/require-version.ts';
import type { ChangeOrigin } from '../metadata-store/metadata-history.ts';
import type { State, Warning } from '../state/state.ts';
import { sizeOfBytes } from '../util/bytes.ts';
import { CancellationSource } from '../util/cancellation.ts';
import { isJsonArray, isJsonObject } from '../util/json.ts';
import type { Path } from '../util/path.ts';
import { runCooperatively } from '../util/cooperative.ts';
import { limitConcurrency } from '../util/limit-concurrency.ts';
import { type CommandAnswer, type OperationAnswer, PrintedJson, printAnswer } from './answer.ts';
import { CommandBatch, errorWithDefaultPath } from './batch.ts';
import { type Author, originOf } from './change-origin.ts';
import { type AfterCommit, type Prepared, type OperationContext, type Services, SUCCESS } from './operation.ts';
import type { AdministrationRequest, AdministrationCommand } from './request.ts';

/** Client of a request, with its cancellation and limits. */
export interface Caller extends Author, Pick<RequestOptions, 'signal' | 'budget' | 'trace' | 'reservation'> {
  /** Sentences that say how the client can become an administrator. Absent for administrators. */
  readonly remedies?: readonly string[];
  /** The request comes from a task at start of the service, which changes metadata that is read-only for all others. */
  readonly isOwn?: boolean;
  /** Timeout of a data operation, in ms. No timeout if absent. */
  readonly timeLimit?: number;
}

/**
 * Runs a decoded request, and returns its answer.
 * @param mode `dry-run` skips tasks that cannot be undone
 * @throws SvcError
 */
export async function runCommands(
  request: AdministrationRequest,
  services: Services,
  caller: Caller,
  mode: 'normal' | 'dry-run' = 'normal',
): Promise<CommandAnswer> {
  const { command, resourceVersion } = request;
  const afterCommit: AfterCommit[] = [];
  const warnings: Warning[] = [];
  const operations: string[] = [];
  const origin = (): ChangeOrigin => originOf(caller, operations);
  const run = (on: State): Promise<CommandAnswer> => {
    requireVersion(on.current(), resourceVersion);
    // May run again, on top of changes of other instances.
    afterCommit.length = 0;
    warnings.length = 0;
    operations.length = 0;
    const own = { ...services, state: on };
    const budget = caller.budget ?? services.pipeline.newBudget(caller.reservation);
    const collected = { afterCommit, warnings, operations, origin };
    return new Runner(own, caller, new CommandBatch(own, collected), budget, collected).whole(command);
  };
  const { state } = services;
  if (!needsTransaction(command)) {
    // Waits for pending changes, and reads those of other instances if the version differs.
    if (resourceVersion !== undefined)
      await state.transaction(async (draft) => requireVersion(draft.current(), resourceVersion), { repeatable: true });
    const before = state.current();
    return run(state).catch(async (thrown: unknown) => {
      // Another instance may have created the object. Not for bulks, whose earlier operations must not run twice.
      if (command.kind === 'operation' && thrown instanceof SvcError && thrown.code === 'not-exists') {
        const refuse = async (newest: State): Promise<void> => {
          if (newest.current() === before) throw thrown;
        };
        // A failed transaction makes the state read the newest metadata.
        await state.transaction(refuse, { repeatable: true });
        return run(state);
      }
      if (!(thrown instanceof SvcError) || thrown.code !== 'not-exists' || (await state.isAlive())) throw thrown;
      throw new SvcError('unexpected', 'the metadata database cannot be reached: try it again', {
        status: 503,
        isTransient: true,
        cause: thrown,
      });
    });
  }
  const repeatable = !some(command, ({ changes }) => changes === 'database');
  const answer = await state.transaction(run, { repeatable, origin, onWarning: (warning) => void warnings.push(warning) });
  for (const { run: task, warning } of mode === 'normal' ? afterCommit : []) {
    await task().catch((error: unknown) => {
      warnings.push({ ...warning, message: `${warning.message}: ${describeFailure(error)}` });
    });
  }
  if (warnings.length === 0 || answer.kind !== 'one' || answer.answer instanceof PrintedJson || !isJsonObject(answer.answer)) return answer;
  return one({ ...answer.answer, warnings: warnings.map(({ code, type, name, message }) => ({ code, type, name, message })) });
}

function one(answer: OperationAnswer): CommandAnswer {
  return { kind: 'one', answer };
}

/** Returns whether the request needs a transaction of the state. */
function needsTransaction(command: AdministrationCommand): boolean {
  return some(command, ({ changes, followsUp }) => changes === 'metadata' || (followsUp && command.kind === 'bulk'));
}

function some(command: AdministrationCommand, test: (prepared: Prepared) => boolean): boolean {
  return command.kind === 'bulk' ? command.items.some((item) => some(item, test)) : test(command.prepared);
}

/** Lists that the operations of a request add to. */
interface Collected {
  readonly afterCommit: AfterCommit[];
  readonly warnings: Warning[];
  /** Types of operations that may change something. */
  readonly operations: string[];
  readonly origin: () => ChangeOrigin;
}

class Runner {
  readonly #services: Services;
  readonly #caller: Caller;
  readonly #batch: CommandBatch;
  readonly #budget: BatchBudget;
  readonly #collected: Collected;

  constructor(services: Services, caller: Caller, batch: CommandBatch, budget: BatchBudget, collected: Collected) {
    this.#services = services;
    this.#caller = caller;
    this.#batch = batch;
    this.#budget = budget;
    this.#collected = collected;
  }

  async whole(command: AdministrationCommand, options: ElementOptions = {}): Promise<CommandAnswer> {
    const answer = await this.#run(command, options);
    await this.#batch.settle();
    return answer;
  }

  async #run(command: AdministrationCommand, options: ElementOptions): Promise<CommandAnswer> {
    if (command.kind === 'operation') return this.#runOperation(command.prepared, command.path, options);
    switch (command.mode) {
      case 'stop': {
        const answers: CommandAnswer[] = [];
        for (const item of command.items) answers.push(await this.#element(item));
        return { kind: 'many', answers };
      }
      case 'keep-going':
        return this.#keepGoing(command.items);
      case 'atomic':
        return this.#atomic(command.items);
      case 'concurrent':
        return this.#concurrent(command.items, command.path);
    }
  }

  /** Runs one of several elements. Its answer is printed at once, which measures it and takes the least memory. */
  #element(item: AdministrationCommand, options: ElementOptions = {}): Promise<CommandAnswer> {
    return this.#measured(item, (resultBudget) => this.#run(item, { ...options, resultBudget }));
  }

  async #measured(item: AdministrationCommand, run: (resultBudget: ResultBudget) => Promise<CommandAnswer>): Promise<CommandAnswer> {
    this.#budget.begin(item.path);
    const share = this.#budget.share();
    let size = 0;
    try {
      const found = await run(share);
      // The elements of a nested bulk have been measured.
      if (found.kind === 'many' || found.answer === SUCCESS) return found;
      const pieces = await runCooperatively(printAnswer(found));
      size = sizeOfBytes(pieces);
      return one(new PrintedJson(pieces));
    } finally {
      share.settle(size);
    }
  }

  /** Decodes the names of an operation with the backend of its source. Opens a source that the same request adds. */
  async #withSourceNames(decoded: Prepared): Promise<Prepared> {
    const { ofSource } = decoded;
    if (ofSource === undefined) return decoded;
    const { state } = this.#services;
    if (!state.current().metadata.sources.has(ofSource.name)) await this.#batch.settle();
    const backend = state.current().cache.sources.get(ofSource.name)?.backend;
    return backend === undefined ? decoded : ofSource.prepare(backend);
  }

  async #runOperation(decoded: Prepared, path: Path, options: ElementOptions): Promise<CommandAnswer> {
    const prepared = await this.#withSourceNames(decoded);
    const { afterCommit, warnings, operations } = this.#collected;
    if (prepared.changes !== 'nothing') operations.push(prepared.type);
    if (prepared.edit === undefined) await this.#batch.settle();
    else await this.#batch.add(prepared, path);
    warnings.push(...prepared.warnings);
    if (prepared.run === undefined) return one(SUCCESS);
    const changed = await this.#batch.settle();
    const { session, timeLimit, ...request } = this.#caller;
    const requestOptions = { ...request, ...options };
    const context: OperationContext = {
      services: this.#services,
      session,
      ...(requestOptions.signal === undefined ? {} : { signal: requestOptions.signal }),
      requestOptions: timeLimit === undefined ? requestOptions : { ...requestOptions, deadline: Date.now() + timeLimit },
      path,
      snapshot: this.#services.state.current(),
      changed,
      change: (change) => this.#batch.change(change),
      afterCommit: (task) => void afterCommit.push(task),
      warn: (warning) => void warnings.push(warning),
    };
    try {
      return one(await prepared.run(context));
    } catch (thrown) {
      throw thrown instanceof SvcError ? errorWithDefaultPath(thrown, path) : thrown;
    }
  }

  /** Runs each element independently; an error becomes its element of the answer. */
  async #keepGoing(items: readonly AdministrationCommand[]): Promise<CommandAnswer> {
    await this.#batch.settle();
    const answers: CommandAnswer[] = [];
    const { state } = this.#services;
    for (const item of items) {
      const changes = needsTransaction(item);
      const run = (on: State, resultBudget: ResultBudget): Promise<CommandAnswer> => {
        const own = { ...this.#services, state: on };
        const batch = new CommandBatch(own, this.#collected);
        return new Runner(own, this.#caller, batch, this.#budget, this.#collected).whole(item, { resultBudget });
      };
      const { afterCommit, warnings, operations } = this.#collected;
      const [before, warned, made] = [afterCommit.length, warnings.length, operations.length];
      try {
        answers.push(
          await this.#measured(item, (resultBudget) =>
            changes ? state.transaction((on) => run(on, resultBudget), { repeatable: false }) : run(state, resultBudget),
          ),
        );
      } catch (thrown) {
        const error = toSvcError(thrown);
        if (error.code === 'conflict') throw error;
        afterCommit.length = before;
        warnings.length = warned;
        operations.length = made;
        answers.push(one(encodeAdminError(error, this.#services.showInternal)));
      }
    }
    return { kind: 'many', answers };
  }

  /** Composes all edits and checks consistency once. */
  async #atomic(items: readonly AdministrationCommand[]): Promise<CommandAnswer> {
    const composed = items.map((item) => {
      const prepared = item.kind === 'operation' ? item.prepared : undefined;
      if (prepared === undefined || !ATOMIC.has(prepared.unprefixed ?? prepared.type)) {
        throw new SvcError('not-supported', 'Bulk atomic does not support this command', { path: item.path });
      }
      return { prepared, path: item.path };
    });
    await this.#batch.settle();
    for (const { prepared, path } of composed)
      await this.#batch.add({ ...(await this.#withSourceNames(prepared)), readsDependencies: false }, path);
    try {
      await this.#batch.settle();
    } catch (thrown) {
      if (!(thrown instanceof SvcError) || !isJsonArray(thrown.internal)) throw thrown;
      throw new SvcError('bad-request', 'Schema inconsistency', { path: thrown.path, internal: thrown.internal });
    }
    return one(SUCCESS);
  }

  async #concurrent(items: readonly AdministrationCommand[], path: Path): Promise<CommandAnswer> {
    if (items.some((item) => item.kind !== 'operation' || !item.prepared.readOnly)) {
      throw new SvcError('not-supported', 'Only read-only queries are allowed in a concurrent_bulk', { path });
    }
    await this.#batch.settle();
    const limited = limitConcurrency(MAX_CONCURRENT);
    const signal = new CancellationSource(this.#caller.signal);
    try {
      return { kind: 'many', answers: await Promise.all(items.map((item) => limited(() => this.#element(item, { signal })))) };
    } catch (error) {
      // The answers of the other elements are no longer needed.
      signal.cancel();
      throw error;
    }
  }
}

/** Options of an element that override those of the request. */
type ElementOptions = Pick<RequestOptions, 'signal' | 'resultBudget'>;

/** Maximum number of concurrent elements of a `concurrent_bulk`: each uses a connection of a database. */
const MAX_CONCURRENT = 10;

/** Operations that `bulk_atomic` supports, without their prefix. */
const ATOMIC: ReadonlySet<string> = new Set([
  'create_object_relationship',
  'create_array_relationship',
  'drop_relationship',
  'delete_remote_relationship',
]);
