/** The limits of one operation apply to all operations of a batch together; otherwise a batch would bypass them. */
import { type ResultBudget, budgetExceeded } from '../backend/result-budget.ts';
import { SvcError } from '../errors/svc-error.ts';
import { type JoinUsage, noJoinUsage } from '../execute/placeholders.ts';
import { scanDocument } from '../graphql-engine/document/scan.ts';
import type { OperationPlan } from '../plan/plan.ts';
import type { OperationLimits } from '../graphql-engine/engine.ts';
import type { OperationSize } from '../graphql-engine/translation.ts';
import type { ResponseUsage } from '../webhooks/response-usage.ts';
import { ROOT } from '../util/path.ts';
import { OperationBudget } from './operation-budget.ts';
import type { MemoryReservation } from './result-memory.ts';

/** Cost of a statement of a mutation, a request to a remote schema, or a join. The unit is one inspected part of a variable. */
const STATEMENT_COST = 16;

/** Maximum size of responses, in bytes. */
export interface ResponseLimits {
  /** All operations of a batch, including those that are still running. */
  readonly batch: number;
  readonly operation: number;
}

export class BatchBudget {
  readonly #limits: OperationLimits;
  readonly #responseLimits: ResponseLimits;
  /** Responses of all operations. */
  readonly #responses: OperationBudget;
  readonly #reservation: MemoryReservation | undefined;
  #tokens = 0;
  #values = 0;
  #objects = 0;
  #aliases = 0;
  #parts = 0;
  readonly joins: JoinUsage = noJoinUsage();
  /** Responses of remote schemas. */
  readonly answers: ResponseUsage;
  /** Responses of action handlers. */
  readonly handlers: ResponseUsage;

  /** @param reservation of the request; absent if its results do not count */
  constructor(limits: OperationLimits, responseLimits: ResponseLimits, reservation?: MemoryReservation) {
    this.#limits = limits;
    this.#reservation = reservation;
    this.answers = { bytes: 0, memory: reservation };
    this.handlers = { bytes: 0, memory: reservation };
    this.#responseLimits = responseLimits;
    this.#responses = new OperationBudget(responseLimits.batch);
  }

  /** Called before an operation starts. The responses of earlier operations stay in memory meanwhile. @throws SvcError bad-request */
  begin(path = ROOT): void {
    const { batch } = this.#responseLimits;
    if (this.#responses.used < batch) return;
    const message = `not run: the responses of the preceding operations of the batch have reached ${batch} bytes`;
    throw new SvcError('bad-request', message, { path });
  }

  /** Returns the result budget of one operation. Responses of the other operations, ended or running, reduce it. */
  share(): BatchShare {
    const { operation, batch } = this.#responseLimits;
    return new BatchShare(new OperationBudget(operation, this.#reservation), this.#responses, batch);
  }

  /** Called before a document is parsed. @throws SvcError validation-failed */
  addDocument(query: string): void {
    // A document that exceeds the limit by itself is reported by the parser.
    const tokens = scanDocument(query, this.#limits.maxTokens);
    this.#tokens += tokens;
    if (this.#tokens > this.#limits.maxTokens) throw tooMuch(this.#limits.maxTokens, 'tokens');
  }

  /** Called before an operation is translated. @throws SvcError validation-failed */
  addSize({ values, objects, aliases }: OperationSize): void {
    // Once the limit of parts is exceeded, nothing more is translated.
    this.#checkParts();
    const { maxValues, maxObjects, maxAliases } = this.#limits;
    this.#values += values;
    if (this.#values > maxValues) throw tooMuch(maxValues, 'fields and values');
    this.#objects += objects;
    if (this.#objects > maxObjects) throw tooMuch(maxObjects, 'fields with a selection');
    this.#aliases += aliases;
    if (this.#aliases > maxAliases) throw tooMuch(maxAliases, 'aliases');
  }

  /** Called after translation with the number of inspected parts of variables. @throws SvcError validation-failed */
  addParts(parts: number): void {
    this.#parts += parts;
    this.#checkParts();
  }

  /** Called before the plan runs. @throws SvcError validation-failed */
  addPlan(plan: OperationPlan): void {
    for (const step of plan.steps) {
      if (step.kind === 'mutation') this.#parts += STATEMENT_COST * step.statements.length;
      else if (step.kind === 'remote' || step.kind === 'call') this.#parts += STATEMENT_COST;
    }
    this.#parts += STATEMENT_COST * plan.joins.length;
    this.#checkParts();
  }

  /** Called for statements that the plan does not contain. @throws SvcError validation-failed */
  readonly addStatements = (count: number): void => {
    this.#parts += STATEMENT_COST * count;
    this.#checkParts();
  };

  #checkParts(): void {
    if (this.#parts > this.#limits.maxValues) throw tooMuch(this.#limits.maxValues, 'parts of variables that they depend on');
  }
}

/** The result budget of one operation of a batch. */
class BatchShare implements ResultBudget {
  readonly #own: OperationBudget;
  readonly #batch: OperationBudget;
  readonly #batchLimit: number;
  #exceedsOwn = false;
  #isSettled = false;
  /** Bytes of `#own` that are printed only while the response is sent. */
  #printed = 0;

  constructor(own: OperationBudget, batch: OperationBudget, batchLimit: number) {
    this.#own = own;
    this.#batch = batch;
    this.#batchLimit = batchLimit;
  }

  take(bytes: number): boolean {
    // Parts that ran in parallel with a failed one may end late: their bytes would never be released.
    if (this.#isSettled) return false;
    if (!this.#own.take(bytes)) {
      this.#exceedsOwn = true;
      return false;
    }
    if (this.#batch.take(bytes)) return true;
    this.#own.release(bytes);
    return false;
  }

  print(bytes: number): boolean {
    if (this.#isSettled) return false;
    if (!this.#own.print(bytes)) {
      this.#exceedsOwn = true;
      return false;
    }
    if (!this.#batch.print(bytes)) return false;
    this.#printed += bytes;
    return true;
  }

  release(bytes: number): void {
    if (this.#isSettled) return;
    this.#own.release(bytes);
    this.#batch.release(bytes);
  }

  refusal(isDone: boolean): SvcError {
    if (this.#exceedsOwn) return this.#own.refusal(isDone);
    return budgetExceeded(`the responses of the batch exceed ${this.#batchLimit} bytes`, isDone);
  }

  /** Replaces the bytes of the results by the size of the finished response. After that, `take` returns false. */
  settle(bytes: number): void {
    this.#batch.release(this.#own.used);
    // The response stays in the result budget until the request is answered.
    const held = this.#own.used - this.#printed;
    if (bytes < held) this.#own.release(held - bytes);
    this.#isSettled = true;
    this.#batch.add(bytes);
  }
}

function tooMuch(limit: number, what: string): SvcError {
  return new SvcError('validation-failed', `the operations of the batch have more than ${limit} ${what}`);
}
