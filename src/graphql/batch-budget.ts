/**
 * The limits of one operation hold for all operations of a batch together: else a batch would be a
 * way around them.
 */
import { SvcError } from '../errors/svc-error.ts';
import { type JoinUse, noJoinUse } from '../execute/holes.ts';
import { scanDocument } from '../schema/document/scan.ts';
import type { Plan } from '../plan/plan.ts';
import type { OperationLimits } from '../schema/engine.ts';
import type { OperationSize } from '../schema/translation.ts';
import type { AnswerUse } from '../webhooks/answer-use.ts';
import { ROOT } from '../util/path.ts';

/** What a statement of a mutation, a request to a remote schema or a join costs, in parts of variables. */
const STATEMENT_COST = 16;

/** Bytes. */
const DEFAULT_ANSWERS = 256 * 1024 * 1024;

export class BatchBudget {
  readonly #limits: OperationLimits;
  readonly #mostAnswered: number;
  #answered = 0;
  #tokens = 0;
  #values = 0;
  #objects = 0;
  #aliases = 0;
  #parts = 0;
  /** What joins have taken. */
  readonly joins: JoinUse = noJoinUse();
  /** What remote schemas have answered. */
  readonly answers: AnswerUse = { bytes: 0 };
  /** What handlers of actions have answered. */
  readonly handlers: AnswerUse = { bytes: 0 };

  /** @param mostAnswered bytes of answers, beyond which nothing more is begun */
  constructor(limits: OperationLimits, mostAnswered = DEFAULT_ANSWERS) {
    this.#limits = limits;
    this.#mostAnswered = mostAnswered;
  }

  /** Before anything of an operation is done: the answers to those before it wait in memory for its own. @throws SvcError bad-request */
  begin(path = ROOT): void {
    if (this.#answered < this.#mostAnswered) return;
    const message = `not run: the answers to the operations before it have ${this.#mostAnswered} bytes together, or more`;
    throw new SvcError('bad-request', message, { path });
  }

  answered(bytes: number): void {
    this.#answered += bytes;
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

function tooMuch(limit: number, what: string): SvcError {
  return new SvcError('validation-failed', `the operations of the batch have more than ${limit} ${what}`);
}
