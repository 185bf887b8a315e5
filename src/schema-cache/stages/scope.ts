/**
 * What a stage may ask of its source while it resolves one table. Every question goes through
 * these functions, which record the answer: the result of the stage is kept as long as the same
 * questions have the same answers (compared by identity).
 */
import type { Backend } from '../../backend/backend.ts';
import { type CatalogColumn, type CatalogFunction, type CatalogTable, nameKey, type QualifiedName } from '../../catalog/catalog.ts';
import type { NamingConvention } from '../../metadata/source.ts';
import { printName } from '../../metadata/table-name.ts';
import type { ColumnInfo, ComputedFieldInfo, RelationshipInfo } from '../schema-cache.ts';

/** Everything that can be named in a permission of the table; GraphQL names play no part here. */
export interface TableFields {
  readonly name: QualifiedName;
  /** See `CatalogTable`. */
  readonly stored: boolean;
  /** All columns of the catalog. */
  readonly columns: ReadonlyMap<string, ColumnInfo>;
  readonly relationships: ReadonlyMap<string, RelationshipInfo>;
  readonly computedFields: ReadonlyMap<string, ComputedFieldInfo>;
}

/** What identifies a source in messages and records, and decides the names of its fields. */
export interface StageSource {
  readonly name: string;
  readonly backend: Backend;
  readonly namingConvention: NamingConvention;
  /** The schema whose tables are named without one. */
  readonly unnamedSchema?: string;
}

/** As messages name it: without the schema that goes without saying. */
export function printTable(source: StageSource, name: QualifiedName): string {
  return printName(name, source.backend.defaultSchema);
}

export type Question = 'catalog' | 'enum' | 'functions' | 'fields';

/** Answers by kind of question; the key is a `nameKey`. */
export type StageAnswers = Readonly<Record<Question, (key: string) => unknown>>;

export interface Answered {
  readonly question: Question;
  readonly key: string;
  readonly answer: unknown;
}

/** Whether all questions have the same answers as before. */
export function stillHolds(answered: readonly Answered[], answers: StageAnswers): boolean {
  for (const { question, key, answer } of answered) {
    if (answers[question](key) !== answer) return false;
  }
  return true;
}

/** Asks and writes down. */
export class Inquiry {
  readonly answered: Answered[];
  readonly #answers: StageAnswers;

  /** @param answered what the parts asked that are taken over */
  constructor(answers: StageAnswers, answered: readonly Answered[] = []) {
    this.#answers = answers;
    this.answered = [...answered];
  }

  #ask(question: Question, name: QualifiedName): unknown {
    const key = nameKey(name);
    const answer = this.#answers[question](key);
    if (!this.answered.some((a) => a.key === key && a.question === question)) this.answered.push({ question, key, answer });
    return answer;
  }

  /** The catalog's entry of a tracked table. */
  tracked(name: QualifiedName): CatalogTable | undefined {
    return this.#ask('catalog', name) as CatalogTable | undefined;
  }

  /** Whether the table is tracked as an enum. Its values are no part of the answer. */
  isEnum(name: QualifiedName): boolean {
    return this.#ask('enum', name) === true;
  }

  /** All overloads. */
  functions(name: QualifiedName): readonly CatalogFunction[] {
    return (this.#ask('functions', name) as readonly CatalogFunction[] | undefined) ?? [];
  }

  /** The fields of a tracked table. */
  fields(name: QualifiedName): TableFields | undefined {
    return this.#ask('fields', name) as TableFields | undefined;
  }
}

export function columnOf(table: CatalogTable, name: string): CatalogColumn | undefined {
  return table.columns.find((column) => column.name === name);
}
