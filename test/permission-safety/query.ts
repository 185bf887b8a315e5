/** Random requests as data, and as GraphQL text with variables. */
import type { Json } from '../../src/util/json.ts';
import { type Groups, printGroups } from './groups.ts';
import { isInts, isJsonb } from './values.ts';
import {
  type Exp,
  kindOf,
  type Kind,
  type Operand,
  type Ref,
  SCALARS,
  scalarOf,
  type Table,
  tableOf,
  type Value,
  type World,
} from './world.ts';

export interface OrderTerm {
  readonly path: readonly string[];
  /** Null for the number of rows of the array relationship or table computed field that `path` ends in. */
  readonly last:
    | { readonly kind: 'read'; readonly ref: Ref }
    | { readonly kind: 'aggregate'; readonly name: string; readonly function: string; readonly ref: Ref | null };
  readonly direction: string;
}

export interface Args {
  readonly where: Exp | null;
  readonly orderBy: readonly OrderTerm[];
  readonly limit: number | null;
  readonly offset: number | null;
  readonly distinctOn: readonly string[];
}

export const NO_ARGS: Args = { where: null, orderBy: [], limit: null, offset: null, distinctOn: [] };

export type Field =
  | { readonly k: 'typename'; readonly alias: string }
  | { readonly k: 'read'; readonly alias: string; readonly ref: Ref; readonly path: string | null; readonly more: number | null }
  /** Relationship or table computed field. */
  | {
      readonly k: 'rows';
      readonly alias: string;
      readonly name: string;
      readonly single: boolean;
      readonly args: Args;
      readonly fields: readonly Field[];
    }
  | {
      readonly k: 'aggregate';
      readonly alias: string;
      readonly name: string;
      readonly args: Args;
      readonly fields: readonly AggregateField[];
    };

export type AggregateField =
  | { readonly k: 'count'; readonly alias: string; readonly columns: readonly string[]; readonly distinct: boolean }
  | { readonly k: 'function'; readonly alias: string; readonly function: string; readonly refs: readonly Ref[] }
  | { readonly k: 'nodes'; readonly alias: string; readonly fields: readonly Field[] }
  | Groups;

export type Root =
  /** The result of a function; if `low` is null, the argument is omitted. */
  | {
      readonly k: 'found';
      readonly alias: string;
      readonly table: string;
      readonly low: number | null;
      readonly args: Args;
      readonly fields: readonly Field[];
    }
  | {
      readonly k: 'found-aggregate';
      readonly alias: string;
      readonly table: string;
      readonly low: number | null;
      readonly args: Args;
      readonly fields: readonly AggregateField[];
    }
  | { readonly k: 'rows'; readonly alias: string; readonly table: string; readonly args: Args; readonly fields: readonly Field[] }
  | {
      readonly k: 'key';
      readonly alias: string;
      readonly table: string;
      readonly key: Readonly<Record<string, Value>>;
      readonly fields: readonly Field[];
    }
  | {
      readonly k: 'aggregate';
      readonly alias: string;
      readonly table: string;
      readonly args: Args;
      readonly fields: readonly AggregateField[];
    };

export interface Request {
  readonly query: string;
  readonly variables: Readonly<Record<string, Json>>;
}

/** @param asVariable whether the next value is written as a variable */
export function print(world: World, roots: readonly Root[], asVariable: () => boolean): Request {
  const printer = new Printer(world, asVariable);
  const fields = roots.map((root) => printer.root(root)).join(' ');
  const declared = [...printer.declarations].map(([name, type]) => `$${name}: ${type}`);
  return { query: `query${declared.length === 0 ? '' : `(${declared.join(', ')})`} { ${fields} }`, variables: printer.values };
}

export function refName(ref: Ref): string {
  return 'column' in ref ? ref.column : ref.computed;
}

/** Prints values and conditions, and collects their variables. */
export class Printer {
  readonly declarations = new Map<string, string>();
  readonly values: Record<string, Json> = {};
  private readonly world: World;
  readonly asVariable: () => boolean;

  constructor(world: World, asVariable: () => boolean) {
    this.world = world;
    this.asVariable = asVariable;
  }

  root(root: Root): string {
    const table = tableOf(this.world, root.table);
    switch (root.k) {
      case 'found':
        return `${root.alias}: find_${root.table}${this.args(table, root.args, root.low)} ${this.fields(table, root.fields)}`;
      case 'found-aggregate':
        return `${root.alias}: find_${root.table}_aggregate${this.args(table, root.args, root.low)} ${this.aggregateFields(table, root.fields)}`;
      case 'rows':
        return `${root.alias}: ${root.table}${this.args(table, root.args)} ${this.fields(table, root.fields)}`;
      case 'aggregate':
        return `${root.alias}: ${root.table}_aggregate${this.args(table, root.args)} ${this.aggregateFields(table, root.fields)}`;
      case 'key': {
        const key = Object.entries(root.key).map(
          ([name, value]) => `${name}: ${this.value(value, 'int', `${scalarOf(this.world, 'int')}!`)}`,
        );
        return `${root.alias}: ${root.table}_by_pk(${key.join(', ')}) ${this.fields(table, root.fields)}`;
      }
    }
  }

  private fields(table: Table, fields: readonly Field[]): string {
    return `{ ${fields.map((field) => this.field(table, field)).join(' ')} }`;
  }

  private field(table: Table, field: Field): string {
    switch (field.k) {
      case 'typename':
        return `${field.alias}: __typename`;
      case 'read': {
        const path = field.path === null ? '' : `(path: ${JSON.stringify(field.path)})`;
        const more = field.more === null ? '' : `(args: {more: ${this.value(field.more, 'int')}})`;
        return `${field.alias}: ${refName(field.ref)}${path}${more}`;
      }
      case 'rows': {
        const target = targetOf(this.world, table, field.name);
        return `${field.alias}: ${field.name}${this.args(target, field.args)} ${this.fields(target, field.fields)}`;
      }
      case 'aggregate': {
        const target = targetOf(this.world, table, field.name);
        return `${field.alias}: ${field.name}_aggregate${this.args(target, field.args)} ${this.aggregateFields(target, field.fields)}`;
      }
    }
  }

  private aggregateFields(table: Table, fields: readonly AggregateField[]): string {
    return `{ ${fields.map((field) => this.aggregateField(table, field)).join(' ')} }`;
  }

  /** One `aggregate` per value; response keys stay unique. */
  private aggregateField(table: Table, field: AggregateField): string {
    switch (field.k) {
      case 'nodes':
        return `${field.alias}: nodes ${this.fields(table, field.fields)}`;
      case 'groups':
        return `${field.alias}: ${printGroups(field, this, (figure) => this.aggregateField(table, figure))}`;
      case 'count': {
        const args = [
          ...(field.columns.length === 0 ? [] : [`columns: [${field.columns.join(', ')}]`]),
          ...(field.distinct ? ['distinct: true'] : []),
        ];
        return `${field.alias}: aggregate { count${args.length === 0 ? '' : `(${args.join(', ')})`} }`;
      }
      case 'function':
        return `${field.alias}: aggregate { ${field.function} { ${field.refs.map(refName).join(' ')} } }`;
    }
  }

  private args(table: Table, args: Args, low: number | null = null): string {
    const printed: string[] = [];
    if (low !== null) printed.push(`args: {low: ${this.value(low, 'int')}}`);
    if (args.where !== null) printed.push(`where: ${this.exp(table, args.where)}`);
    if (args.distinctOn.length > 0) printed.push(`distinct_on: [${args.distinctOn.join(', ')}]`);
    if (args.orderBy.length > 0) printed.push(`order_by: [${args.orderBy.map((term) => orderTerm(term)).join(', ')}]`);
    if (args.limit !== null) printed.push(`limit: ${this.value(args.limit, 'int')}`);
    if (args.offset !== null) printed.push(`offset: ${this.value(args.offset, 'int')}`);
    return printed.length === 0 ? '' : `(${printed.join(', ')})`;
  }

  exp(table: Table, exp: Exp): string {
    switch (exp.k) {
      case 'and':
        return exp.items.length === 0 ? '{}' : `{_and: [${exp.items.map((item) => this.exp(table, item)).join(', ')}]}`;
      case 'or':
        return `{_or: [${exp.items.map((item) => this.exp(table, item)).join(', ')}]}`;
      case 'not':
        return `{_not: ${this.exp(table, exp.item)}}`;
      case 'null':
        return `{${refName(exp.ref)}: {_is_null: ${this.value(exp.isNull, 'bool')}}}`;
      case 'compare': {
        const comparison = `{${exp.operator}: ${this.operand(exp.operand, exp.cast ? 'text' : operandKind(exp.operator, kindOf(table, exp.ref)))}}`;
        return `{${refName(exp.ref)}: ${exp.cast ? `{_cast: {String: ${comparison}}}` : comparison}}`;
      }
      case 'related':
        return `{${exp.name}: ${this.exp(targetOf(this.world, table, exp.name), exp.item)}}`;
      case 'aggregate':
        return this.predicate(table, exp);
      default:
        throw new Error(`${exp.k} is for rules`);
    }
  }

  private predicate(table: Table, exp: Extract<Exp, { k: 'aggregate' }>): string {
    const target = targetOf(this.world, table, exp.relationship);
    const kind: Kind = exp.function === 'count' ? 'int' : exp.function.startsWith('bool') ? 'bool' : 'float8';
    const [x, y] = exp.columns;
    const pair = exp.function === 'corr' || exp.function === 'covar_samp';
    const named = exp.function === 'count' ? `[${exp.columns.join(', ')}]` : pair ? `{X: ${x}, Y: ${y}}` : `${x}`;
    const parts = [
      `predicate: {${exp.operator}: ${this.value(exp.value, kind)}}`,
      ...(exp.columns.length === 0 ? [] : [`arguments: ${named}`]),
      ...(exp.distinct ? ['distinct: true'] : []),
      ...(exp.filter === null ? [] : [`filter: ${this.exp(target, exp.filter)}`]),
    ];
    return `{${exp.relationship}_aggregate: {${exp.function}: {${parts.join(', ')}}}}`;
  }

  private operand(operand: Operand, kind: Kind): string {
    if ('session' in operand) throw new Error('session variables are for rules');
    if ('value' in operand) return this.value(operand.value, kind, scalarOf(this.world, kind));
    if (!this.asVariable()) return `[${operand.values.map((value) => literal(value, kind)).join(', ')}]`;
    return this.variable(operand.values.map(jsonOf), `[${scalarOf(this.world, kind)}!]`);
  }

  /** @param type of a variable */
  value(value: Value, kind: Kind, type: string = SCALARS[kind]): string {
    return this.asVariable() ? this.variable(jsonOf(value), type) : literal(value, kind);
  }

  variable(value: Json, type: string): string {
    const name = `v${this.declarations.size}`;
    this.declarations.set(name, type);
    this.values[name] = value;
    return `$${name}`;
  }
}

function operandKind(operator: string, kind: Kind): Kind {
  return operator.startsWith('_has_key') ? 'text' : kind;
}

export function targetOf(world: World, table: Table, name: string): Table {
  const target =
    table.relationships.find((each) => each.name === name)?.target ??
    table.computed.flatMap((each) => (each.result === 'table' && each.name === name ? [each.target] : []))[0];
  return tableOf(world, target ?? '');
}

function orderTerm({ path, last, direction }: OrderTerm): string {
  const innermost =
    last.kind === 'read'
      ? `{${refName(last.ref)}: ${direction}}`
      : last.ref === null
        ? `{${last.name}_aggregate: {count: ${direction}}}`
        : `{${last.name}_aggregate: {${last.function}: {${refName(last.ref)}: ${direction}}}}`;
  return path.reduceRight((inner, name) => `{${name}: ${inner}}`, innermost);
}

export function jsonOf(value: Value): Json {
  if (isInts(value)) return [...value.ints];
  return isJsonb(value) ? value.json : value;
}

function literal(value: Value, kind: Kind): string {
  return kind === 'enum' ? String(value) : jsonLiteral(jsonOf(value));
}

function jsonLiteral(json: Json): string {
  if (Array.isArray(json)) return `[${json.map(jsonLiteral).join(', ')}]`;
  if (typeof json === 'object' && json !== null) {
    return `{${Object.entries(json)
      .map(([key, value]) => `${key}: ${jsonLiteral(value)}`)
      .join(', ')}}`;
  }
  return JSON.stringify(json);
}
