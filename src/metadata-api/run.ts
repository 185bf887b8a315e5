import type { Session } from '../auth/session.ts';
import type { ResultBudget } from '../backend/result-budget.ts';
import { describeFailure } from '../errors/describe-failure.ts';
import { encodeAdminError, toSvcError } from '../errors/encode.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { BatchBudget } from '../pipeline/batch-budget.ts';
import type { RequestOptions } from '../pipeline/request-run.ts';
import { requireVersion } from '../state/require-version.ts';
import type { State, Warning } from '../state/state.ts';
import { sizeOfBytes } from '../util/bytes.ts';
import { CancellationSource } from '../util/cancellation.ts';
import { isJsonArray, isJsonObject } from '../util/json.ts';
import type { Path } from '../util/path.ts';
import { inSlices } from '../util/sliced.ts';
import { createTurns } from '../util/turns.ts';
import { type CommandAnswer, type OperationAnswer, PrintedJson, printAnswer } from './answer.ts';
import { CommandBatch, placed } from './batch.ts';
import { type Afterwards, type Prepared, type OperationContext, type Services, SUCCESS } from './operation.ts';
import type { AdministrationRequest, Command } from './request.ts';

/** Who asks, and how long the answer is wanted. */
export interface Caller extends Pick<RequestOptions, 'signal' | 'address' | 'headers' | 'requestId' | 'budget' | 'trace' | 'hold'> {
  readonly session: Session;
  /** ms that an operation on rows may take; absent: as long as it wants. */
  readonly timeLimit?: number;
}

/**
 * Runs a decoded request and gives its answer.
 * @param fate `forgotten`: what cannot be taken back is not done
 * @throws SvcError
 */
export async function runCommands(
  request: AdministrationRequest,
  services: Services,
  caller: Caller,
  fate: 'kept' | 'forgotten' = 'kept',
): Promise<CommandAnswer> {
  const { command, resourceVersion } = request;
  const afterwards: Afterwards[] = [];
  const warnings: Warning[] = [];
  const run = (on: State): Promise<CommandAnswer> => {
    requireVersion(on.current(), resourceVersion);
    // It may be run again, on top of what others have changed.
    afterwards.length = 0;
    warnings.length = 0;
    const own = { ...services, state: on };
    const budget = caller.budget ?? services.pipeline.newBudget(caller.hold);
    return new Runner(own, caller, new CommandBatch(own, warnings), budget, afterwards, warnings).whole(command);
  };
  const { state } = services;
  if (!changesTogether(command)) {
    // Waits for changes under way; the versions of other instances are read where this one differs.
    if (resourceVersion !== undefined)
      await state.together(async (draft) => requireVersion(draft.current(), resourceVersion), { repeatable: true });
    const before = state.current();
    return run(state).catch(async (thrown: unknown) => {
      // Another instance may have made it. Operations in front of the one that is refused are not run twice.
      if (command.kind === 'operation' && thrown instanceof SvcError && thrown.code === 'not-exists') {
        const refuse = async (newest: State): Promise<void> => {
          if (newest.current() === before) throw thrown;
        };
        // A refusal makes the state read the newest metadata.
        await state.together(refuse, { repeatable: true });
        return run(state);
      }
      if (!(thrown instanceof SvcError) || thrown.code !== 'not-exists' || (await state.isAlive())) throw thrown;
      throw new SvcError('unexpected', 'the metadata database cannot be reached: try it again', {
        status: 503,
        isPassing: true,
        cause: thrown,
      });
    });
  }
  const repeatable = !some(command, ({ changes }) => changes === 'database');
  const answer = await state.together(run, { repeatable, onWarning: (warning) => void warnings.push(warning) });
  for (const { run: task, warning } of fate === 'kept' ? afterwards : []) {
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

/** Whether metadata may change in more than one step, all or none of which count. */
function changesTogether(command: Command): boolean {
  return some(command, ({ changes, followsUp }) => changes === 'metadata' || (followsUp && command.kind === 'bulk'));
}

function some(command: Command, test: (prepared: Prepared) => boolean): boolean {
  return command.kind === 'bulk' ? command.items.some((item) => some(item, test)) : test(command.prepared);
}

class Runner {
  readonly #services: Services;
  readonly #caller: Caller;
  readonly #batch: CommandBatch;
  readonly #budget: BatchBudget;
  readonly #afterwards: Afterwards[];
  readonly #warnings: Warning[];

  constructor(services: Services, caller: Caller, batch: CommandBatch, budget: BatchBudget, afterwards: Afterwards[], warnings: Warning[]) {
    this.#services = services;
    this.#caller = caller;
    this.#batch = batch;
    this.#budget = budget;
    this.#afterwards = afterwards;
    this.#warnings = warnings;
  }

  async whole(command: Command, within: Within = NOTHING_MORE): Promise<CommandAnswer> {
    const answer = await this.#run(command, within);
    await this.#batch.settle();
    return answer;
  }

  async #run(command: Command, within: Within): Promise<CommandAnswer> {
    if (command.kind === 'operation') return this.#runOperation(command.prepared, command.path, within);
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

  /** One of several. Its answer is printed at once: so it takes least memory until the others have theirs, and is measured. */
  #element(item: Command, within: Within = NOTHING_MORE): Promise<CommandAnswer> {
    return this.#measured(item, (intake) => this.#run(item, { ...within, intake }));
  }

  async #measured(item: Command, run: (intake: ResultBudget) => Promise<CommandAnswer>): Promise<CommandAnswer> {
    this.#budget.begin(item.path);
    const share = this.#budget.share();
    let size = 0;
    try {
      const found = await run(share);
      // The elements of a bulk within have been measured.
      if (found.kind === 'many' || found.answer === SUCCESS) return found;
      const pieces = await inSlices(printAnswer(found));
      size = sizeOfBytes(pieces);
      return one(new PrintedJson(pieces));
    } finally {
      share.settle(size);
    }
  }

  /** The operation with names as its source has them. A source that the same request adds is opened for it. */
  async #named(decoded: Prepared): Promise<Prepared> {
    const { ofSource } = decoded;
    if (ofSource === undefined) return decoded;
    const { state } = this.#services;
    if (!state.current().metadata.sources.has(ofSource.name)) await this.#batch.settle();
    const backend = state.current().cache.sources.get(ofSource.name)?.backend;
    return backend === undefined ? decoded : ofSource.prepare(backend);
  }

  async #runOperation(decoded: Prepared, path: Path, within: Within): Promise<CommandAnswer> {
    const prepared = await this.#named(decoded);
    if (prepared.edit === undefined) await this.#batch.settle();
    else await this.#batch.add(prepared, path);
    this.#warnings.push(...prepared.warnings);
    if (prepared.run === undefined) return one(SUCCESS);
    const changed = await this.#batch.settle();
    const { session, timeLimit, ...asked } = this.#caller;
    const how = { ...asked, ...within };
    const context: OperationContext = {
      services: this.#services,
      session,
      ...(how.signal === undefined ? {} : { signal: how.signal }),
      how: timeLimit === undefined ? how : { ...how, deadline: Date.now() + timeLimit },
      path,
      snapshot: this.#services.state.current(),
      changed,
      change: (change) => this.#batch.change(change),
      afterwards: (task) => void this.#afterwards.push(task),
      warn: (warning) => void this.#warnings.push(warning),
    };
    try {
      return one(await prepared.run(context));
    } catch (thrown) {
      throw thrown instanceof SvcError ? placed(thrown, path) : thrown;
    }
  }

  /** Each element for itself; a failure becomes its element of the answer. */
  async #keepGoing(items: readonly Command[]): Promise<CommandAnswer> {
    await this.#batch.settle();
    const answers: CommandAnswer[] = [];
    const { state } = this.#services;
    for (const item of items) {
      const changes = changesTogether(item);
      const run = (on: State, intake: ResultBudget): Promise<CommandAnswer> => {
        const own = { ...this.#services, state: on };
        const batch = new CommandBatch(own, this.#warnings);
        return new Runner(own, this.#caller, batch, this.#budget, this.#afterwards, this.#warnings).whole(item, { intake });
      };
      const before = this.#afterwards.length;
      const warned = this.#warnings.length;
      try {
        answers.push(
          await this.#measured(item, (intake) =>
            changes ? state.together((on) => run(on, intake), { repeatable: false }) : run(state, intake),
          ),
        );
      } catch (thrown) {
        const error = toSvcError(thrown);
        if (error.code === 'conflict') throw error;
        this.#afterwards.length = before;
        this.#warnings.length = warned;
        answers.push(one(encodeAdminError(error, this.#services.showInternal)));
      }
    }
    return { kind: 'many', answers };
  }

  /** All edits are composed first and checked once, so that what is broken in between does not matter. */
  async #atomic(items: readonly Command[]): Promise<CommandAnswer> {
    const composed = items.map((item) => {
      const prepared = item.kind === 'operation' ? item.prepared : undefined;
      if (prepared === undefined || !ATOMIC.has(prepared.unprefixed ?? prepared.type)) {
        throw new SvcError('not-supported', 'Bulk atomic does not support this command', { path: item.path });
      }
      return { prepared, path: item.path };
    });
    await this.#batch.settle();
    for (const { prepared, path } of composed) await this.#batch.add({ ...(await this.#named(prepared)), readsDependencies: false }, path);
    try {
      await this.#batch.settle();
    } catch (thrown) {
      if (!(thrown instanceof SvcError) || !isJsonArray(thrown.internal)) throw thrown;
      throw new SvcError('bad-request', 'Schema inconsistency', { path: thrown.path, internal: thrown.internal });
    }
    return one(SUCCESS);
  }

  async #concurrent(items: readonly Command[], path: Path): Promise<CommandAnswer> {
    if (items.some((item) => item.kind !== 'operation' || !item.prepared.readOnly)) {
      throw new SvcError('not-supported', 'Only read-only queries are allowed in a concurrent_bulk', { path });
    }
    await this.#batch.settle();
    const turns = createTurns(AT_ONCE);
    const signal = new CancellationSource(this.#caller.signal);
    try {
      return { kind: 'many', answers: await Promise.all(items.map((item) => turns(() => this.#element(item, { signal })))) };
    } catch (error) {
      // The answers of those beside it are for nobody any more.
      signal.cancel();
      throw error;
    }
  }
}

/** What an element has of its own, instead of what the whole request has. */
type Within = Pick<RequestOptions, 'signal' | 'intake'>;
const NOTHING_MORE: Within = {};

/** Elements of `concurrent_bulk`: each takes a connection of a database. */
const AT_ONCE = 10;

/** Operations, without their prefix, that `bulk_atomic` takes. */
const ATOMIC: ReadonlySet<string> = new Set([
  'create_object_relationship',
  'create_array_relationship',
  'drop_relationship',
  'delete_remote_relationship',
]);
