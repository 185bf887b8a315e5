/**
 * How much a request asks for that is no GraphQL document, while it is translated: counted like the fields and values of
 * the document that would ask for the same, and held to the same limits.
 */
import { SvcError } from '../errors/svc-error.ts';
import type { OperationLimits } from '../graphql-engine/engine.ts';
import type { OperationSize } from '../graphql-engine/translation.ts';
import { isJsonArray, isJsonObject, type Json } from '../util/json.ts';

export class RequestSize {
  readonly #limits: OperationLimits;
  #depth = 0;
  #values = 0;
  #objects = 0;
  #aliases = 0;

  constructor(limits: OperationLimits) {
    this.#limits = limits;
  }

  /** Before so many fields of a level are selected. @throws SvcError validation-failed */
  addFields(count: number, level: number): void {
    if (level > this.#limits.maxDepth) throw tooDeep(this.#limits);
    if (count > 0 && level > this.#depth) this.#depth = level;
    this.#addValues(count);
  }

  /** Before a field with a selection of its own is selected. @throws SvcError validation-failed */
  addNode(level: number): void {
    this.addFields(1, level);
    this.#objects += 1;
    const { maxObjects } = this.#limits;
    if (this.#objects > maxObjects) throw tooMany(maxObjects, 'fields with a selection');
  }

  /** @throws SvcError validation-failed */
  addAlias(): void {
    this.#aliases += 1;
    const { maxAliases } = this.#limits;
    if (this.#aliases > maxAliases) throw tooMany(maxAliases, 'aliases');
  }

  /** Before an argument is read. @throws SvcError validation-failed */
  addJson(json: Json, depth = 1): void {
    if (depth > this.#limits.maxDepth) throw tooDeep(this.#limits);
    this.#addValues(1);
    const inner = isJsonArray(json) ? json : isJsonObject(json) ? Object.values(json) : [];
    for (const value of inner) this.addJson(value, depth + 1);
  }

  /** What is asked for costs as much as so many more values would. @throws SvcError validation-failed */
  costs(values: number): void {
    this.#addValues(values);
  }

  size(): OperationSize {
    return { depth: this.#depth, values: this.#values, objects: this.#objects, aliases: this.#aliases };
  }

  #addValues(count: number): void {
    this.#values += count;
    const { maxValues } = this.#limits;
    if (this.#values > maxValues) throw tooMany(maxValues, 'fields and values');
  }
}

function tooDeep({ maxDepth }: OperationLimits): SvcError {
  return new SvcError('validation-failed', `the operation is nested deeper than ${maxDepth} levels`);
}

function tooMany(limit: number, what: string): SvcError {
  return new SvcError('validation-failed', `the operation has more than ${limit} ${what}`);
}
