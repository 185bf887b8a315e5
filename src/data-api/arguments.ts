/** Argument codecs of data operations. */
import {
  type Codec,
  int,
  leaf,
  like,
  list,
  literal,
  nonEmptyText,
  object,
  optional,
  parseFailed,
  required,
  wrongType,
} from '../metadata/codec.ts';
import { rawBoolExpCodec, type RawBoolExp } from '../metadata/permission.ts';
import { isJsonArray, isJsonObject, type Json } from '../util/json.ts';

/** Makes the codec of an operation's arguments, with the API's own error text for a missing key. */
export function dataArguments<T>(keys: readonly string[], inner: Pick<Codec<T>, 'name' | 'decode' | 'fields'>): Codec<T> {
  return leaf(
    inner.name,
    (json, path) => {
      const missing = isJsonObject(json) ? keys.find((key) => json[key] === undefined) : undefined;
      if (missing !== undefined) throw parseFailed(`key "${missing}" not found`, path);
      return inner.decode(json, path);
    },
    () => {
      throw new Error('invariant: arguments of data operations are only read');
    },
    like(inner),
  );
}

export interface OrderItem {
  /** A column, or a path to one through object relationships: `author.name`. */
  readonly column: string;
  readonly direction: 'asc' | 'desc';
  readonly nulls: 'first' | 'last' | undefined;
}

const orderObject = object('OrderByItem', {
  column: required(nonEmptyText),
  type: optional(literal('OrderType', ['asc', 'desc'])),
  nulls: optional(literal('NullsOrder', ['first', 'last'])),
});

/** `"+c"`, `"-c"`, `"c"` or `{column, type, nulls}`. */
const orderItem: Codec<OrderItem> = leaf(
  'OrderByItem',
  (json, path) => {
    if (typeof json === 'string') {
      const signed = json.startsWith('+') || json.startsWith('-');
      const column = nonEmptyText.decode(signed ? json.slice(1) : json, path);
      return { column, direction: json.startsWith('-') ? 'desc' : 'asc', nulls: undefined };
    }
    if (!isJsonObject(json)) throw wrongType('OrderByItem', 'Object', json, path);
    const { column, type, nulls } = orderObject.decode(json, path);
    return { column, direction: type ?? 'asc', nulls };
  },
  ({ column, direction, nulls }): Json => ({ column, type: direction, ...(nulls === undefined ? {} : { nulls }) }),
  { description: '`"+c"`, `"-c"`, `"c"`, or an object.', of: [orderObject] },
);

/** One item or a list of them. */
const orderBy: Codec<readonly OrderItem[]> = leaf(
  'OrderByExp',
  (json, path) => (isJsonArray(json) ? list(orderItem).decode(json, path) : [orderItem.decode(json, path)]),
  (value) => list(orderItem).encode(value),
  { description: 'One item, or a list of them.', of: [orderItem] },
);

/** Filter, order and page of the selected rows. */
export interface RowsArguments {
  readonly where?: RawBoolExp | undefined;
  readonly orderBy?: readonly OrderItem[] | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

export const rowsFields = {
  where: optional(rawBoolExpCodec),
  orderBy: optional(orderBy),
  limit: optional(int),
  offset: optional(int),
};
