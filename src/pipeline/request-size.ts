/** Counts the size of a data operation while it is translated, like that of the equivalent GraphQL document, and applies the same limits. */
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

  /** Called before fields of a level are selected. @throws SvcError validation-failed */
  addFields(count: number, level: number): void {
    if (level > this.#limits.maxDepth) throw tooDeep(this.#limits);
    if (count > 0 && level > this.#depth) this.#depth = level;
    this.#addValues(count);
  }

  /** Called before a field with a selection is selected. @throws SvcError validation-failed */
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

  /** Called before an argument is read. @throws SvcError validation-failed */
  addJson(json: Json, depth = 1): void {
    if (depth > this.#limits.maxDepth) throw tooDeep(this.#limits);
    this.#addValues(1);
    const inner = isJsonArray(json) ? json : isJsonObject(json) ? Object.values(json) : [];
    for (const value of inner) this.addJson(value, depth + 1);
  }

  /** Adds the cost of a part that is as expensive as this number of values. @throws SvcError validation-failed */
  charge(values: number): void {
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
