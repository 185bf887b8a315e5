/** Literals in GraphQL documents. */
import { isList, isObject, type Json, JsonNumber } from './json.ts';

/** An enum value, which is printed without quotes. */
export class EnumName {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

export type Literal = Json | EnumName | readonly Literal[] | { readonly [key: string]: Literal };

export function literal(value: Literal): string {
  if (value instanceof EnumName) return value.name;
  if (value instanceof JsonNumber) return value.text;
  if (isList(value as Json)) return `[${(value as readonly Literal[]).map(literal).join(', ')}]`;
  if (isObject(value as Json)) {
    return `{${Object.entries(value as { readonly [key: string]: Literal })
      .map(([key, item]) => `${key}: ${literal(item)}`)
      .join(', ')}}`;
  }
  return JSON.stringify(value);
}
