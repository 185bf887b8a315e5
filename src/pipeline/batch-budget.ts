/**
 * The limits of one operation hold for all operations of a batch together: else a batch would be a
 * way around them.
 */
import { type ResultBudget, intakeRefusal } from '../backend/result-budget.ts';
import { SvcError } from '../errors/svc-error.ts';
import { type JoinUse, noJoinUse } from '../execute/holes.ts';
import { scanDocument } from '../graphql-engine/document/scan.ts';
import type { Plan } from '../plan/plan.ts';
import type { OperationLimits } from '../graphql-engine/engine.ts';
import type { OperationSize } from '../graphql-engine/translation.ts';
import type { AnswerUse } from '../webhooks/answer-use.ts';
import { ROOT } from '../util/path.ts';
import { AnswerLimit } from './answer-limit.ts';
import type { MemoryHold } from './result-memory.ts';

/** What a statement of a mutation, a request to a remote schema or a join costs, in parts of variables. */
const STATEMENT_COST = 16;

/** Bytes of answers. */
export interface MostAnswered {
  /** Of the operations of a batch together: what they have answered, and what is coming. */
  readonly together: number;
  /** Of one operation. */
  readonly each: number;
}

export class BatchBudget {
  readonly #limits: OperationLimits;
  readonly #most: MostAnswered;
  readonly #answered: AnswerLimit;
  readonly #hold: MemoryHold | undefined;
  #tokens = 0;
  #values = 0;
  #objects = 0;
  #aliases = 0;
  #parts = 0;
  /** What joins have taken. */
  readonly joins: JoinUse = noJoinUse();
  /** What remote schemas have answered. */
  readonly answers: AnswerUse;
  /** What handlers of actions have answered. */
  readonly handlers: AnswerUse;

  /** @param hold of the request; absent if its answers do not count among those of all requests */
  constructor(limits: OperationLimits, most: MostAnswered, hold?: MemoryHold) {
    this.#limits = limits;
    this.#hold = hold;
    this.answers = { bytes: 0, memory: hold };
    this.handlers = { bytes: 0, memory: hold };
    this.#most = most;
    this.#answered = new AnswerLimit(most.together);
  }

  /** Before anything of an operation is done: the answers to those before it wait in memory for its own. @throws SvcError bad-request */
  begin(path = ROOT): void {
    const { together } = this.#most;
    if (this.#answered.taken < together) return;
    const message = `not run: the answers to the operations before it have ${together} bytes together, or more`;
    throw new SvcError('bad-request', message, { path });
  }

  /** What one operation keeps: no more than what the others leave of the answers, whether they have ended or not. */
  share(): AnswerShare {
    return new AnswerShare(new AnswerLimit(this.#most.each, this.#hold), this.#answered, this.#most.together);
  }

  /** Before a document is parsed. @throws SvcError validation-failed */
  read(query: string): void {
    // A document that is too large by itself is found so, and told so, by whoever parses it.
    const tokens = scanDocument(query, this.#limits.maxTokens);
    this.#tokens += tokens;
    if (this.#tokens > this.#limits.maxTokens) throw tooMuch(this.#limits.maxTokens, 'tokens');
  }

  /** Before an operation is translated. @throws SvcError validation-failed */
  enter({ values, objects, aliases }: OperationSize): void {
    // Once it is spent, nothing more is translated.
    this.#checkParts();
    const { maxValues, maxObjects, maxAliases } = this.#limits;
    this.#values += values;
    if (this.#values > maxValues) throw tooMuch(maxValues, 'fields and values');
    this.#objects += objects;
    if (this.#objects > maxObjects) throw tooMuch(maxObjects, 'fields with a selection');
    this.#aliases += aliases;
    if (this.#aliases > maxAliases) throw tooMuch(maxAliases, 'aliases');
  }

  /** Once it has been translated, with the parts of variables that were looked into. @throws SvcError validation-failed */
  looked(parts: number): void {
    this.#parts += parts;
    this.#checkParts();
  }

  /** Before its statements are run. @throws SvcError validation-failed */
  run(plan: Plan): void {
    for (const step of plan.steps) {
      if (step.kind === 'mutation') this.#parts += STATEMENT_COST * step.statements.length;
      else if (step.kind === 'remote' || step.kind === 'call') this.#parts += STATEMENT_COST;
    }
    this.#parts += STATEMENT_COST * plan.joins.length;
    this.#checkParts();
  }

  /** Statements that a plan turns out to need. @throws SvcError validation-failed */
  readonly addStatements = (count: number): void => {
    this.#parts += STATEMENT_COST * count;
    this.#checkParts();
  };

  #checkParts(): void {
    if (this.#parts > this.#limits.maxValues) throw tooMuch(this.#limits.maxValues, 'parts of variables that they depend on');
  }
}

/** What one operation of a batch keeps of its answer. */
export class AnswerShare implements ResultBudget {
  readonly #own: AnswerLimit;
  readonly #together: AnswerLimit;
  readonly #mostTogether: number;
  #isOwnFault = false;
  #isSettled = false;
  /** Bytes of `own` that are made while they are sent. */
  #printed = 0;

  constructor(own: AnswerLimit, together: AnswerLimit, mostTogether: number) {
    this.#own = own;
    this.#together = together;
    this.#mostTogether = mostTogether;
  }

  take(bytes: number): boolean {
    // What ran beside a part that failed may hear of it late: nobody gives back what it would keep now.
    if (this.#isSettled) return false;
    if (!this.#own.take(bytes)) {
      this.#isOwnFault = true;
      return false;
    }
    if (this.#together.take(bytes)) return true;
    this.#own.giveBack(bytes);
    return false;
  }

  print(bytes: number): boolean {
    if (this.#isSettled) return false;
    if (!this.#own.print(bytes)) {
      this.#isOwnFault = true;
      return false;
    }
    if (!this.#together.print(bytes)) return false;
    this.#printed += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    if (this.#isSettled) return;
    this.#own.giveBack(bytes);
    this.#together.giveBack(bytes);
  }

  refusal(isDone: boolean): SvcError {
    if (this.#isOwnFault) return this.#own.refusal(isDone);
    return intakeRefusal(`the answers to the operations of the batch have more than ${this.#mostTogether} bytes together`, isDone);
  }

  /** Its answer is there, and has so many bytes: of what it was made of, nothing is kept, and nothing more is taken. */
  settle(bytes: number): void {
    this.#together.giveBack(this.#own.taken);
    // What of the answer is kept stays in the result budget until the request is answered.
    const kept = this.#own.taken - this.#printed;
    if (bytes < kept) this.#own.giveBack(kept - bytes);
    this.#isSettled = true;
    this.#together.keep(bytes);
  }
}

function tooMuch(limit: number, what: string): SvcError {
  return new SvcError('validation-failed', `the operations of the batch have more than ${limit} ${what}`);
}
